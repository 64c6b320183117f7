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

/** The bytes in use after garbage was collected. */
export async function heapUsed(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 0)); // what waits for its turn holds memory
    collect();
  }
  return process.memoryUsage().heapUsed;
}
