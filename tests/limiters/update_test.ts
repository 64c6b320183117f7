/** Tests of `update` for each built-in limiter, beyond the contract in `tests/contracts/limiter_update_suite.ts`. */

import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import {
  type BucketLimiter,
  ConfigError,
  createExponentialLimiter,
  createPerGroupLimiter,
  defineLimiter,
  limiters,
  loadConfig,
  type PerGroupLimiter,
  type RateLimiter,
  type Template,
  type TokenBucket,
} from "@workqueue/core";
import { partContextOf } from "@workqueue/core/internal/registry";
import { bucket as bucketLimiter, exponential, fastSlow, jitter, maxOf, perGroup } from "@workqueue/core/limiters";
import { bucket as bucketThrottle } from "../../throttles/bucket.ts";
import { onBucketChange } from "../../lib/tokens/bucket_changes.ts";
import { HandClock } from "../helpers.ts";
import { nextTurn } from "../queue_helpers.ts";
import { delays, Recorder, RETRY } from "./helpers.ts";

Deno.test("update: a queue gets the new delays, and the counts by hand stay", () => {
  const limiter = exponential.create({ baseDelay: 10, maxDelay: 40 }, partContextOf({}));
  const next = (...failures: number[]) => failures.map((count) => limiter.next!(count, "a", "a", RETRY));
  assertEquals([delays(limiter, "a", 2), next(1, 2, 3, 4)], [[10, 20], [10, 20, 40, 40]]);
  exponential.update!(limiter, { baseDelay: 1, maxDelay: 5 }, partContextOf({}));
  assertEquals([next(1, 2, 3, 4), limiter.numRequeues("a"), limiter.when("a")], [[1, 2, 4, 5], 2, 4]);
});

Deno.test("update: a limiter created in code keeps its counts, and forgets them as before", () => {
  const clock = new HandClock();
  const limiter = createExponentialLimiter({ baseDelay: 10, maxDelay: 40, forgetAfter: 100, clock });
  limiter.when("a");
  exponential.update!(limiter, { baseDelay: 500, maxDelay: 500 }, partContextOf({}));
  clock.time = 109;
  assertEquals(limiter.numRequeues("a"), 1);
  clock.time = 110;
  assertEquals([limiter.numRequeues("a"), limiter.when("a")], [0, 500]);
});

Deno.test("update: ten thousand counts survive an update and its reversal", () => {
  const options = { fastDelay: 10, slowDelay: 20, maxFastAttempts: 1 };
  const limiter = fastSlow.create(options, partContextOf({}));
  const keys = Array.from({ length: 10_000 }, (_, i) => i);
  for (const key of keys) delays(limiter, key, 1 + key % 3);
  for (const key of keys) if (key % 5 === 0) limiter.forget(key);
  const counted = keys.map((key) => limiter.numRequeues(key));
  for (const maxFastAttempts of [1000, 50, 1]) {
    fastSlow.update!(limiter, { ...options, maxFastAttempts }, partContextOf({}));
    assertEquals(keys.map((key) => limiter.numRequeues(key)), counted);
  }
});

Deno.test("update, bucket: the token bucket is the same, and its tokens and its debt stay", () => {
  const clock = new HandClock();
  const limiter = bucketLimiter.create({ rate: 1, burst: 4 }, partContextOf({ clock })) as RateLimiter & {
    bucket: TokenBucket;
  };
  const { bucket } = limiter;
  const update = (rate: number, burst: number) => bucketLimiter.update!(limiter, { rate, burst }, partContextOf({}));
  bucket.allow(3);
  update(1, 10); // the update itself adds no token
  assertStrictEquals(limiter.bucket, bucket);
  assertEquals([bucket.rate, bucket.burst, bucket.tokens], [1, 10, 1]);
  clock.time = 2000;
  assertEquals(bucket.tokens, 3);
  update(1, 2);
  assertEquals(bucket.tokens, 2);

  const reservations = [1, 1, 1, 1].map(() => bucket.reserve());
  assertEquals(reservations.map(({ delay }) => delay), [0, 0, 1000, 2000]);
  update(4, 2);
  assertEquals(reservations.map(({ delay }) => delay), [0, 0, 1000, 2000]); // as before the update
  assertEquals([bucket.tokens, limiter.when("a")], [-2, 750]);
});

Deno.test("update, bucket: at rest is judged by the latest options, and a larger burst must be full", () => {
  const clock = new HandClock();
  const limiter = bucketLimiter.create({ rate: 1, burst: 1 }, partContextOf({ clock }));
  bucketLimiter.update!(limiter, { rate: 2, burst: 3 }, partContextOf({}));
  assertFalse(limiter.atRest!());
  clock.time = 999;
  assertFalse(limiter.atRest!());
  clock.time = 1000;
  assert(limiter.atRest!());
  bucketLimiter.update!(limiter, { rate: 5, burst: 2 }, partContextOf({}));
  assert(limiter.atRest!());
});

