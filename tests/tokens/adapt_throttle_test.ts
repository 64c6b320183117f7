/** Tests of `adaptThrottle`: a pool refuses a throttle of a user that was not passed through it. */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  adaptThrottle,
  createExponentialLimiter,
  createRateLimitingQueue,
  defineThrottle,
  loadConfig,
  type Permit,
  runWorkers,
  type Throttle,
  throttles,
  TokenBucket,
} from "@workqueue/core";
import {
  adaptThrottle as adaptThrottleOfThrottles,
  createAllOfThrottle,
  createConcurrencyThrottle,
} from "@workqueue/core/throttles";
import { startPool } from "../../lib/workers/pool.ts";
import { flush } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";

const REFUSED = "'throttle' must be a throttle or a token bucket, or adaptThrottle(own)";

/** Throttle that grants a number of permits, and counts how often it is asked. */
class Few implements Throttle {
  asked = 0;
  #left: number;

  constructor(count: number) {
    this.#left = count;
  }

  acquire(): Permit | number {
    this.asked++;
    return this.#left-- > 0 ? { begin() {}, charge() {}, end() {} } : Infinity;
  }
}

const newQueue = () => createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));

/** Runs a pool with a throttle on a queue of two items. Returns the items whose attempts began. */
async function begunWith(throttle: Throttle, run = runWorkers): Promise<string[]> {
  const queue = newQueue();
  for (const item of ["a", "b"]) queue.add(item);
  const begun: string[] = [];
  const pool = run(queue, (item: string) => {
    begun.push(item);
    return new Promise<void>(() => {});
  }, { throttle, concurrency: 2 });
  await flush();
  void pool.stop();
  return begun;
}

Deno.test("a pool refuses a user's throttle until it is adapted", async () => {
  const own = new Few(1);
  const { message } = assertThrows(() => runWorkers(newQueue(), () => {}, { throttle: own }), TypeError);
  assertEquals(message, `Cannot run workers: ${REFUSED}, got an object`);

  const pool = startPool(newQueue(), () => {}, {});
  assertThrows(() => pool.change({ throttle: own }), TypeError, `Cannot change pool: ${REFUSED}`);
  await pool.stop();

  const config = loadConfig({ queues: { images: {} } });
  assertThrows(
    () => config.runWorkers("images", config.queue<string>("images"), () => {}, { throttle: own }),
    TypeError,
    REFUSED,
  );
  assertEquals([own.asked, await begunWith(adaptThrottle(own))], [0, ["a"]]);
});

Deno.test("adaptThrottle returns the same throttle, also the second time, and adds no enumerable member", () => {
  assertStrictEquals(adaptThrottleOfThrottles, adaptThrottle);
  const own = { acquire: () => Infinity };
  assertStrictEquals(adaptThrottle(own), own);
  assertStrictEquals(adaptThrottle(own), own);
  assertEquals(Object.keys(own), ["acquire"]);
});

Deno.test("adaptThrottle refuses a value that is not a throttle, or to which no property can be added", () => {
  const cases: [own: unknown, received: string][] = [[undefined, "undefined"], [null, "null"], [
    {},
    "an object",
  ]];
  for (const [own, received] of cases) {
    const { message } = assertThrows(() => adaptThrottle(own as never), TypeError);
    assertEquals(message, `Cannot adapt throttle: 'own' must have the method acquire, got ${received}`);
  }
  for (const close of [Object.freeze, Object.seal, Object.preventExtensions]) {
    const own = close({ acquire: () => Infinity });
    const { message } = assertThrows(() => adaptThrottle(own), TypeError);
    assertEquals(message, "Cannot adapt throttle: 'own' must not be frozen or sealed, got an object");
  }
  const adapted = Object.freeze(adaptThrottle(new Few(0)));
  assertStrictEquals(adaptThrottle(adapted), adapted);
});

Deno.test("throttles of the package, and those that a registry or a config builds, need no adaptThrottle", async () => {
  const few = defineThrottle({ type: "few", description: "Few.", options: {}, create: () => new Few(1) });
  const registry = throttles.extend().register(few);
  const document = { throttles: { api: { type: "few" } }, queues: { images: { throttle: "api" } } };
  const config = loadConfig(document, { throttles: registry });
  const cases: Throttle[] = [
    new TokenBucket(0, 1),
    createConcurrencyThrottle({ limit: 1 }),
    createAllOfThrottle(new Few(1)),
    throttles.build({ type: "concurrency", limit: 1 }),
    registry.build({ type: "few" }),
    config.throttle("api"),
  ];
  for (const throttle of cases) assertEquals(await begunWith(throttle), ["a"]);
});

Deno.test("a pool and its throttle may come from two copies of the package", async () => {
  const other = await loadSecondCopy();
  const own = () => new Few(1);
  const throttlesOfOther = [
    other.createConcurrencyThrottle({ limit: 1 }),
    other.adaptThrottle(own()),
    other.throttles.build({ type: "bucket", rate: 0, burst: 1 }),
  ];
  for (const throttle of throttlesOfOther) {
    assertStrictEquals(adaptThrottle(throttle), throttle);
    assertEquals(await begunWith(throttle), ["a"]);
  }
  const shared = createConcurrencyThrottle({ limit: 1 });
  assertEquals(await begunWith(shared), ["a"]);
  assertEquals(await begunWith(shared, other.runWorkers as never), [], "the pool before still has its permit");
});

Deno.test("a pool that changes from a throttle of one copy to one of another copy counts its attempts with both", async () => {
  const other = await loadSecondCopy();
  const [first, second] = [createConcurrencyThrottle({ limit: 2 }), other.createConcurrencyThrottle({ limit: 2 })];
  const queue = newQueue();
  queue.add("a");
  const end = Promise.withResolvers<void>();
  const pool = startPool(queue, () => end.promise, { throttle: first });
  await flush();
  pool.change({ throttle: second });
  await flush();
  assertEquals([first, second].map((throttle) => throttle.snapshot!().inUse), [1, 1]);
  end.resolve();
  await flush();
  assertEquals([first, second].map((throttle) => throttle.snapshot!().inUse), [0, 0]);
  await pool.stop();
});
