/**
 * Tests of the programs on the pages. If a program has a `text` block directly below it, the program must print that
 * text.
 */

import { assert, assertEquals } from "@std/assert";
import type { Tokens } from "marked";
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { guide } from "../../docs/site/repository.ts";
import { Project, ROOT } from "../installs/project.ts";
import { runtimes } from "../runtimes.ts";
import { tokensOf } from "./markdown.ts";

/** Timeout in milliseconds, in case a program never ends. */
const DEADLINE = 120_000;

/** Program, and the output shown below it. */
interface Example {
  readonly page: string;
  readonly program: string;
  readonly shown: string;
}

const others = ["*.md", "packages/*/README.md"].flatMap((glob) => globSync(glob, { cwd: fileURLToPath(ROOT) }))
  .map((path) => path.replaceAll("\\", "/"));
const pages = [...others, ...guide].sort();

const examples: readonly Example[] = pages.filter((page) => page !== "docs/getting-started.md") // tested separately
  .flatMap((page) => {
    const tokens = tokensOf(Deno.readTextFileSync(new URL(page, ROOT))).filter(({ type }) => type !== "space");
    return tokens.flatMap((token, i): Example[] => {
      const below = tokens[i + 1];
      return isCode(token, "ts") && isCode(below, "text") ? [{ page, program: token.text, shown: below.text }] : [];
    });
  });

function isCode(token: { type: string } | undefined, lang: string): token is Tokens.Code {
  return token?.type === "code" && (token as Tokens.Code).lang === lang;
}

/**
 * Runs a program in an environment where both runtimes find the repository's packages. Returns the program's output.
 */
async function printedBy(command: string[], program: string): Promise<string> {
  using project = new Project();
  const config = { extends: fileURLToPath(new URL("tsconfig.json", ROOT)) }; // only Bun needs a tsconfig.json
  Deno.writeTextFileSync(project.path("tsconfig.json"), JSON.stringify(config));
  Deno.writeTextFileSync(project.path("main.ts"), program);
  const { success, stdout, stderr } = await new Deno.Command(command[0]!, {
    args: [...command.slice(1), project.path("main.ts")],
    cwd: project.folder,
    env: { NO_COLOR: "1" },
    signal: AbortSignal.timeout(DEADLINE),
  }).output();
  const decoder = new TextDecoder();
  assert(success, decoder.decode(stderr));
  return decoder.decode(stdout).trimEnd();
}

for (const [runtime, command] of Object.entries(runtimes)) {
  for (const { page, program, shown } of examples) {
    Deno.test(`${page}: the program that prints "${shown.split("\n")[0]}" does so on ${runtime}`, async () => {
      assertEquals(await printedBy(await command(), program), shown);
    });
  }
}

Deno.test("README.md: its first example shows its output", () => {
  assertEquals(examples.filter(({ page }) => page === "README.md").length, 1);
});
