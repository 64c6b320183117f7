/** Runs the checker on copies of the package, each with a bug. */

import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Planted } from "./planted.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const PACKAGE = "packages/kubernetes";
const SCRIPT = "tests/kubernetes/real/random.ts";

/** Result of runs with a bug. */
export interface Verdict {
  readonly isFound: boolean;
  /** Output of the runs. */
  readonly output: string;
}

/** Lets random runs in fake time find a bug: they end with the first complaint. */
export async function findPlanted({ file, find, replace }: Planted, args: readonly string[]): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), "workqueue_planted_"));
  try {
    const copy = join(folder, "kubernetes");
    const isOwn = (path: string) => !path.includes("node_modules") && !path.endsWith("deno.json");
    await cp(join(ROOT, PACKAGE), copy, { recursive: true, filter: isOwn });
    const source = await readFile(join(copy, file), "utf8");
    if (source.split(find).length !== 2) throw new Error(`${file} does not have this once: ${find}`);
    await writeFile(join(copy, file), source.replace(find, () => replace));
    const config = join(folder, "deno.json");
    await writeFile(config, JSON.stringify(await configWith(copy)));
    const command = ["run", "--quiet", "--no-check", "--no-lock", "--config", config, "-A", join(ROOT, SCRIPT)];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...command, "--fake", "--until-complaint", ...args],
      stdin: "null",
    }).output();
    const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    return { isFound: code === 1 && output.includes("FAILED"), output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the config of the repository, with absolute paths, in which the package is a copy. */
async function configWith(copy: string): Promise<unknown> {
  const { imports, exports } = JSON.parse(await readFile(join(ROOT, "deno.all.json"), "utf8")) as {
    imports: Record<string, string>;
    exports: Record<string, string>;
  };
  const core = Object.entries(exports).map(([path, file]) => [`@workqueue/core${path.slice(1)}`, file]);
  const all = [...core, ...Object.entries(imports)].map(([name, file]) => {
    if (!file!.startsWith("./")) return [name, file];
    const path = join(ROOT, file!);
    return [name, path.startsWith(join(ROOT, PACKAGE)) ? path.replace(join(ROOT, PACKAGE), copy) : path];
  });
  return { imports: Object.fromEntries(all) };
}
