/**
 * Priorities: items that a user is waiting for run before items from a feed, and both run before the nightly refresh.
 * If a key is added again with a higher priority, its item moves up. Every item runs eventually.
 *
 * ```sh
 * npx -y deno run examples/recipes/priorities.ts
 * bun examples/recipes/priorities.ts
 * ```
 *
 * @module
 */

import {
  createDefaultItemLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  runWorkers,
} from "@workqueue/core";

const URGENT = { priority: 100 }, WHENEVER = { priority: -100 };

const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), {
  discipline: createPriorityDiscipline({ maxHeadStart: "1m" }),
});
queue.add("archive", WHENEVER);
queue.add("index", WHENEVER);
queue.add("feed 1");
queue.add("feed 2");
queue.add("login", URGENT);
queue.add("index", URGENT); // moves up because a user is now waiting for this item

runWorkers(queue, (key, { priority }) => console.log(`${key}, priority ${priority}`));
await queue.whenIdle();
queue.shutDown();