Deno.test("update, bucket: listeners are called once, when both options are in force; the same is true of `throttle`", () => {
  const limiter = bucketLimiter.create({ rate: 1, burst: 1 }, partContextOf({})) as RateLimiter & {
    bucket: TokenBucket;
  };
  const throttle = bucketThrottle.create({ rate: 1, burst: 1, counts: undefined }, partContextOf({}));
  const heard: unknown[] = [];
  for (const each of [limiter.bucket, throttle]) {
    onBucketChange(each, (isPause) => heard.push([each.rate, each.burst, isPause]));
  }
  bucketLimiter.update!(limiter, { rate: 2, burst: 3 }, partContextOf({}));
  bucketThrottle.update!(throttle, { rate: 4, burst: 5, counts: undefined }, partContextOf({}));
  assertEquals(heard, [[2, 3, false], [4, 5, false]]);
});

Deno.test("update, jitter: its random numbers continue", () => {
  const numbers = [0.1, 0.2, 0.3, 0.4];
  const options = { limiter: new Recorder(100), spread: 1 };
  const limiter = jitter.create(options, partContextOf({ random: () => numbers.shift()! }));
  assertEquals(delays(limiter, "a", 2), [90, 80]);
  jitter.update!(limiter, { limiter: new Recorder(1000), spread: 0.5 }, partContextOf({ random: () => 0 }));
  assertEquals(delays(limiter, "a", 2), [850, 800]);
});

Deno.test("update, max-of: from then on, asks the limiters of the new list, and no others", () => {
  const [one, two, three] = [new Recorder(1, 7), new Recorder(2, 8), new Recorder(3, 5)];
  const limiter = maxOf.create({ limiters: [one, two] }, partContextOf({}));
  maxOf.update!(limiter, { limiters: [three, one] }, partContextOf({}));
  assertEquals([limiter.when("a"), limiter.numRequeues("a")], [3, 7]);
  limiter.forget("a");
  assertEquals([one.calls.length, two.calls.length, three.calls.length], [3, 0, 3]);
});

/** Limiter with a constant delay: the number of the template that created or last updated the limiter. */
class Numbered extends Recorder {
  constructor(public made: number) {
    super(made);
  }

  override when(): number {
    return this.made;
  }
}

/**
 * Returns template number `made`, which can also update limiters that earlier templates created. Updates selected by
 * `failsAt` throw.
 */
function numbered(made: number, failsAt: (call: number) => boolean = () => false): Template<RateLimiter> {
  let calls = 0;
  return Object.assign(() => new Numbered(made), {
    update(limiter: RateLimiter) {
      if (failsAt(++calls)) throw new Error(`no ${calls}`);
      (limiter as Numbered).made = made;
      return limiter;
    },
  });
}

function groups(template: Template<RateLimiter>, count: number) {
  const limiter = perGroup.create({ separator: "/", limiter: template }, partContextOf({})) as PerGroupLimiter;
  const names = Array.from({ length: count }, (_, i) => `group ${i}`);
  const all = () => names.map((name) => limiter.of(name));
  const update = (template: Template<RateLimiter>, separator = "/") =>
    perGroup.update!(limiter, { separator, limiter: template }, partContextOf({}));
  return { limiter, names, all, update };
}

Deno.test("update, per-group: updates the limiter of each group, and creates later ones from the new template", () => {
  const { limiter, all, update } = groups(numbered(1), 5000);
  const before = all();
  update(numbered(2));
  for (const [i, each] of all().entries()) {
    assertStrictEquals(each, before[i]);
    assertEquals(each.when("x"), 2);
  }
  assertEquals(limiter.when("new/1"), 2);
});

Deno.test("update, per-group: each of very many groups follows at once, and all after some turns of the event loop", async () => {
  const config = (rate: number) => ({
    limiters: { hosts: { type: "per-group", separator: "/", limiter: { type: "bucket", rate: rate / 1e6, burst: 1 } } },
  });
  const loaded = loadConfig(config(1));
  const limiter = loaded.limiter("hosts") as PerGroupLimiter<string, BucketLimiter>;
  const buckets = Array.from({ length: 20_000 }, (_, i) => {
    const { bucket } = limiter.of(`${i}/`);
    bucket.allow(); // after an attempt, the limiter is not at rest, so it is not dropped
    return bucket;
  });
  loaded.reload(config(2));
  loaded.reload(config(3));
  assertEquals(buckets.at(-1)!.rate, 1e-6, "they are for later turns");
  assertEquals(limiter.of("19998/").bucket.rate, 3e-6);
  while (buckets.at(-1)!.rate === 1e-6) await nextTurn();
  assert(buckets.every(({ rate }) => rate === 3e-6));
});

