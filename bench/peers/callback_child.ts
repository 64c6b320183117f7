/**
 * Does one workload of `callback_works.ts`, and prints the gaps between the turns of the event loop. A gap is the time
 * for which a callback, or several callbacks in a row, blocked the event loop.
 *
 *     deno run -A --config deno.all.json --cpu-prof bench/peers/callback_child.ts "a million due at once"
 *
 * `callbacks.ts` starts this program, and finds out how much of each gap garbage collection took.
 *
 * @module
 */

import { existsSync, fstatSync, readFileSync, writeFileSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";
import process from "node:process";
import type { Gap, Printed } from "./gaps.ts";

declare const Bun: unknown;
declare const gc: (() => void) | undefined;

/** Shortest gap that is printed, in milliseconds. */
const SHORTEST = 1;
/** File in which Linux counts how long this thread was ready to run and did not run. */
const SCHEDULING = "/proc/thread-self/schedstat";
/** Number of garbage collections that show which time of the log is which time of `performance.now`. */
const CALIBRATIONS = 5;

/** Returns for how long other threads and processes have kept the CPU from this thread, in milliseconds. */
const waited = existsSync(SCHEDULING) ? () => Number(readFileSync(SCHEDULING, "latin1").split(" ")[1]) / 1e6 : () => 0;

/** Returns the length of the log of garbage collections, in bytes. Only Bun writes each line at once. */
const logged = typeof Bun === "undefined" ? () => 0 : () => fstatSync(2).size;

const gaps: Gap[] = [];
let isOver = false;
let last: Gap;

function begin(): void {
  last = { ...stamp(), from: 0, fromWaited: 0, fromLogged: 0 };
  setImmediate(onTurn);
}

function stamp(): { to: number; toWaited: number; toLogged: number } {
  return { to: performance.now(), toWaited: waited(), toLogged: logged() };
}

function onTurn(): void {
  last = { ...stamp(), from: last.to, fromWaited: last.toWaited, fromLogged: last.toLogged };
  if (last.to - last.from >= SHORTEST) gaps.push(last);
  if (!isOver) setImmediate(onTurn);
}

const collections: { from: number; to: number }[] = [];
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    collections.push({ from: startTime, to: startTime + duration });
  }
}).observe({ entryTypes: ["gc"] });

const calibrations: number[] = [];
for (let i = 0; typeof gc !== "undefined" && i < CALIBRATIONS; i++) {
  await new Promise((resolve) => setTimeout(resolve, 7 * Math.random()));
  gc();
  calibrations.push(performance.now());
}
// Loaded now, because the keys would make each of the collections above slow.
const { callbackWorks } = await import("./callback_works.ts");
const prepare = callbackWorks[process.argv[2]!];
if (prepare === undefined) {
  console.error(`There is no such work. Works:\n${Object.keys(callbackWorks).join("\n")}`);
  process.exit(2);
}

const run = prepare();
begin();
await run();
await new Promise((resolve) => setTimeout(resolve, 20)); // measures what follows the work
isOver = true;
await new Promise((resolve) => setTimeout(resolve, 20)); // lets the observer tell the last collections
const printed: Printed = { gaps, collections, calibrations };
if (process.argv[3] === undefined) console.log(gaps.map(({ from, to }) => `${(to - from).toFixed(1)} ms`).join(", "));
else writeFileSync(process.argv[3], JSON.stringify(printed));
process.exit();
