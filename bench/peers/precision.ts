/**
 * Prints the lateness of delayed items, in milliseconds. During the measurement, 100,000 items become due within five
 * seconds, and the workers are busy about half of the time. Also prints the longest delay of a one-millisecond timer
 * while the workers are overloaded.
 */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { percentileOf } from "../statistics.ts";

const ITEMS = 100_000;
const SECONDS = 5;
const WORK_MS = 0.025;

function newQueue() {
  return createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 }));
}

function beBusy(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

async function lateness(): Promise<number[]> {
  const queue = newQueue();
  const due: number[] = [];
  const late: number[] = [];
  for (let i = 0; i < ITEMS; i++) {
    const delay = 500 + i * SECONDS * 1000 / ITEMS;
    due.push(performance.now() + delay);
    queue.addAfter(i, delay);
  }
  const pool = runWorkers(queue, async (i) => {
    late.push(performance.now() - due[i]!);
    beBusy(WORK_MS);
    await undefined;
    if (late.length === ITEMS) queue.shutDown();
  }, { concurrency: 10 });
  await pool.finished;
  return late;
}

async function longestWaitOfTimers(): Promise<number> {
  const queue = newQueue();
  for (let i = 0; i < 1_000_000; i++) queue.add(i);
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const pool = runWorkers(queue, async () => {}, { concurrency: 10 });
  queue.shutDown();
  await pool.finished;
  clearInterval(timer);
  return longest;
}

const late = await lateness();
console.log(JSON.stringify({
  "median": percentileOf(late, 50),
  "99th percentile": percentileOf(late, 99),
  "99.99th percentile": percentileOf(late, 99.99),
  "a 1 ms timer, while workers have too much to do": await longestWaitOfTimers(),
}));
