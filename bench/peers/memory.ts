/**
 * Prints the memory use of a queue with a million keys, before and after all keys are taken. The unit is bytes per key,
 * without the strings themselves.
 */

import { createDelayingQueue, type DelayingQueue } from "@workqueue/core";
import process from "node:process";
import { distinctKeys } from "../keys.ts";
import { takeAll } from "../passes.ts";
import { StillClock } from "../still_clock.ts";

declare const Bun: { gc(synchronously: boolean): void } | undefined;
declare const gc: (() => void) | undefined;

const KEYS = distinctKeys(1_000_000);

function bytesInUse(): number {
  for (let i = 0; i < 3; i++) typeof Bun === "undefined" ? gc!() : Bun.gc(true);
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function bytesAKey(fill: (queue: DelayingQueue<string>, clock: StillClock) => void): { full: number; drained: number } {
  const clock = new StillClock();
  const queue = createDelayingQueue<string>({ clock, maxSleep: 2 ** 31 - 1 });
  const before = bytesInUse();
  fill(queue, clock);
  const full = bytesInUse();
  if (queue.delayed > 0) clock.moveToNextTimer();
  takeAll(queue);
  const drained = bytesInUse();
  return { full: (full - before) / KEYS.length, drained: (drained - before) / KEYS.length };
}

const ready = bytesAKey((queue) => KEYS.forEach((key) => queue.add(key)));
const delayed = bytesAKey((queue) => KEYS.forEach((key) => queue.addAfter(key, 1000)));
console.log(JSON.stringify({ ready, delayed }));
