/** Programs that run a command for each line of a list: `workqueue` and its peers. */

import { installed, type Runtime, RUNTIMES } from "../../release/installed.ts";
import { BENCH, output } from "../machine.ts";

/** Program in the comparison. */
export interface Contender {
  readonly name: string;
  /** Runtime on which `workqueue` runs; empty for the peers. */
  readonly runtime: Runtime | "";
  readonly version: string;
  /**
   * Returns the arguments that start the program. The caller appends a command, which the program runs for each line of
   * its standard input.
   */
  command(concurrency: number): readonly string[];
}

export const OURS = "workqueue";
export const XARGS = "xargs";
export const PARALLEL = "GNU parallel";

const PEERS: readonly { name: string; program: string; command: Contender["command"] }[] = [
  { name: XARGS, program: "xargs", command: (concurrency) => ["xargs", "-P", `${concurrency}`, "-n", "1"] },
  { name: PARALLEL, program: "parallel", command: (concurrency) => ["parallel", "-j", `${concurrency}`] },
];

const VERSIONS: Record<Runtime, [program: string, ...args: string[]]> = {
  Deno: [Deno.execPath(), "--version"],
  Bun: ["npx", "-y", "bun@1", "--version"],
  Node: ["node", "--version"],
};

/** Returns the peers that are installed on this machine, and one contender per runtime for `workqueue`. */
export async function findContenders(): Promise<Contender[]> {
  const found: Contender[] = [];
  for (const { name, program, command } of PEERS) {
    const version = await versionOf(program, "--version");
    if (version === undefined) console.log(`There is no ${name} on the PATH: leaving it out.`);
    else found.push({ name, runtime: "", version, command });
  }
  for (const runtime of RUNTIMES) {
    console.log(`installing for ${runtime}`);
    const start = await installed(runtime);
    const version = await versionOf(...VERSIONS[runtime]);
    found.push({
      name: OURS,
      runtime,
      version: `${runtime} ${version}`,
      command: (concurrency) => [...start, "run", "--concurrency", `${concurrency}`, "--"],
    });
  }
  return found;
}

/**
 * Returns the first line of a program's version output, shortened for Deno and Node; `undefined` if the program is not
 * installed.
 */
async function versionOf(program: string, ...args: string[]): Promise<string | undefined> {
  const [line] = (await output(program, args, BENCH))?.split("\n") ?? [];
  return line?.replace(/^deno |^v| \(stable.*/g, "");
}
