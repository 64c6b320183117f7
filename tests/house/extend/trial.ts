import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../../release/commands.ts";
import { copyRepository } from "../../../release/copy.ts";
import { testArguments } from "../../std/arguments.ts";
import type { Gap } from "./gaps.ts";
import { edited, pathOf, type Recipe, type Round, textAfter } from "./recipe.ts";

/** Output of a command. */
export interface Result {
  readonly success: boolean;
  readonly output: string;
}

/** Copy of the repository in which recipes are followed. */
export class Trial implements Disposable {
  readonly #recipes: readonly Recipe[];
  readonly #gaps: readonly Gap[];
  readonly #root = mkdtempSync(join(tmpdir(), "workqueue_extend_"));

  constructor(recipes: readonly Recipe[], gaps: readonly Gap[]) {
    this.#recipes = recipes;
    this.#gaps = gaps;
    copyRepository(this.#root);
  }

  /** Follows the recipes, except for the steps of a round. In the round of the entries, also makes the gaps. */
  follow(leftOut?: Round): void {
    const texts = new Map<string, string | undefined>();
    const textOf = (path: string) => texts.has(path) ? texts.get(path) : textIn(ROOT, path);
    for (const recipe of this.#recipes) {
      for (const step of recipe.steps) {
        const path = pathOf(recipe, step);
        const before = textOf(path);
        texts.set(path, step.round === leftOut ? before : textAfter(step, path, before));
      }
    }
    for (const { path, edit } of this.#gaps) {
      texts.set(path, leftOut === "entries" ? edited(path, textOf(path), [edit]) : textOf(path));
    }
    for (const [path, text] of texts) {
      if (text === undefined) rmSync(join(this.#root, path), { force: true });
      else writeFileSync(join(this.#root, path), text);
    }
  }

  /** Returns the text of a file; `undefined` if there is none. */
  read(path: string): string | undefined {
    return textIn(this.#root, path);
  }

  /** Loads a module and all its imports. The output names a missing one. */
  async load(file: string): Promise<Result> {
    return await this.#deno("cache", "--quiet", ...testArguments, file);
  }

  /** Checks types. The output names only files with errors. */
  async check(...files: string[]): Promise<Result> {
    return await this.#deno("check", "--quiet", ...testArguments, ...files);
  }

  /** Runs the tests of some files whose names contain one of several texts. */
  async test(files: readonly string[], names: readonly string[]): Promise<Result> {
    const filter = `/${names.join("|")}/`;
    const slice = ["tests/together/slice_1.ts", "--", "1"]; // all files in one isolate, so imports are loaded once
    return await this.#deno("test", "-A", "--no-check", ...testArguments, "--filter", filter, ...slice, ...files);
  }

  async generate(...paths: string[]): Promise<Result> {
    return await this.#deno("task", "generate", ...paths);
  }

  async #deno(command: string, ...args: string[]): Promise<Result> {
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [command, ...args],
      cwd: this.#root,
      env: { NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const [printed, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    return { success, output: `${printed}${errors}` };
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true });
  }
}

function textIn(root: string | URL, path: string): string | undefined {
  try {
    return readFileSync(root instanceof URL ? new URL(path, root) : join(root, path), "utf8");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || (error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}
