/** What keys go through while a queue is measured. */

import { type AddOptions, createDelayingQueue, createWorkQueue, type WorkQueue } from "@workqueue/core";
import { StillClock } from "./still_clock.ts";

/** Takes and finishes whatever is ready. Returns how many keys that were. */
export function takeAll(queue: WorkQueue<string>): number {
  let taken = 0;
  for (let lease = queue.tryGet(); lease !== undefined; lease = queue.tryGet(), taken++) queue.done(lease.item);
  return taken;
}

export function addAllThenTakeAll(queue: WorkQueue<string>, keys: readonly string[]): void {
  for (const key of keys) queue.add(key);
  takeAll(queue);
}

/** Likewise with options, such as a priority, for each key. */
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

/** Delays each key by its number's delay, in milliseconds, and lets time pass until all were taken. */
export function delayThenTakeAll(keys: readonly string[], delayOf: (i: number) => number): void {
  const clock = new StillClock();
  using queue = createDelayingQueue<string>({ clock });
  for (let i = 0; i < keys.length; i++) queue.addAfter(keys[i]!, delayOf(i));
  for (let left = keys.length; left > 0; left -= takeAll(queue)) clock.moveToNextTimer();
}

/** Adds the keys while so many workers wait for them in `get`. */
export async function addToWaitingWorkers(keys: readonly string[], concurrency: number): Promise<void> {
  const queue = createWorkQueue<string>();
  const workers = Array.from({ length: concurrency }, async () => {
    for (let lease = await queue.get(); !lease.shutdown; lease = await queue.get()) queue.done(lease.item);
  });
  for (const key of keys) queue.add(key);
  queue.shutDown();
  await Promise.all(workers);
}
