import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import {
  type BucketLimiter,
  createBucketLimiter,
  createExponentialLimiter,
  createMaxOfLimiter,
  createPerGroupLimiter,
  createRateLimitingQueue,
  type LimiterConfig,
  limiters,
  loadConfig,
  type PerGroupLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { assertType, HandClock, issuesOf, type Same } from "../helpers.ts";
import { ATTEMPT, NextRecorder, Recorder, RETRY } from "./helpers.ts";

/**
 * Creates a limiter with a bucket of one token per second for each group, and a list of the buckets that it has
 * created.
 */
function buckets(burst = 1) {
  const clock = new HandClock();
  const made: BucketLimiter[] = [];
  const limiter = createPerGroupLimiter({
    separator: "/",
    limiter: () => {
      made.push(createBucketLimiter({ rate: 1, burst, clock }));
      return made.at(-1)!;
    },
  });
  return { clock, made, limiter };
}

Deno.test("per-group: each group has its own limiter, created when its first item comes", () => {
  const { clock, made, limiter } = buckets();
  assertEquals(made.length, 0);
  assertEquals(["a/1", "a/2", "b/1", "a", "b/2/3"].map((item) => limiter.when(item)), [0, 1000, 0, 2000, 1000]);
  assertEquals(made.length, 2);
  clock.time = 3000;
  assertEquals(limiter.when("a/9"), 0);
});

Deno.test("per-group: the group is the text before the first separator, or the whole key without one", () => {
  const { limiter } = buckets();
  const groups: [keys: string[], group: string][] = [
    [["a", "a/", "a/b", "a/b/c", "a//"], "a"],
    [["", "/", "/a"], ""],
    [["A"], "A"],
    [["__proto__/x"], "__proto__"],
  ];
  for (const [[first, ...others]] of groups) {
    for (const key of others) assertStrictEquals(limiter.of(key), limiter.of(first!));
  }
  assertEquals(new Set(groups.map(([, group]) => limiter.of(group))).size, groups.length);
  const long = createPerGroupLimiter({ separator: "::", limiter: () => new Recorder(1) });
  assertStrictEquals(long.of("a:b::c"), long.of("a:b"));
  assertFalse(long.of("a:b::c") === long.of("a"));
});

Deno.test("per-group: groups may be computed by a function of the item, and have any type", () => {
  const asked: unknown[][] = [];
  const host = {};
  const limiter = createPerGroupLimiter({
    groupOf(...args: [item: { host: unknown }]) {
      asked.push(args);
      return args[0].host;
    },
    limiter: () => createExponentialLimiter({ baseDelay: 1, maxDelay: 100 }),
  });
  for (const group of [host, undefined, NaN, null]) {
    const item = { host: group };
    assertEquals([limiter.when(item, "key"), limiter.when({ host: group }, "key")], [1, 2]);
    assertEquals(limiter.numRequeues(item, "key"), 2);
  }
  assertFalse(limiter.of({ host }) === limiter.of({ host: {} }));
  assertEquals(asked[0], [{ host }]);
});

Deno.test("per-group: every call is passed on to the limiter of the group, with the item and its key", () => {
  const inner = new Recorder(5, 3);
  const limiter = createPerGroupLimiter<object>({ separator: "/", limiter: () => inner });
  const item = {};
  assertEquals([limiter.numRequeues(item, "a/1"), limiter.forget(item, "a/1")], [0, undefined]);
  assertEquals(inner.calls, []); // the group has no limiter until an item fails
  assertEquals([limiter.when(item, "a/1", ATTEMPT), limiter.numRequeues(item, "a/2")], [5, 3]);
  limiter.forget(item, "a/3");
  assertEquals(inner.calls, [["when", item, "a/1", ATTEMPT], ["numRequeues", item, "a/2"], ["forget", item, "a/3"]]);
});

Deno.test("per-group: a queue asks the limiter of the group, which is created when its first item fails", () => {
  const { made, limiter } = buckets();
  limiter.forgotten!("a/1", "a/1");
  assertEquals(made.length, 0);
  const next = (item: string) => limiter.next!(1, item, item, RETRY);
  assertEquals(["a/1", "a/2", "b/1", "a", "b/2/3"].map(next), [0, 1000, 0, 2000, 1000]);
  assertEquals([made.length, limiter.countsFailures], [2, false]);

  const inner = new NextRecorder(5);
  const recorded = createPerGroupLimiter<object>({ separator: "/", limiter: () => inner });
  const item = {};
  assertEquals(recorded.next!(3, item, "a/1", RETRY), 5);
  recorded.forgotten!(item, "a/2");
  recorded.forgotten!(item, "b/1");
  assertEquals(inner.calls, [["next", 3, item, "a/1", RETRY], ["forgotten", item, "a/2"]]);
  assertThrows(() => recorded.next!(1, item, 5, RETRY), TypeError, "must be a string to have a 'separator', got 5");
});

Deno.test("per-group: limiters at rest are dropped, even if only queues ask them", () => {
  const { clock, made, limiter } = buckets();
  const busy = limiter.of("busy/1");
  busy.bucket.pauseFor(1e9);
  const first = limiter.of("0/x");
  for (let i = 0; i < 2000; i++) {
    clock.time += 1000;
    assertEquals(limiter.next!(1, `${i}/x`, `${i}/x`, RETRY), 0);
  }
  assertStrictEquals(limiter.of("busy/2"), busy);
  assertFalse(limiter.of("0/x") === first);
  assertEquals(made.length, 2002);
});

Deno.test("per-group: the limiter of a group is accessible, to pause it or to change it", () => {
  const { limiter } = buckets(2);
  limiter.of("a/1").bucket.pauseFor(5000);
  limiter.of("b/1").bucket.setRate(2);
  assertEquals([limiter.when("a/2"), limiter.when("c/1"), limiter.when("b/1")], [5000, 0, 0]);
  assertStrictEquals(limiter.of("a/1"), limiter.of({} as string, "a/7"));
});

Deno.test("rule 8, per-group: groups are determined by the queue's key, and a key that is not a string is refused", () => {
  const { limiter } = buckets();
  const queue = createRateLimitingQueue<{ path: string }>(limiter as PerGroupLimiter, {
    keyOf: ({ path }) => path,
    clock: new HandClock(),
  });
  queue.addRateLimited({ path: "a/1" });
  queue.addRateLimited({ path: "a/2" });
  queue.addRateLimited({ path: "b/1" });
  assertEquals([queue.length, queue.delayed], [2, 1]);
  queue.shutDown();
  const calls: ((item: unknown) => unknown)[] = [
    (item) => limiter.when(item as string),
    (item) => limiter.forget(item as string),
    (item) => limiter.numRequeues(item as string),
    (item) => limiter.of(item as string),
    (item) => limiter.of("a/b", item),
  ];
  for (const call of calls) {
    assertThrows(() => call({ path: "a" }), TypeError, "its key must be a string to have a 'separator'");
    assertThrows(() => call(5), TypeError, "got 5");
  }
});

Deno.test("per-group: of many groups one after the other, the groups at rest are dropped, a few at a time", () => {
  const { clock, limiter } = buckets();
  const first = limiter.of("0");
  limiter.when("0");
  const busy = limiter.of("busy/1");
  busy.bucket.pauseFor(1e9);
  let rests = 0;
  const spy = createPerGroupLimiter({
    groupOf: (item: number) => item,
    limiter: () => Object.assign(new Recorder(1), { atRest: () => rests++ >= 0 }),
  });
  for (let i = 1; i < 5000; i++) {
    clock.time += 1000;
    assertEquals(limiter.when(`${i}/x`), 0);
    const before = rests;
    spy.when(i);
    assert(rests - before <= 2, "looks at few of them each time");
  }
  assertFalse(limiter.of("0") === first);
  assertStrictEquals(limiter.of("busy/2"), busy);
  assert(rests > 4000);
});

Deno.test("per-group: up to a hundred groups are kept, even at rest", () => {
  const { made, limiter } = buckets();
  const all = Array.from({ length: 100 }, (_, i) => limiter.of(`${i}`));
  for (let i = 0; i < 100; i++) assertStrictEquals(limiter.of(`${i}/x`), all[i]);
  assertEquals(made.length, 100);
});

Deno.test("per-group: a limiter that is not at rest, or doesn't report it, is kept", () => {
  for (const atRest of [undefined, () => false]) {
    let made = 0;
    const limiter = createPerGroupLimiter<number>({
      groupOf: (item) => item,
      limiter: () => {
        made++;
        return Object.assign(new Recorder(1), atRest && { atRest });
      },
    });
    for (let round = 0; round < 3; round++) for (let i = 0; i < 1000; i++) limiter.when(i);
    assertEquals(made, 1000);
    assertFalse(limiter.atRest!());
  }
});

Deno.test("per-group: a group in use keeps to its rate, however many others come and go", () => {
  const { clock, limiter } = buckets(2);
  for (let second = 0; second < 300; second++) {
    // Three items a second, two more than the rate allows.
    for (let i = 0; i < 3; i++) limiter.when(`used/${i}`);
    for (let i = 0; i < 50; i++) limiter.when(`${second}-${i}`);
    clock.time += 1000;
  }
  assertEquals(limiter.of("used/x").bucket.tokens, 2 - 900 + 300);
});

Deno.test("per-group: at rest when all its groups are at rest", () => {
  const { clock, limiter } = buckets();
  assert(limiter.atRest!());
  for (const item of ["a", "b", "c"]) limiter.of(item);
  assert(limiter.atRest!());
  limiter.when("b");
  assertFalse(limiter.atRest!());
  clock.time = 1000;
  assert(limiter.atRest!());
});

Deno.test("per-group: groups can contain groups", () => {
  const clock = new HandClock();
  const limiter = createPerGroupLimiter({
    groupOf: (item: string) => item.split("/")[0],
    limiter: () =>
      createMaxOfLimiter(
        createBucketLimiter({ rate: 1, burst: 2, clock }),
        createPerGroupLimiter({
          groupOf: (item: string) => item.split("/")[1],
          limiter: () => createBucketLimiter({ rate: 0.1, burst: 1, clock }),
        }),
      ),
  });
  const items = ["a/x/1", "a/x/2", "a/y/1", "b/x/1"];
  assertEquals(items.map((item) => limiter.when(item)), [0, 10_000, 1000, 0]);
  assertFalse(limiter.atRest!());
  clock.time = 20_000;
  assert(limiter.atRest!());
});

Deno.test("per-group: works in a config, with a template from which each group gets its own limiter", () => {
  const clock = new HandClock();
  const config = loadConfig({
    limiters: {
      all: { type: "bucket", rate: 1, burst: 3 },
      hosts: {
        type: "per-group",
        separator: "/",
        limiter: { type: "max-of", limiters: ["all", { type: "bucket", rate: 0.1, burst: 1 }] },
      },
    },
  }, { clock });
  const limiter = config.limiter<string>("hosts");
  assertEquals(["a/1", "a/2", "b/1", "b/2"].map((item) => limiter.when(item)), [0, 10_000, 0, 10_000]);
  assertEquals(config.limiter("all").when("x"), 2000);
});

Deno.test("per-group: problems of a config are found when it is loaded, at their places", () => {
  const limiter = { type: "bucket", rate: 1, burst: 1 } as const;
  const build = (config: object) => issuesOf(() => limiters.build({ type: "per-group", ...config } as never));
  assertEquals(build({ separator: "", limiter }).map(({ path }) => path), ["/separator"]);
  assertEquals(build({ limiter }).map(({ path }) => path), ["/separator"]);
  assertEquals(build({ separator: "/" }).map(({ path }) => path), ["/limiter"]);
  assertEquals(build({ separator: "/", limiter: { ...limiter, rate: -1 } }).map(({ path }) => path), ["/limiter/rate"]);
  assertEquals(build({ separator: "/", limiter, groupOf: "host" }).map(({ path }) => path), ["/groupOf"]);
});

Deno.test("per-group: invalid options are refused, with the option, the rule and the value", () => {
  const limiter = () => new Recorder(1);
  const groupOf = (item: unknown) => item;
  const cases: [options: unknown, rest: string][] = [
    [{ limiter }, "one of 'groupOf' and 'separator' must be given, and not both"],
    [{ limiter, groupOf, separator: "/" }, "one of 'groupOf' and 'separator' must be given, and not both"],
    [{ limiter, groupOf: "host" }, `'groupOf' must be a function, got "host"`],
    [{ limiter, separator: "" }, `'separator' must be a non-empty string, got ""`],
    [{ limiter, separator: /\// }, "'separator' must be a non-empty string, got an object"],
    [{ groupOf }, "'limiter' must be a function that makes a rate limiter, got undefined"],
    [{ groupOf, limiter: limiter() }, "'limiter' must be a function that makes a rate limiter, got an object"],
    [{ separator: "/", limiter: "api" }, `'limiter' must be a function that makes a rate limiter, got "api"`],
    [{ groupOff: groupOf, limiter }, `"groupOff" is not an option here; did you mean "groupOf"?`],
    [undefined, "'options' must be an object, got undefined"],
  ];
  for (const [options, rest] of cases) {
    const { message } = assertThrows(() => createPerGroupLimiter(options as never), TypeError);
    assertEquals(message, `Cannot create per-group limiter: ${rest}`);
  }
});

Deno.test("per-group: a function that doesn't return a limiter is refused when a group needs one, and called again later", () => {
  let made: unknown = 5;
  const limiter = createPerGroupLimiter({ separator: "/", limiter: () => made as RateLimiter });
  assertThrows(
    () => limiter.when("a"),
    RangeError,
    "Cannot make limiter of group: 'limiter()' must be a rate limiter",
  );
  made = undefined;
  assertThrows(() => limiter.of("a"), TypeError, "got undefined");
  assertEquals(limiter.numRequeues("a"), 0);
  made = new Recorder(7);
  assertEquals(limiter.when("a"), 7);
});

Deno.test("types: per-group has the type of the limiters that its function creates", () => {
  const { limiter } = buckets();
  assertType<Same<typeof limiter, PerGroupLimiter<unknown, BucketLimiter>>>();
  const typed = createPerGroupLimiter({
    groupOf: (item: { host: string }) => item.host,
    limiter: () => createBucketLimiter({ rate: 1, burst: 1 }),
  });
  assertType<Same<Parameters<typeof typed.when>[0], { host: string }>>();
  assertEquals(typed.of({ host: "a" }).bucket.burst, 1);
  const bad = [
    // @ts-expect-error: has neither a function nor a separator
    () => createPerGroupLimiter({ limiter: () => new Recorder(1) }),
    // @ts-expect-error: has both a function and a separator
    () => createPerGroupLimiter({ groupOf: () => 1, separator: "/", limiter: () => new Recorder(1) }),
    // @ts-expect-error: has a limiter instead of a function
    () => createPerGroupLimiter({ separator: "/", limiter: new Recorder(1) }),
  ];
  for (const create of bad) assertThrows(create, TypeError);
  // @ts-expect-error: a name refers to a shared limiter, but each group needs its own
  const named: LimiterConfig = { type: "per-group", separator: "/", limiter: "api" };
  assertThrows(() => limiters.build(named));
});
