/**
 * Script that fills delaying queues and lets every delay end. Once the queues are empty, the script prints the heap
 * growth in bytes.
 */

import { createDelayingQueue, type DelayingQueue } from "../../../mod.ts";
import { growthSince, heapUsed } from "./collect.ts";

const KEYS = 200_000;
const QUEUES = 5;

let now = 0;
let wake: () => void = () => {};
const clock = {
  now: () => now,
  setTimeout: (callback: () => void) => void (wake = callback),
  clearTimeout() {},
};

/** Separate function, so that no variable keeps a reference to a key. */
function use(queue: DelayingQueue<number>): void {
  for (let key = 0; key < KEYS; key++) queue.addAfter(key, 1);
  while (queue.delayed > 0) {
    now += 10_000;
    wake();
  }
  for (let lease = queue.tryGet(); lease !== undefined; lease = queue.tryGet()) lease[Symbol.dispose]();
}

const queues = Array.from({ length: 1 + QUEUES }, () => createDelayingQueue<number>({ clock }));
use(queues[0]!); // warm-up, because one-time allocations are not leaks
const before = await heapUsed();
for (const queue of queues.slice(1)) use(queue);
console.log(await growthSince(before));
console.log(queues.map(({ delayed, length }) => delayed + length).join()); // keeps the queues alive until here
