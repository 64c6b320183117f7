/** Garbage, and how much is left without it. */

import process from "node:process";

declare const Bun: { gc(synchronously: boolean): void } | undefined;
declare const gc: (() => void) | undefined;

/** Collects everything that nothing refers to. */
export function collect(): void {
  if (typeof gc === "function") gc();
  else if (typeof Bun !== "undefined") Bun.gc(true);
  else throw new Error("Cannot collect garbage as this runtime was not started with --expose-gc");
}

/**
 * The bytes in use after garbage was collected. The least of many times counts: Bun's collector takes what happens to be
 * left on a stack for references, that of its compiler too, so what was used last may seem to be in use for a while.
 */
export async function heapUsed(): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < 30; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10)); // what waits for its turn holds memory, too
    collect();
    least = Math.min(least, process.memoryUsage().heapUsed);
  }
  return least;
}
