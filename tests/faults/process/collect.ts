/** Garbage collection and measurements of the heap. */

import process from "node:process";

declare const Bun: { gc(synchronously: boolean): void } | undefined;
declare const gc: (() => void) | undefined;

/** Collects all unreachable objects. */
function collect(): void {
  if (typeof gc === "function") gc();
  else if (typeof Bun !== "undefined") Bun.gc(true);
  else throw new Error("Cannot collect garbage: this runtime was not started with --expose-gc");
}

/** Runs pending callbacks, because they use memory too, and then collects garbage. */
export async function collectLater(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 10));
  collect();
}

/**
 * Largest heap growth, in bytes, that counts as no growth. A leak of an entry in a `Map` for each of 100,000 keys would
 * be more than 3 MB.
 */
export const FLAT = 2_000_000;

/** Largest growth that counts as none after 100,000 keys: a leak of one word for each of them would be 800 kB. */
export const FLAT_WORDS = 650_000;

/** Number of readings. Only Bun needs many: see {@linkcode heapUsed}. */
const READINGS = typeof Bun === "undefined" ? 5 : 30;

/**
 * Returns the number of bytes in use after garbage collection. Stops collecting once fewer than `enough` bytes are in
 * use.
 *
 * The returned number is the smallest of several readings. Bun's collector treats stale values on a stack, including
 * its compiler's stack, as references. Recently used objects may therefore seem to stay in use for a while.
 */
export async function heapUsed(enough = 0): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < READINGS && least >= enough; i++) {
    await collectLater();
    least = Math.min(least, process.memoryUsage().heapUsed);
  }
  return least;
}

/** Returns the growth of the memory in use, in bytes. Stops collecting once the growth is at most `enough`. */
export async function growthSince(before: number, enough: number = FLAT): Promise<number> {
  return await heapUsed(before + enough) - before;
}
