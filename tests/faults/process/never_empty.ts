/** Script that runs many keys through queues that are never empty. The script prints the heap growth in bytes. */

import {
  adaptDiscipline,
  createWorkQueue,
  type QueueDiscipline,
  type ReadyEntry,
  type WorkQueue,
} from "../../../mod.ts";
import { growthSince, heapUsed } from "./collect.ts";

const KEYS = 100_000;

interface Link {
  readonly entry: ReadyEntry<string>;
  readonly below: Link | undefined;
}

/** Last-in, first-out discipline. The discipline uses a linked list, because an array never releases its capacity. */
class Lifo implements QueueDiscipline<string> {
  length = 0;
  #top: Link | undefined = undefined;

  constructor() {
    adaptDiscipline(this);
  }

  push(entry: ReadyEntry<string>): void {
    this.#top = { entry, below: this.#top };
    this.length++;
  }

  touch(): void {}

  pop(): ReadyEntry<string> | undefined {
    const top = this.#top;
    if (top === undefined) return undefined;
    this.#top = top.below;
    this.length--;
    return top.entry;
  }
}

/** Keeps one item processing at all times: takes the next item before the previous item is done. */
function oneByOne(queue: WorkQueue<string>): void {
  queue.add("first");
  let lease = queue.tryGet()!;
  for (let i = 0; i < KEYS; i++) {
    queue.add(`key-${i}`);
    const next = queue.tryGet()!;
    lease[Symbol.dispose]();
    lease = next;
  }
}

/** Takes all items before any of them is done. When the last of these items is done, one more item is still ready. */
function allAtOnce(queue: WorkQueue<string>): void {
  for (let i = 0; i < KEYS; i++) queue.add(`key-${i}`);
  const leases = Array.from({ length: KEYS }, () => queue.tryGet()!);
  queue.add("last");
  for (const lease of leases) lease[Symbol.dispose]();
}

/** Adds and finishes one item many times, beside so many others that it fills the last place of a page of records. */
function hotKey(queue: WorkQueue<string>): void {
  for (let i = 0; i < 255; i++) {
    queue.add(`key-${i}`);
    queue.tryGet();
  }
  for (let i = 0; i < 4 * KEYS; i++) {
    queue.add("hot");
    queue.tryGet()![Symbol.dispose]();
  }
}

const queues: WorkQueue<string>[] = [];

/** Separate function, so that no variable keeps a reference to earlier items. */
function use(): void {
  for (const pass of [oneByOne, allAtOnce, hotKey]) {
    for (const discipline of [undefined, new Lifo()]) {
      const queue = createWorkQueue<string>(discipline && { discipline });
      pass(queue);
      queues.push(queue);
    }
  }
}

use(); // warm-up, because one-time allocations are not leaks

/**
 * Heap growth in each of three rounds. The test uses the median, because a false reference appears in only one round,
 * while a leak appears in every round.
 */
const growths: number[] = [];
for (let time = 0; time < 3; time++) {
  const before = await heapUsed();
  use();
  growths.push(await growthSince(before));
}
console.log(growths.sort((a, b) => a - b)[1]);
console.log(queues.map(({ length }) => length).join());