Deno.test("update, per-group: uses the object that the template returns instead of a limiter", () => {
  const { names, limiter, all, update } = groups(numbered(1), 3);
  const before = all();
  const other = new Recorder(9);
  const template = numbered(2);
  update(Object.assign(() => template(), {
    update: (old: RateLimiter) => old === before[1] ? other : template.update!(old),
  }));
  assertEquals(names.map((name) => limiter.when(name)), [2, 9, 2]);
  assertStrictEquals(limiter.of("group 1"), other);
  assertStrictEquals(limiter.of("group 0"), before[0]);

  update(() => new Numbered(3)); // a template without `update`
  assertEquals(names.map((name) => limiter.when(name)), [3, 3, 3]);
  assertFalse(limiter.of("group 0") === before[0]);
});

Deno.test("update, per-group: a template that fails for one group leaves all groups as they were", () => {
  for (const failing of [1, 57, 100]) {
    const { limiter, all, update } = groups(numbered(1), 100);
    const before = all();
    assertThrows(() => update(numbered(2, (call) => call === failing), ":"), Error, `no ${failing}`);
    for (const [i, each] of all().entries()) {
      assertStrictEquals(each, before[i]);
      assertEquals(each.when("x"), 1);
    }
    assertEquals(limiter.when("new"), 1);
    assertStrictEquals(limiter.of("group 1/a"), before[1]);
  }
});

Deno.test("update, per-group: with another separator, existing groups stay under their names", () => {
  const { limiter, update } = groups(numbered(1), 0);
  const a = limiter.of("a/1:2");
  const whole = limiter.of("b:1");
  update(numbered(1), ":");
  assertStrictEquals(limiter.of("a:9"), a);
  assertStrictEquals(limiter.of("a"), a);
  assertFalse(limiter.of("a/1:2") === a);
  assertFalse(limiter.of("b:1") === whole);
  update(numbered(1), "/");
  assertStrictEquals(limiter.of("b:1"), whole);
});

Deno.test("update, per-group: a refused reload costs the groups no counts and no tokens", () => {
  const plug = defineLimiter({
    type: "plug",
    description: "Refuses 13.",
    options: { n: { kind: "number", description: "A number." } },
    create: () => ({ when: () => 0, forget() {}, numRequeues: () => 0 }),
    update(_part, { n }) {
      if (n === 13) throw new Error("13 is refused");
    },
  });
  const clock = new HandClock();
  const registry = limiters.extend().register(plug);
  const config = (maxDelay: number, burst: number, inside: number, beside: number) => ({
    limiters: {
      hosts: {
        type: "per-group",
        separator: "/",
        limiter: {
          type: "max-of",
          limiters: [
            { type: "exponential", baseDelay: 1, maxDelay },
            { type: "bucket", rate: 0.001, burst },
            { type: "plug", n: inside },
          ],
        },
      },
      other: { type: "plug", n: beside },
    },
  });
  const loaded = loadConfig(config(100, 100, 1, 1), { clock, limiters: registry });
  const limiter = loaded.limiter("hosts") as PerGroupLimiter<string>;
  for (const group of ["a", "b"]) delays(limiter, `${group}/1`, 5);
  clock.time += 60_000;
  for (const refused of [config(3, 2, 1, 13), config(3, 2, 13, 1)]) {
    assertThrows(() => loaded.reload(refused), ConfigError, "13 is refused");
    for (const group of ["a", "b"]) assertEquals(limiter.numRequeues(`${group}/1`), 5);
  }
  assertEquals(delays(limiter, "a/2", 10), [1, 2, 4, 8, 16, 32, 64, 100, 100, 100], "there are tokens for all");
  loaded.reload(config(3, 100, 2, 2));
  assertEquals(["a/1", "b/1"].map((key) => [limiter.numRequeues(key), limiter.when(key)]), [[5, 3], [5, 3]]);
});

Deno.test("per-group: forgetAfter is known without reading all dropped groups", () => {
  const limiter = createPerGroupLimiter({
    separator: "/",
    limiter: () => createExponentialLimiter({ baseDelay: "1h", maxDelay: "1h", forgetAfter: "2h" }),
  });
  assertEquals(limiter.forgetAfter, undefined);
  for (let i = 0; i < 200; i++) limiter.when(`a${i}/x`);
  for (let i = 0; i < 200; i++) limiter.forget(`a${i}/x`);
  for (let i = 0; i < 200; i++) limiter.when(`b${i}/x`);
  assertEquals(limiter.forgetAfter, 7_200_000);
});
