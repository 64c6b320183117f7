/** Pushes many keys through queues that are never empty, and prints how many bytes more are in use then. */

import { createWorkQueue, type QueueDiscipline, type ReadyEntry, type WorkQueue } from "../../../mod.ts";
import { growthSince, heapUsed } from "./collect.ts";

const KEYS = 200_000;

interface Link {
  readonly entry: ReadyEntry<string>;
  readonly below: Link | undefined;
}

/** The newest first. A chain and no array, as that would keep its capacity. */
class Lifo implements QueueDiscipline<string> {
  length = 0;
  #top: Link | undefined = undefined;

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

/** One is always held: the next is taken before the last is done. */
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

/** All are held at once; and when the last of them is done, one more is ready. */
function allAtOnce(queue: WorkQueue<string>): void {
  for (let i = 0; i < KEYS; i++) queue.add(`key-${i}`);
  const leases = Array.from({ length: KEYS }, () => queue.tryGet()!);
  queue.add("last");
  for (const lease of leases) lease[Symbol.dispose]();
}

const queues: WorkQueue<string>[] = [];

/** In a function of its own, so that no variable refers to a queue's past. */
function use(): void {
  for (const pass of [oneByOne, allAtOnce]) {
    for (const discipline of [undefined, new Lifo()]) {
      const queue = createWorkQueue<string>(discipline && { discipline });
      pass(queue);
      queues.push(queue);
    }
  }
}

use(); // what is made once is no leak

/**
 * By how much each of three times grew: what a collector takes for a reference by mistake is there once, and a leak
 * each time.
 */
const growths: number[] = [];
for (let time = 0; time < 3; time++) {
  const before = await heapUsed();
  use();
  growths.push(await growthSince(before));
}
console.log(growths.sort((a, b) => a - b)[1]);
console.log(queues.map(({ length }) => length).join());
