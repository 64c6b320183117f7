/**
 * Comparison of two versions of the core, run by run. Both versions run in processes of their own, and only one of them
 * runs at a time, for some 20 ms. So when the machine is slower for a second, both versions are slower.
 */

import { fileURLToPath } from "node:url";
import { Agent } from "../remote/agents.ts";
import { medianOf } from "../statistics.ts";
import type { Runtime } from "./runtimes.ts";

/** Milliseconds for which both versions run before they are measured, because engines compile code in steps. */
const WARM_UP = 500;
/** Milliseconds for which both versions are measured. */
const MEASURED = 1500;
/** Smallest number of measured runs of each version. */
const MIN_TURNS = 5;

const CHILD = fileURLToPath(new URL("against_child.ts", import.meta.url));

/** Returns the median of the ratios of the second version's times to the first version's, on one runtime. */
export async function ratioByTurns(
  runtime: Runtime,
  work: string,
  folders: readonly [string, string],
): Promise<number> {
  const start = (folder: string) => new Agent<Version>([...runtime.command, CHILD, folder, work]);
  await using first = start(folders[0]);
  await using second = start(folders[1]);
  await first.call("run");
  await second.call("run");
  const began = performance.now();
  const ratios: number[] = [];
  for (let isSwapped = false;; isSwapped = !isSwapped) {
    const [a, b] = isSwapped ? [second, first] : [first, second];
    const ratio = await a.call("run") / await b.call("run");
    const ms = performance.now() - began;
    if (ms >= WARM_UP) ratios.push(isSwapped ? ratio : 1 / ratio);
    if (ms >= WARM_UP + MEASURED && ratios.length >= MIN_TURNS) return medianOf(ratios);
  }
}

/** Calls of a process with one version of the core. */
interface Version {
  /** Runs the workload once. Returns the milliseconds that it took. */
  run(): number;
}
