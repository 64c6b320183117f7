/** Runs a script to its end, on any runtime. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runtimes } from "./runtimes.ts";

/** Guards against a process that never ends, and nothing else. */
const DEADLINE = 300_000;

export type Runtime = "Deno" | "Bun";
export const RUNTIMES: readonly Runtime[] = ["Deno", "Bun"];

/** Options that let a script collect garbage when it wants. */
const GC: Record<Runtime, string[]> = { Deno: ["--v8-flags=--expose-gc"], Bun: [] };

/** What a script printed until its process ended by itself. Rejects if it failed, or did not end in time. */
export async function runScript(runtime: Runtime, script: URL, ...args: string[]): Promise<string[]> {
  const [file, ...options] = await runtimes[runtime]!();
  const all = [...options, ...GC[runtime], fileURLToPath(script), ...args];
  const { stdout } = await promisify(execFile)(file!, all, { timeout: DEADLINE, killSignal: "SIGKILL" });
  return stdout.split("\n").slice(0, -1);
}
