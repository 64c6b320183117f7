/** Tests of the error codes of a queue on Redis. See docs/errors.md. */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type ErrorCode, limiters } from "@workqueue/core";
import { createRedisQueue, RedisConnectionError } from "@workqueue/redis";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { codeOf } from "../helpers.ts";
import { aborted, open, take, until } from "./faults/faults.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

/** URL of a port on which no server listens. */
const NOWHERE = "redis://127.0.0.1:1";

Deno.test("errors: options that a queue on Redis can't have: WQ_ARGUMENT", () => {
  for (
    const options of [
      { name: "q", url: "http://localhost" },
      { name: "q", client: {} },
      { name: "q", url: NOWHERE, client: {} },
      { name: "q", clock: {} },
      { name: "{q}" },
      {},
    ]
  ) {
    assertEquals(codeOf(assertThrows(() => createRedisQueue(options as never), TypeError)), "WQ_ARGUMENT");
  }
});

Deno.test("errors: a limiter without a valid delay: WQ_LIMITER", () => {
  const jitter = { type: "jitter", limiter: { type: "exponential", baseDelay: 1, maxDelay: 1 }, spread: 0.5 } as const;
  const plan = planLimiter("plan", limiters.describe(jitter), { random: () => 2 });
  const failed = { key: "a", item: "a", isReadable: true, minDelay: 0 };
  assertEquals(codeOf(assertThrows(() => plan.given(0, failed), RangeError)), "WQ_LIMITER");
});

Deno.test("errors: no server: WQ_CONNECTION", async () => {
  await using queue = createRedisQueue({ name: "q", url: NOWHERE, callTimeout: 100, onQueueError() {} });
  const { code } = await assertRejects(() => queue.add("a"), RedisConnectionError);
  assertEquals(code satisfies ErrorCode, "WQ_CONNECTION");
});

redisTest("errors: invalid calls: WQ_ARGUMENT", async ({ url }) => {
  await using opened = open(url, uniqueName("errors"));
  const { queue } = opened;
  for (
    const call of [
      () => queue.add(5 as never),
      () => queue.add("\ud800"),
      () => queue.addAfter("a", "soon"),
      () => queue.whenBelow("ten" as never),
      () => queue.shutDownWithDrain({ delayed: "wait" } as never),
      () => queue.addRateLimited("a", null as never),
      () => queue.add("a", null as never),
      () => queue.shutDownWithDrain(null as never),
    ]
  ) assertEquals(codeOf(await assertRejects(call, TypeError)), "WQ_ARGUMENT");
});

redisTest(
  "errors: addAll of something that isn't an iterable of items: WQ_ARGUMENT, and nothing is added",
  async ({ url }) => {
    await using opened = open(url, uniqueName("errors"));
    const { queue } = opened;
    const asynchronous = (async function* () {
      yield "a";
    })();
    for (const items of ["ab", undefined, null, 5, {}, { length: 1, 0: "a" }, Promise.resolve(["a"]), asynchronous]) {
      const message = "Cannot add items: 'items' must be an iterable of items, got ";
      const error = await assertRejects(() => queue.addAll(items as never), Error, message);
      assertEquals(codeOf(error), "WQ_ARGUMENT");
    }
    assertEquals((await queue.counts()).ready, 0);
    await queue.addAll(new Set(["a"]));
    await queue.addAll((function* () {
      yield "b";
    })());
    assertEquals((await queue.counts()).ready, 2);
  },
);

redisTest(
  "errors: a lost queue: WQ_DATA_LOST, and WQ_LEASE_LOST as the reason of a signal and for an outcome",
  async ({ url, call }) => {
    await using opened = open(url, uniqueName("errors"), { leaseDuration: 300 });
    const { queue, errors } = opened;
    await queue.add("a");
    const lease = await take(queue);
    await call("FLUSHALL");
    await aborted(lease.signal);
    const { name } = lease.signal.reason;
    assertEquals([name, codeOf(lease.signal.reason)], ["AbortError", "WQ_LEASE_LOST"]);
    assertEquals(await lease.finish(), false);
    await until(() => errors.length > 1);
    assertEquals(errors.map(codeOf), ["WQ_DATA_LOST", "WQ_LEASE_LOST"]);
  },
);
