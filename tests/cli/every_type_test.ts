/** Tests that a config with any type of limiter, discipline or throttle runs in the command and in the simulator. */

import { assertEquals, assertMatch } from "@std/assert";
import { disciplines, limiters, loadConfig, throttles } from "@workqueue/core";
import { simulate } from "@workqueue/simulate";
import { Workspace } from "./cli.ts";

const EXPONENTIAL = { type: "exponential", baseDelay: "1ms", maxDelay: "5ms" };
const BUCKET = { type: "bucket", rate: 1000, burst: 10 };

/** Options of a queue with each type. */
const QUEUES: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  limiter: {
    "bucket": BUCKET,
    "exponential": EXPONENTIAL,
    "fast-slow": { type: "fast-slow", fastDelay: "1ms", slowDelay: "5ms", maxFastAttempts: 2 },
    "ignore-early": { type: "ignore-early", limiter: EXPONENTIAL },
    "jitter": { type: "jitter", spread: 0.5, limiter: EXPONENTIAL },
    "max-of": { type: "max-of", limiters: [EXPONENTIAL, BUCKET] },
    "max-wait": { type: "max-wait", maxDelay: "2ms", limiter: EXPONENTIAL },
    "per-group": { type: "per-group", separator: "/", limiter: EXPONENTIAL },
    "steps": { type: "steps", delays: ["1ms", "2ms"] },
  },
  discipline: {
    "fair": { type: "fair", separator: "/", maxPerGroup: 2, ratePerGroup: { rate: 1000, burst: 10 }, by: "time" },
    "priority": { type: "priority" },
  },
  throttle: {
    "aimd": { type: "aimd", max: 10 },
    "all-of": { type: "all-of", throttles: [BUCKET, { type: "concurrency", limit: 2 }] },
    "breaker": { type: "breaker", failureRatio: 1 },
    "bucket": BUCKET,
    "concurrency": { type: "concurrency", limit: 1 },
    "gradient": { type: "gradient", max: 10 },
  },
};

for (const [option, registry] of Object.entries({ limiter: limiters, discipline: disciplines, throttle: throttles })) {
  Deno.test(`every type: the configs of these tests have each built-in ${option}`, () => {
    assertEquals(Object.keys(QUEUES[option]!), registry.types());
  });
}

for (const [option, types] of Object.entries(QUEUES)) {
  const queues = Object.fromEntries(
    Object.entries(types).map(([type, value]) => [type, { maxRetries: 1, concurrency: 3, [option]: value }]),
  );

  Deno.test(`every type of ${option}: workqueue run works with it, and retries failed items`, async () => {
    await using workspace = new Workspace();
    workspace.write("config.json", JSON.stringify({ queues }));
    for (const queue of Object.keys(queues)) {
      const args = ["run", "--config", "config.json", "--queue", queue, "--", "test", "{}", "!=", "a/2"];
      const { code, stderr } = await workspace.run(args, "a/1\na/2\nb/1\n");
      assertEquals([code, queue], [1, queue]);
      assertMatch(stderr, /Succeeded +2\nGiven up +1\nRetries +1\n/, queue);
    }
  });

  Deno.test(`every type of ${option}: it is simulated, and reloaded`, async () => {
    for (const queue of Object.keys(queues)) {
      const load = {
        queue,
        duration: "1m",
        arrivals: [{ type: "poisson", rate: 20 }],
        groups: [{ name: "a" }, { name: "b" }],
        work: { type: "exponential", mean: "10ms" },
        failures: [{ type: "random", probability: 0.1 }],
      };
      const { arrivals, succeeded, givenUp, unfinished, retries } = await simulate({ queues }, load);
      assertEquals([succeeded + givenUp, unfinished], [arrivals, 0], queue);
      assertEquals(retries > 0, true, queue);
    }
    const config = loadConfig({ queues: {} });
    for (const [queue, value] of Object.entries(queues)) {
      config.reload({ queues: { jobs: value } });
      assertEquals(config.queueNames, ["jobs"], queue);
    }
  });
}
