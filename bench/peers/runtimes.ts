/** JavaScript runtimes on which the benchmarks run. */

import { fileURLToPath } from "node:url";
import { BENCH, CONFIG, findBun, output } from "../machine.ts";
import type { RuntimeName } from "../rows/row.ts";

/** JavaScript runtime. */
export interface Runtime {
  readonly name: RuntimeName;
  readonly version: string;
  /** Start of a command line that runs a script, with `globalThis.gc` where the runtime has it. */
  readonly command: readonly [string, ...string[]];
}

/** Version of Node. Older versions can't run TypeScript sources without a flag. */
const NODE = "node@24";

/** Installs the packages of the benchmarks, and returns all runtimes. */
export async function findRuntimes(): Promise<Runtime[]> {
  const bun = await findBun();
  const node = (await output("npx", ["-y", NODE, "-p", "process.execPath"], BENCH))!;
  const deno = [Deno.execPath(), "run", "--config", CONFIG, "-A", "--no-check", "--v8-flags=--expose-gc"] as const;
  const imports = fileURLToPath(new URL("../node_imports.ts", import.meta.url));
  return [
    { name: "deno", version: `Deno ${Deno.version.deno} (V8 ${Deno.version.v8})`, command: [...deno] },
    { name: "bun", version: `Bun ${await output(bun, ["--version"], BENCH)}`, command: [bun] },
    {
      name: "node",
      version: `Node ${await output(node, ["-p", "process.versions.node"], BENCH)}`,
      command: [node, "--no-warnings", "--expose-gc", "--import", imports],
    },
  ];
}

/** Runs a script of this folder on a runtime. Returns its output. */
export async function runScript({ command }: Runtime, script: string, ...args: readonly string[]): Promise<string> {
  const [program, ...options] = command;
  return (await output(program, [...options, fileURLToPath(new URL(script, import.meta.url)), ...args], BENCH))!;
}
