/** Functions that pass keys through a queue, for the benchmarks. */

import { type AddOptions, createDelayingQueue, createWorkQueue, type WorkQueue } from "@workqueue/core";
import { StillClock } from "./still_clock.ts";

/** Takes and finishes all ready keys. Returns their number. */
export function takeAll(queue: WorkQueue<string>): number {
  let taken = 0;
  for (let lease = queue.tryGet(); lease !== undefined; lease = queue.tryGet(), taken++) queue.done(lease.item);
  return taken;
}

export function addAllThenTakeAll(queue: WorkQueue<string>, keys: readonly string[]): void {
  for (const key of keys) queue.add(key);
  takeAll(queue);
}

/** Adds all keys, each with its own options, and then takes and finishes all keys. */
export function addAllWithOptionsThenTakeAll(
  queue: WorkQueue<string>,
  keys: readonly string[],
  options: readonly AddOptions[],
): void {
  for (let i = 0; i < keys.length; i++) queue.add(keys[i]!, options[i]);
  takeAll(queue);
}

export function addThenTakeEach(keys: readonly string[]): void {
  const queue = createWorkQueue<string>();
  for (const key of keys) {
    queue.add(key);
    queue.done(queue.tryGet()!.item);
  }
}

/** Delays each key by `delayOf(i)` milliseconds and lets time pass until all keys have been taken. */
export function delayThenTakeAll(keys: readonly string[], delayOf: (i: number) => number): void {
  const clock = new StillClock();
  using queue = createDelayingQueue<string>({ clock });
  for (let i = 0; i < keys.length; i++) queue.addAfter(keys[i]!, delayOf(i));
  for (let left = keys.length; left > 0; left -= takeAll(queue)) clock.moveToNextTimer();
}

/** Adds the keys while `concurrency` workers wait in `get`, and waits until all keys are finished. */
export async function addToWaitingWorkers(keys: readonly string[], concurrency: number): Promise<void> {
  const queue = createWorkQueue<string>();
  const workers = Array.from({ length: concurrency }, async () => {
    for (let lease = await queue.get(); !lease.shutdown; lease = await queue.get()) queue.done(lease.item);
  });
  for (const key of keys) queue.add(key);
  queue.shutDown();
  await Promise.all(workers);
}
