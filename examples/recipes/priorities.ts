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

import {
  createDefaultItemLimiter,
  createRateLimitingQueue,
  type QueueDiscipline,
  type ReadyEntry,
  runWorkers,
} from "@workqueue/core";
import { type Node, Yallist } from "yallist";

const URGENT = 0, NORMAL = 1, WHENEVER = 2;

interface Job {
  readonly key: string;
  readonly level: 0 | 1 | 2;
}

type Entry = ReadyEntry<Job>;

/** A line for each level; the next job is the first one of the first line that has any. */
class PriorityDiscipline implements QueueDiscipline<Job> {
  readonly #lines = [URGENT, NORMAL, WHENEVER].map(() => new Yallist<Entry>());
  /** The place of each key, and the level of the line that it is in. */
  readonly #places = new Map<unknown, { node: Node<Entry>; level: number }>();

  get length(): number {
    return this.#places.size;
  }

  push(entry: Entry): void {
    const { level } = entry.item;
    const line = this.#lines[level]!;
    line.push(entry);
    this.#places.set(entry.key, { node: line.tail!, level });
  }

  touch(entry: Entry): void {
    const { node, level } = this.#places.get(entry.key)!;
    if (entry.item.level >= level) return;
    node.list!.removeNode(node);
    this.push(entry);
  }

  pop(): Entry | undefined {
    for (const line of this.#lines) {
      const entry = line.shift();
      if (entry === undefined) continue;
      this.#places.delete(entry.key);
      return entry;
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
