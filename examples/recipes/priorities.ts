/**
 * Priorities: what a user waits for is done before what a feed brought in, and both before the nightly refresh. A key
 * that is added again with a higher priority moves up, and nothing waits for ever.
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
queue.add("index", URGENT); // moves up: a user waits for it now

runWorkers(queue, (key, { priority }) => console.log(`${key}, priority ${priority}`));
await queue.whenIdle();
queue.shutDown();
