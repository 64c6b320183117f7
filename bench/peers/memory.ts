/**
 * Prints the memory use of a queue with a million keys, before and after all keys are taken. The unit is bytes per key,
 * without the strings themselves.
 */

import {
  createDelayingQueue,
  createPriorityDiscipline,
  type DelayingQueue,
  type DelayingQueueOptions,
} from "@workqueue/core";
import process from "node:process";
import { distinctKeys } from "../keys.ts";
import { takeAll } from "../passes.ts";
import { randomPriorities } from "../priorities.ts";
import { StillClock } from "../still_clock.ts";

declare const Bun: { gc(synchronously: boolean): void } | undefined;
declare const gc: (() => void) | undefined;

const KEYS = distinctKeys(1_000_000);

function bytesInUse(): number {
  for (let i = 0; i < 3; i++) typeof Bun === "undefined" ? gc!() : Bun.gc(true);
  const { heapUsed, external } = process.memoryUsage();
  return typeof Bun === "undefined" ? heapUsed + external : heapUsed; // on Bun, `heapUsed` includes `external`
}

const figures: Record<string, number> = {};

function measure(name: string, options: DelayingQueueOptions<string>, add: (queue: DelayingQueue<string>) => void) {
  const clock = new StillClock();
  const queue = createDelayingQueue<string>({ clock, maxSleep: 2 ** 31 - 1, ...options });
  const before = bytesInUse();
  add(queue);
  figures[name] = (bytesInUse() - before) / KEYS.length;
  if (queue.delayed > 0) clock.moveToNextTimer();
  takeAll(queue);
  figures[`${name}, after draining`] = (bytesInUse() - before) / KEYS.length;
}

const priorities = randomPriorities(KEYS.length);
measure("ready keys", {}, (queue) => KEYS.forEach((key) => queue.add(key)));
measure("delayed keys", {}, (queue) => KEYS.forEach((key) => queue.addAfter(key, 1000)));
measure("ready keys, by priority", { discipline: createPriorityDiscipline() }, (queue) => {
  KEYS.forEach((key, i) => queue.add(key, priorities[i]));
});
console.log(JSON.stringify(figures));
