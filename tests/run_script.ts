/** Runs a script to its end, on any runtime. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runtimes } from "./runtimes.ts";

/** Time limit in milliseconds, in case the process never ends. */
const DEADLINE = 300_000;

export type Runtime = "Deno" | "Bun";
export const RUNTIMES: readonly Runtime[] = ["Deno", "Bun"];

/** Options that let a script force a garbage collection. */
const GC: Record<Runtime, string[]> = { Deno: ["--v8-flags=--expose-gc"], Bun: [] };

/**
 * Runs a script until its process ends by itself. Returns the lines that the script printed. Rejects if the script
 * failed or exceeded the deadline.
 */
export async function runScript(runtime: Runtime, script: URL, ...args: string[]): Promise<string[]> {
  const [file, ...options] = await runtimes[runtime]!();
  const all = [...options, ...GC[runtime], fileURLToPath(script), ...args];
  const { stdout } = await promisify(execFile)(file!, all, { timeout: DEADLINE, killSignal: "SIGKILL" });
  return stdout.split("\n").slice(0, -1);
}
