import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { percentileOf } from "../statistics.ts";

/** Milliseconds below which a sync is fast. */
export const FAST_SYNC = 1;

/** Bytes of a page, which is the least that a commit writes. */
const PAGE = 4096;

/** Writes pages to the end of a file, and syncs after each. Returns the milliseconds that a write and its sync take. */
export function measureSync(path: string, times: number): { median: number; p99: number } {
  const file = openSync(path, "w");
  const page = new Uint8Array(PAGE);
  const durations = Array.from({ length: times }, () => {
    const start = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return { median: percentileOf(durations, 50), p99: percentileOf(durations, 99) };
}
