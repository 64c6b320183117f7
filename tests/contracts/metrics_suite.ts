/** Contract suite of `MetricsProvider`: a queue's measurements, including two queues with the same name. */

import { assertEquals } from "@std/assert";
import { createRateLimitingQueue, createWorkQueue, type MetricsProvider } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { take, takeAll } from "../queue_helpers.ts";

/** Registers the suite for one implementation. */
export function metricsSuite(name: string, make: () => MetricsProvider): void {
  Deno.test(`metrics provider, ${name}: each method makes an instrument, twice for one name, too`, () => {
    const provider = make();
    for (const queue of ["q", "q", 'odd "name"\n']) {
      const [depth, adds] = [provider.depth(queue), provider.adds(queue)];
      depth.inc();
      depth.dec();
      adds.inc();
      provider.retries(queue).inc();
      provider.queueLatency(queue).observe(0.25);
      provider.workDuration(queue).observe(1e-9);
      provider.unfinishedWork(queue).set(3);
      provider.longestRunningProcessor(queue).set(0);
      for (const optional of ["delayed", "blocked", "oldestReady", "concurrency"] as const) {
        provider[optional]?.(queue).set(1);
      }
    }
  });

  Deno.test(`metrics provider, ${name}: a queue that is measured does what others do`, async () => {
    const clock = new HandClock();
    const limiter = { when: () => 10, forget() {}, numRequeues: () => 0 };
    const queue = createRateLimitingQueue<string>(limiter, { name: "q", clock, metrics: make() });
    queue.add("a");
    const lease = take(queue);
    queue.add("a");
    queue.addRateLimited("b");
    await clock.advance(600);
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["b", "a"]);
    queue.shutDown();
    assertEquals(clock.timers, 0);
  });

  Deno.test(`metrics provider, ${name}: one provider serves several queues`, () => {
    const metrics = make();
    const queues = ["one", "two"].map((queue) => createWorkQueue<string>({ name: queue, metrics }));
    for (const queue of queues) queue.add("a");
    for (const queue of queues) assertEquals(takeAll(queue), ["a"]);
    for (const queue of queues) queue.shutDown();
  });
}
