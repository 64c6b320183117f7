/**
 * Priorities: what a user waits for is done before what a feed brought in, and both before the nightly
 * refresh. Within a level, first in is first out. A key that is added again with a higher priority moves up.
 *
 * ```sh
 * deno run examples/recipes/priorities.ts
 * bun examples/recipes/priorities.ts
 * ```
 *
 * @module
 */

import { createDefaultItemLimiter, createRateLimitingQueue, type QueueDiscipline, runWorkers } from "@workqueue/core";
import { type Node, Yallist } from "yallist";

const URGENT = 0, NORMAL = 1, WHENEVER = 2;

interface Job {
  readonly key: string;
  readonly level: 0 | 1 | 2;
}

/** A line for each level; the next job is the first one of the first line that has any. */
class PriorityDiscipline implements QueueDiscipline<Job> {
  readonly #lines = [URGENT, NORMAL, WHENEVER].map(() => new Yallist<Job>());
  /** The place of each key in its line. */
  readonly #places = new Map<string, Node<Job>>();

  get length(): number {
    return this.#places.size;
  }

  push(job: Job): void {
    const line = this.#lines[job.level]!;
    line.push(job);
    this.#places.set(job.key, line.tail!);
  }

  touch(job: Job): void {
    const place = this.#places.get(job.key)!;
    if (job.level >= place.value.level) return;
    place.list!.removeNode(place);
    this.push(job);
  }

  pop(): Job | undefined {
    for (const line of this.#lines) {
      const job = line.shift();
      if (job === undefined) continue;
      this.#places.delete(job.key);
      return job;
    }
  }
}

const queue = createRateLimitingQueue<Job>(createDefaultItemLimiter(), {
  keyOf: ({ key }) => key,
  discipline: new PriorityDiscipline(),
});
queue.add({ key: "archive", level: WHENEVER });
queue.add({ key: "index", level: WHENEVER });
queue.add({ key: "feed 1", level: NORMAL });
queue.add({ key: "feed 2", level: NORMAL });
queue.add({ key: "login", level: URGENT });
queue.add({ key: "index", level: URGENT }); // moves up: a user waits for it now

runWorkers(queue, ({ key, level }) => console.log(`${key}, level ${level}`));
await queue.shutDownWithDrain();
