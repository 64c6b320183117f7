/** Throttles in documents: names, sharing, and reloads that keep what is known. */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { loadConfig, type WorkerPool } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

/** A config with two queues whose handlers run until the test ends them. */
class Setup {
  readonly clock = new HandClock();
  readonly config;
  readonly ends: (() => void)[] = [];
  readonly pools: WorkerPool<number>[];

  constructor(document: object) {
    this.config = loadConfig(document, { clock: this.clock });
    this.pools = ["a", "b"].map((name) => {
      const queue = this.config.queue<number>(name);
      for (let i = 0; i < 20; i++) queue.add(i);
      return this.config.runWorkers(name, queue, () => new Promise<void>((resolve) => this.ends.push(resolve)));
    });
  }

  get running(): number {
    return this.pools.reduce((sum, { active }) => sum + active, 0);
  }

  async reload(document: object): Promise<void> {
    this.config.reload(document);
    await flush();
  }

  async end(count: number): Promise<void> {
    for (const end of this.ends.splice(0, count)) end();
    await flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.pools.map((pool) => pool.stop());
    while (this.ends.length > 0) await this.end(100);
    await Promise.all(stopped);
  }
}

const documentWith = (throttles: object, throttle: unknown = "shared") => ({
  throttles,
  queues: { a: { concurrency: 20, throttle }, b: { concurrency: 20, throttle } },
});

Deno.test("throttles: queues share the throttle that they name", async () => {
  await using it = new Setup(documentWith({ shared: { type: "concurrency", limit: 5 } }));
  await flush();
  assertEquals([it.running, it.config.throttle("shared").snapshot!().inUse], [5, 5]);
  assertEquals(it.config.throttleNames, ["shared"]);
  assertStrictEquals(it.config.workers("a").throttle, it.config.throttle("shared"));
});

Deno.test("rule 16: a reload changes a throttle in place; after the limit is lowered, nothing begins until fewer run", async () => {
  const limit = (limit: number) => documentWith({ shared: { type: "concurrency", limit } });
  await using it = new Setup(limit(5));
  await flush();
  await it.reload(limit(8));
  assertEquals(it.running, 8);
  await it.reload(limit(3));
  await it.end(5);
  assertEquals(it.running, 3);
  await it.end(1);
  assertEquals(it.running, 3);
});

Deno.test("rule 19: a throttle of another type counts the running attempts", async () => {
  await using it = new Setup(documentWith({ shared: { type: "concurrency", limit: 5 } }));
  await flush();
  await it.reload(documentWith({ shared: { type: "aimd", min: 6, max: 6 } }));
  assertEquals([it.running, it.config.throttle("shared").snapshot!().inUse], [6, 6]);
  await it.reload(documentWith({ shared: { type: "breaker" } }));
  assertEquals([it.running, it.config.throttle("shared").snapshot!().inUse], [40, 40]);
  await it.reload(documentWith({ shared: { type: "gradient", max: 10, initial: 10 } }));
  await it.end(30);
  assertEquals([it.running, it.config.throttle("shared").snapshot!().inUse], [10, 10]);
});

Deno.test("rule 16: an all-of follows the throttles that it names, whatever happens to them", async () => {
  const all = { type: "all-of", throttles: ["one", { type: "concurrency", limit: 7 }] };
  const withOne = (one: object) => documentWith({ one, all, shared: "all" });
  await using it = new Setup(withOne({ type: "concurrency", limit: 5 }));
  await flush();
  assertEquals(it.running, 5);
  await it.reload(withOne({ type: "concurrency", limit: 6 }));
  assertEquals(it.running, 6);
  await it.reload(withOne({ type: "aimd", min: 4, max: 4 }));
  assertEquals([it.running, it.config.throttle("one").snapshot!().inUse], [6, 6]);
  await it.end(3);
  assertEquals(it.running, 4);
  await it.reload(withOne({ type: "breaker" }));
  assertEquals(it.running, 7);
});

Deno.test("throttles: a limiter with a bucket is a throttle too, and a bucket can have its own name", () => {
  const config = loadConfig({
    limiters: { api: { type: "bucket", rate: 1, burst: 2 } },
    throttles: { other: { rate: 3, burst: 4 } },
    queues: { a: { limiter: "api", throttle: "api" }, b: { throttle: "other" } },
  });
  assertStrictEquals(config.workers("a").throttle, config.bucket("api"));
  assertStrictEquals(config.throttle("api"), config.bucket("api"));
  assertEquals([config.bucket("other").rate, config.describe("b").throttle?.name], [3, "other"]);
  assertThrows(() => config.bucket("nobody"), RangeError, "the config has none named");
  assertThrows(() => config.throttle("aqi"), RangeError, 'did you mean "api"?');
});

Deno.test("throttles: problems are reported at their places", () => {
  const error = assertThrows(() =>
    loadConfig({
      limiters: { api: { type: "bucket", rate: 1, burst: 2 } },
      throttles: {
        a: { type: "concurency", limit: 1 },
        b: { type: "all-of", throttles: ["c"] },
        c: { type: "all-of", throttles: ["b"] },
        api: { rate: 1, burst: 1 },
        d: { type: "concurrency", limit: 0 },
      },
      queues: { q: { throttle: "nobody" } },
    })
  ) as Error & { issues: { path: string; message: string }[] };
  assertEquals(error.issues.map(({ path }) => path).sort(), [
    "/queues/q/throttle",
    "/throttles/a/type",
    "/throttles/api",
    "/throttles/b/throttles/0",
    "/throttles/d/limit",
  ]);
});
