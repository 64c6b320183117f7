/** Tests of rule 16: a reload replaces the document immediately and as a whole, or not at all. */

import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import {
  type BucketLimiter,
  ConfigError,
  defineLimiter,
  type LimiterRegistry,
  limiters,
  loadConfig,
  type LoadConfigOptions,
  type PerGroupLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { HandClock, issuesOf } from "../helpers.ts";
import { takeAll } from "../queue_helpers.ts";

const backoff = (baseDelay: number) => ({ type: "exponential", baseDelay, maxDelay: 100_000 });
const bucket = (rate: number, burst: number) => ({ type: "bucket", rate, burst });
const fastSlow = { type: "fast-slow", fastDelay: 3, slowDelay: 30, maxFastAttempts: 1 };

/** Loads a document under the test's clock. */
function load(document: object, options: LoadConfigOptions = {}) {
  const clock = new HandClock();
  return { clock, config: loadConfig(document, { clock, ...options }) };
}

/** Third-party limiter that counts its calls. */
class Steps implements RateLimiter {
  asked = 0;
  constructor(public step: number, readonly inner?: RateLimiter) {}

  when(): number {
    return ++this.asked * this.step;
  }

  forget(): void {}

  numRequeues(): number {
    return this.asked;
  }

  double(): number {
    return this.step * 2;
  }
}

const stepOptions = {
  step: { kind: "integer", description: "" },
  limiter: { kind: "limiter", required: false, description: "" },
} as const;

/**
 * Returns a registry with two limiter types: `"stiff"`, which can't be updated, and `"soft"`, which can. Creating a
 * limiter with the step `refuse.create`, or updating a limiter to the step `refuse.when`, throws.
 */
function customRegistry(): {
  registry: LimiterRegistry;
  updates: string[];
  refuse: { when?: number; create?: number };
} {
  const updates: string[] = [];
  const refuse: { when?: number; create?: number } = {};
  const create = ({ step, limiter }: { step: number; limiter: RateLimiter | undefined }) => {
    if (step === refuse.create) throw new Error(`cannot make ${step}`);
    return new Steps(step, limiter);
  };
  const registry = limiters.extend()
    .register(defineLimiter({ type: "stiff", description: "", options: stepOptions, create }))
    .register(defineLimiter({
      type: "soft",
      description: "",
      options: stepOptions,
      create,
      update(part: Steps, { step }) {
        if (step === refuse.when) throw new Error(`cannot go to ${step}`);
        updates.push(`${part.step} → ${step}`);
        part.step = step;
      },
    }));
  return { registry, updates, refuse };
}

Deno.test("rule 16: options of limiters change at once, and counts stay", () => {
  const { config } = load({ limiters: { a: backoff(1) }, queues: { q: { limiter: "a" }, r: { limiter: backoff(1) } } });
  const [a, q, r] = [config.limiter("a"), config.queue<string>("q"), config.queue<string>("r")];
  assertEquals([a.when("x"), a.when("x")], [1, 2]);
  for (const queue of [q, r]) queue.addRateLimited("x");
  config.reload({ limiters: { a: backoff(10) }, queues: { q: { limiter: "a" }, r: { limiter: backoff(7) } } });
  assertStrictEquals(config.limiter("a"), a);
  assertEquals([a.numRequeues("x"), q.numRequeues("x"), a.when("x")], [2, 1, 40]);
  assertEquals(r.numRequeues("x"), 1);
});

Deno.test("rule 16: deadlines that were set stay, and the next ones follow the new document", async () => {
  const { clock, config } = load({ limiters: { a: backoff(1000) }, queues: { q: { limiter: "a" } } });
  const queue = config.queue<string>("q");
  queue.addRateLimited("early");
  config.reload({ limiters: { a: backoff(10) }, queues: { q: { limiter: "a" } } });
  queue.addRateLimited("late");
  await clock.advance(10);
  assertEquals(takeAll(queue), ["late"]);
  await clock.advance(989);
  assertEquals([takeAll(queue), queue.delayed], [[], 1]);
  await clock.advance(1);
  assertEquals(takeAll(queue), ["early"]);
});

Deno.test("rule 16: an omitted option may be set, and an option that was set may be omitted", async () => {
  const document = (forgetAfter?: number) => ({ queues: { q: { limiter: backoff(1), forgetAfter } } });
  const { clock, config } = load(document());
  const counts: number[][] = [];
  const queues = [config.queue<string>("q")];
  for (const forgetAfter of [5, undefined, 7]) {
    config.reload(document(forgetAfter));
    queues.push(config.queue<string>("q"));
    for (const queue of queues) queue.addRateLimited("x");
    await clock.advance(1000);
    counts.push(queues.map((queue) => queue.numRequeues("x")));
  }
  // Queues keep what they were created with: no expiry for the first and the third.
  assertEquals(counts, [[1, 0], [2, 0, 1], [3, 0, 2, 0]]);
});

Deno.test("rule 16: a bucket stays the same, with its tokens and its debt", async () => {
  const { clock, config } = load({ limiters: { a: bucket(1, 2) }, queues: { q: { throttle: "a" } } });
  const tokens = config.bucket("a");
  assertEquals([tokens.take(), tokens.take(), tokens.take()], [0, 0, 1000]);
  config.reload({ limiters: { a: bucket(10, 5) }, queues: { q: { throttle: "a" } } });
  assertStrictEquals(config.bucket("a"), tokens);
  assertStrictEquals((config.limiter("a") as BucketLimiter).bucket, tokens);
  assertStrictEquals(config.workers("q").throttle, tokens);
  assertEquals([tokens.rate, tokens.burst, tokens.tokens], [10, 5, -1]);
  await clock.advance(600);
  assertEquals(tokens.tokens, 5);
});

Deno.test("rule 16: limiters of another type start afresh, references follow them, and queues keep their counts", () => {
  const { config } = load({
    limiters: { a: backoff(1), around: { type: "max-of", limiters: ["a", backoff(1)] } },
    queues: { q: { limiter: "a" } },
  });
  const [a, around, q] = [config.limiter("a"), config.limiter("around"), config.queue<string>("q")];
  for (let i = 0; i < 3; i++) around.when("x");
  q.addRateLimited("x");
  assertEquals([a.numRequeues("x"), q.numRequeues("x")], [3, 1]);
  config.reload({
    limiters: { a: fastSlow, around: { type: "max-of", limiters: ["a", backoff(1)] } },
    queues: { q: { limiter: "a" } },
  });
  assertEquals([a.numRequeues("x"), q.numRequeues("x"), around.numRequeues("x")], [0, 1, 3]);
  assertEquals([a.when("x"), a.when("x")], [3, 30]);
  q.cancelDelayed("x");
  q.addRateLimited("x");
  assertEquals([q.numRequeues("x"), q.snapshot().delayedItems[0]!.dueInMs, around.when("x")], [2, 30, 30]);
});

Deno.test("rule 16: parts are matched by place and type, whatever happens to the parts around them", () => {
  const document = (around: object) => ({ limiters: { a: around } });
  const { config } = load(document({ type: "max-of", limiters: [backoff(1), fastSlow] }));
  const a = config.limiter("a");
  a.when("x");
  config.reload(document({ type: "max-wait", maxDelay: 5, limiter: { type: "max-of", limiters: [backoff(1)] } }));
  assertEquals(a.numRequeues("x"), 0); // both limiters have moved, so both are new
  a.when("x");
  config.reload(
    document({ type: "jitter", spread: 0, limiter: { type: "max-of", limiters: [backoff(10), fastSlow] } }),
  );
  assertEquals([a.numRequeues("x"), a.when("x")], [1, 20]);
});

Deno.test("rule 16: the limiters of groups change with their template, or are created anew", () => {
  const groups = (limiter: object) => ({ limiters: { a: { type: "per-group", separator: "/", limiter } } });
  const { config } = load(groups({ type: "max-of", limiters: [backoff(1)] }));
  const a = config.limiter("a") as PerGroupLimiter;
  a.when("one/x");
  const ofOne = a.of("one/x");
  config.reload(groups({ type: "max-of", limiters: [backoff(5)] }));
  assertStrictEquals(a.of("one/y"), ofOne);
  assertEquals([a.when("one/x"), a.when("two/x")], [10, 5]);
  config.reload(groups({ type: "max-of", limiters: [backoff(5), fastSlow] }));
  assertEquals([a.numRequeues("one/x"), a.when("one/x"), a.when("two/x")], [2, 20, 10]);
  config.reload(groups(fastSlow));
  assertEquals([a.numRequeues("one/x"), a.when("one/x"), a.when("two/x")], [0, 3, 3]);
  assertFalse(a.of("one/x") === ofOne);
});

Deno.test("rule 16: with another separator, a group that keeps its name continues, and others start afresh", () => {
  const groups = (separator: string) => ({
    limiters: { a: { type: "per-group", separator, limiter: backoff(1) } },
  });
  const { config } = load(groups("/"));
  const a = config.limiter("a");
  for (const key of ["one/x:1", "two/x:1"]) a.when(key);
  config.reload(groups("/x"));
  assertEquals(a.when("one/x:1"), 2, "of the group 'one', as before");
  config.reload(groups(":"));
  assertEquals(a.when("two/x:1"), 1, "of the group 'two/x' now");
});

Deno.test("rule 16: a queue's default limiter takes part like any other limiter", () => {
  const written = {
    type: "max-of",
    limiters: [{ type: "exponential", baseDelay: "5ms", maxDelay: "1000s" }, bucket(1, 100)],
  };
  const { config } = load({ queues: { q: {} } });
  const queue = config.queue<string>("q");
  queue.addRateLimited("x");
  config.reload({ queues: { q: { limiter: written } } });
  assertEquals([queue.numRequeues("x"), config.describe("q").limiter.type], [1, "max-of"]);
  const dueAfterFailure = () => {
    queue.cancelDelayed("x");
    queue.addRateLimited("x");
    return queue.snapshot().delayedItems[0]!.dueInMs;
  };
  config.reload({ queues: { q: { limiter: fastSlow } } });
  assertEquals([queue.numRequeues("x"), dueAfterFailure()], [1, 30]);
  config.reload({ queues: { q: {} } });
  assertEquals([queue.numRequeues("x"), dueAfterFailure()], [2, 20]);
});

Deno.test("rule 16: a queue moves with its document from one limiter to another, and keeps its counts", () => {
  const named = { a: backoff(1), b: fastSlow };
  const { config } = load({ limiters: named, queues: { q: { limiter: "a" } } });
  const queue = config.queue<string>("q");
  queue.addRateLimited("x");
  for (const [limiter, delay, count] of [["b", 30, 2], ["a", 4, 3], [backoff(2), 16, 4], ["a", 16, 5]] as const) {
    config.reload({ limiters: named, queues: { q: { limiter } } });
    queue.cancelDelayed("x");
    queue.addRateLimited("x");
    assertEquals([queue.snapshot().delayedItems[0]!.dueInMs, queue.numRequeues("x")], [delay, count]);
  }
});

Deno.test("rule 16: an alias of a limiter is the same limiter, and moves with it", () => {
  const chain = (one: unknown) => ({ limiters: { one, two: "three", three: backoff(1), four: fastSlow } });
  const { config } = load({ ...chain("two"), queues: { q: { limiter: "one" } } });
  const [three, queue] = [config.limiter("three"), config.queue<string>("q")];
  assertStrictEquals(config.limiter("one"), three);
  assertStrictEquals(config.limiter("two"), three);
  queue.addRateLimited("x");
  three.when("x");
  config.reload({ ...chain("four"), queues: { q: { limiter: "one" } } });
  assertStrictEquals(config.limiter("one"), config.limiter("four"));
  assertEquals([queue.numRequeues("x"), three.numRequeues("x")], [1, 1]);

  config.reload({ ...chain(backoff(9)), queues: { q: { limiter: "one" } } });
  const one = config.limiter("one");
  queue.addRateLimited("x");
  assertEquals([one.when("x"), one.when("x"), queue.numRequeues("x")], [9, 18, 2]);
  config.reload({ ...chain("two"), queues: { q: { limiter: "one" } } });
  assertEquals([one.numRequeues("x"), queue.numRequeues("x")], [1, 2], "a reference has what the name leads to");
});

Deno.test("rule 16: a removed limiter continues with its state, and its name is unknown until it is back", () => {
  const { config } = load({ limiters: { a: backoff(1) }, queues: { q: { limiter: "a" } } });
  const [a, queue] = [config.limiter("a"), config.queue<string>("q")];
  queue.addRateLimited("x");
  config.reload({ limiters: { b: backoff(1) }, queues: {} });
  assertEquals([config.limiterNames, config.queueNames], [["b"], []]);
  for (
    const ask of [
      () => config.limiter("a"),
      () => config.queue("q"),
      () => config.workers("q"),
      () => config.describe("q"),
    ]
  ) {
    assertThrows(ask, RangeError, "the config has none named");
  }
  queue.addRateLimited("x");
  assertEquals([queue.numRequeues("x"), a.when("x")], [2, 1]);

  config.reload({ limiters: { a: fastSlow }, queues: { q: { limiter: "a" } } });
  assertStrictEquals(config.limiter("a"), a);
  assertEquals([queue.numRequeues("x"), a.when("x"), queue.numRequeues("x")], [2, 3, 2]);
});

Deno.test("the limiter behind a name shows the members of the limiter that it delegates to, and no others", () => {
  const { registry } = customRegistry();
  const { config } = load({ limiters: { a: bucket(1, 1) } }, { limiters: registry });
  const a = config.limiter("a") as unknown as BucketLimiter & PerGroupLimiter & Steps;
  assert("bucket" in a && "atRest" in a && "next" in a);
  assertFalse("of" in a || "forgotten" in a || "standFor" in a);
  assertFalse(Object.hasOwn(a, "toString"), "as every object has it anyway");
  assertEquals(a.atRest!(), true);

  config.reload({ limiters: { a: { type: "per-group", separator: "/", limiter: backoff(1) } } });
  assertFalse("bucket" in a);
  assertEquals(a.of("x/1").when("x/1"), 1);
  assertEquals(a.atRest!(), false);
  const { of } = a;
  assertEquals(of("x/1").when("x/1"), 2, "as one of a method that needs no 'this'");

  config.reload({ limiters: { a: { type: "stiff", step: 4 } } });
  assertFalse("of" in a || "atRest" in a || "next" in a);
  assertEquals([a.double(), a.step, a.asked], [8, 4, 0]);
  a.when("x");
  a.step = 6;
  assertEquals([a.asked, a.double(), Object.keys(a).includes("step")], [1, 12, true]);
});

Deno.test("the limiter behind a name shows the members of a limiter without a prototype, too", () => {
  const bare = defineLimiter({
    type: "bare",
    description: "",
    options: {},
    create: () =>
      Object.assign(Object.create(null) as object, new Steps(4), { when: () => 7, forget() {}, numRequeues: () => 2 }),
  });
  const { config } = load({ limiters: { a: { type: "bare" } } }, { limiters: limiters.extend().register(bare) });
  const a = config.limiter("a") as unknown as Steps;
  assertEquals([a.when(), a.numRequeues(), a.step, a.asked], [7, 2, 4, 0]);
});

Deno.test("rule 16: a custom limiter with an 'update' is changed, and update is called only if its options change", () => {
  const { registry, updates } = customRegistry();
  const document = (step: number, other = 1) => ({
    limiters: { a: { type: "soft", step }, b: { type: "soft", step: other, limiter: "a" } },
  });
  const { config } = load(document(1), { limiters: registry });
  const a = config.limiter("a");
  a.when("x");
  config.reload(document(1));
  assertEquals(updates, []);
  config.reload(document(5));
  assertEquals([updates, a.when("x")], [["1 → 5"], 10]);
  config.reload({ limiters: { a: { type: "stiff", step: 2 }, b: { type: "soft", step: 1, limiter: "a" } } });
  assertEquals([updates, a.when("x")], [["1 → 5"], 2], "b holds the same limiter as before");
});

Deno.test("rule 16: a custom limiter without an 'update' continues if its options are the same, and is otherwise created anew", () => {
  const { registry } = customRegistry();
  const document = (step: number, limiter: object) => ({ limiters: { a: { type: "stiff", step, limiter } } });
  const { config } = load(document(1, backoff(1)), { limiters: registry });
  const a = config.limiter("a") as unknown as Steps;
  a.when();
  const { inner } = a;
  config.reload(document(1, backoff(2)));
  assertEquals(a.asked, 1, "what is inside was changed in place");
  assertStrictEquals(a.inner, inner);
  config.reload(document(1, fastSlow));
  assertEquals(a.asked, 0);
  assertFalse(a.inner === inner);
  a.when();
  config.reload(document(2, fastSlow));
  assertEquals([a.asked, a.step], [0, 2]);
});

Deno.test("rule 16: a type that was registered anew means another limiter", () => {
  const { registry } = customRegistry();
  const { config } = load({ limiters: { a: backoff(1) } }, { limiters: registry });
  const a = config.limiter("a");
  a.when("x");
  registry.unregister("exponential");
  assertEquals(issuesOf(() => config.reload({ limiters: { a: backoff(1) } })).map(({ path }) => path), [
    "/limiters/a/type",
  ]);
  const { create, options } = limiters.get("exponential")!;
  registry.register({ type: "exponential", description: "", options, create });
  const [change, ...others] = config.reload({ limiters: { a: backoff(1) } });
  assertEquals([change?.path, change?.startsAfresh, others], ["/limiters/a", true, []]);
  assertEquals(a.numRequeues("x"), 0);
});

Deno.test("rule 16: a document with problems is rejected as a whole, with all problems, and nothing changes", () => {
  const { config } = load({ limiters: { a: backoff(1), b: bucket(1, 9) }, queues: { q: { throttle: "b" } } });
  const [a, before] = [config.limiter("a"), JSON.stringify(config.describe("q"))];
  a.when("x");
  const error = assertThrows(
    () =>
      config.reload({
        limiters: { a: backoff(-1), b: backoff(1), c: bucket(1, 1) },
        queues: { q: { throttle: "b", concurrncy: 3 } },
      }),
    ConfigError,
    "Cannot reload config: it has 3 problems",
  );
  assertEquals(error.issues.map(({ path }) => path), [
    "/limiters/a/baseDelay",
    "/queues/q/concurrncy",
    "/queues/q/throttle",
  ]);
  assertThrows(() => config.reload("{"), ConfigError, "Cannot reload config: the text is not JSON");
  assertEquals([config.limiterNames, a.when("x"), JSON.stringify(config.describe("q"))], [["a", "b"], 2, before]);
  assertThrows(() => config.limiter("c"), RangeError);
});

Deno.test("rule 16: a limiter that can't be created rejects the document", () => {
  const { registry, refuse, updates } = customRegistry();
  const { config } = load({ limiters: { a: backoff(1), s: { type: "soft", step: 1 } } }, { limiters: registry });
  const a = config.limiter("a");
  a.when("x");
  refuse.create = 7;
  const limiters_ = { a: backoff(50), s: { type: "soft", step: 2 }, n: bucket(1, 1), z: { type: "stiff", step: 7 } };
  assertEquals(issuesOf(() => config.reload({ limiters: limiters_ })), [
    { path: "/limiters/z", message: "cannot make 7" },
  ]);
  assertEquals([a.when("x"), updates, config.limiterNames], [2, [], ["a", "s"]]);
  const groups = { type: "per-group", separator: "/", limiter: { type: "stiff", step: 7 } };
  assertEquals(issuesOf(() => config.reload({ limiters: { a: groups } })), [
    { path: "/limiters/a/limiter", message: "cannot make 7" },
  ]);
  assertEquals(a.when("x"), 4);
});

Deno.test("rule 16: an update that is refused rejects the document, and earlier updates are undone", () => {
  const { registry, refuse, updates } = customRegistry();
  const document = (soft: number, other: number, burst: number, groups: object) => ({
    limiters: {
      a: backoff(soft),
      tokens: bucket(1, burst),
      g: { type: "per-group", separator: "/", limiter: groups },
      s: { type: "soft", step: soft },
      t: { type: "soft", step: other },
    },
    queues: { q: { throttle: { rate: 1, burst } }, r: { limiter: { type: "soft", step: burst } } },
  });
  const { config } = load(document(1, 1, 100, backoff(1)), { limiters: registry });
  const [a, g, s, t, tokens] = [
    ...["a", "g", "s", "t"].map((name) => config.limiter(name)),
    config.bucket("tokens"),
  ] as [
    RateLimiter,
    PerGroupLimiter,
    RateLimiter,
    RateLimiter,
    ReturnType<typeof config.bucket>,
  ];
  for (const limiter of [a, g, s, t]) limiter.when("k/x");
  const ofGroup = g.of("k/x");
  refuse.when = 2; // the last update
  assertThrows(() => config.reload(document(5, 9, 2, fastSlow)), ConfigError);
  updates.length = 0;
  refuse.when = 9;
  const error = assertThrows(() => config.reload(document(5, 9, 2, fastSlow)), ConfigError);
  assertEquals([...error.issues], [{ path: "/limiters/t", message: "cannot go to 9" }]);
  assertEquals((error.cause as Error).message, "cannot go to 9");
  assertEquals(error.message, "Cannot reload config: cannot go to 9 (at /limiters/t)");
  assertStrictEquals(g.of("k/x"), ofGroup);
  assertEquals([a, g, s, t].map((limiter) => limiter.when("k/x")), [2, 2, 2, 2]);
  for (const bucket of [tokens, config.workers("q").throttle as typeof tokens]) {
    assertEquals([bucket.tokens, bucket.burst], [100, 100], "no token is lost to a burst that never was");
  }
  assertEquals(updates, ["1 → 5", "1 → 1", "5 → 1"], "the last one first, and the one that refused");

  config.reload(document(5, 5, 2, fastSlow));
  assertEquals([a, g, s, t].map((limiter) => limiter.when("k/x")), [20, 3, 15, 15]);
});

Deno.test("rule 16: an update that is refused within groups leaves all groups as they were", () => {
  const { registry, refuse } = customRegistry();
  const groups = (step: number, inner: object) => ({
    limiters: {
      g: { type: "per-group", separator: "/", limiter: { type: "max-of", limiters: [{ type: "soft", step }, inner] } },
    },
  });
  const { config } = load(groups(1, backoff(1)), { limiters: registry });
  const g = config.limiter("g") as PerGroupLimiter;
  for (const key of ["a/1", "b/1", "b/1", "c/1"]) g.when(key);
  const parts = ["a", "b", "c"].map((key) => g.of(key));
  refuse.when = 4;
  assertEquals(issuesOf(() => config.reload(groups(4, fastSlow))), [
    { path: "/limiters/g/limiter/limiters/0", message: "cannot go to 4" },
  ]);
  assertEquals(["a/1", "b/1", "c/1"].map((key) => g.when(key)), [2, 4, 2]);
  assertEquals(["a", "b", "c"].map((key) => g.of(key) === parts["abc".indexOf(key)]), [true, true, true]);
});

Deno.test("rule 16: a refused document leaves groups that were created anew as they were", () => {
  const { registry, refuse } = customRegistry();
  const document = (limiter: object, step: number) => ({
    limiters: {
      one: { type: "per-group", separator: "/", limiter },
      two: { type: "per-group", separator: "/", limiter: { type: "soft", step } },
    },
  });
  const { config } = load(document(backoff(1), 1), { limiters: registry });
  const [one, two] = [config.limiter("one"), config.limiter("two")];
  for (const limiter of [one, two]) for (const key of ["a/1", "b/1"]) limiter.when(key);
  refuse.when = 4;
  assertThrows(() => config.reload(document(fastSlow, 4)), ConfigError);
  assertEquals([one.numRequeues("a/1"), one.when("a/1"), one.when("b/1"), two.when("a/1")], [1, 2, 2, 2]);
});

Deno.test("rule 16: a limiter is created with the limiters that it names, whatever was refused before", () => {
  const { registry } = customRegistry();
  const seen: boolean[] = [];
  registry.register(defineLimiter({
    type: "nosy",
    description: "",
    options: { limiter: { kind: "limiter", description: "" } },
    create({ limiter }) {
      seen.push("bucket" in limiter);
      return new Steps(1);
    },
  }));
  const { config } = load({}, { limiters: registry });
  const end = config.onReload(() => {
    throw new Error("not now");
  });
  assertThrows(() => config.reload({ limiters: { n: backoff(1) } }), Error, "not now");
  end();
  config.reload({ limiters: { n: bucket(1, 1), a: { type: "nosy", limiter: "n" } } });
  assertEquals(seen, [true]);
});

Deno.test("rule 16: a reload inside a reload is an error, and changes nothing", () => {
  const { registry } = customRegistry();
  const inner: unknown[] = [];
  registry.register(defineLimiter({
    type: "nosy",
    description: "",
    options: {},
    create() {
      inner.push(assertThrows(() => config.reload({ limiters: {} }), Error, "inside another reload"));
      return new Steps(1);
    },
  }));
  const { config } = load({ limiters: { a: backoff(1) } }, { limiters: registry });
  config.reload({ limiters: { a: backoff(1), b: { type: "nosy" } } });
  assertEquals([inner.length, config.limiterNames], [1, ["a", "b"]]);
  const end = config.onReload(() => void config.reload({ limiters: {} }));
  assertThrows(() => config.reload({ limiters: { a: backoff(1) } }), Error, "inside another reload");
  assertEquals(config.limiterNames, ["a", "b"]);
  end();
  assertEquals(config.reload({ limiters: { a: backoff(1) } }).map(({ path }) => path), ["/limiters/b"]);
});

Deno.test("rule 16: queues created after a reload follow the new document, and earlier ones stay as they are", () => {
  const { config } = load({ queues: { q: { addWhileDelayed: "keep" } } });
  const early = config.queue<string>("q");
  config.reload({
    queues: { q: { addWhileDelayed: "replace", discipline: { type: "priority", maxHeadStart: "1m" } } },
  });
  const late = config.queue<string>("q");
  for (const queue of [early, late]) {
    queue.addAfter("x", 1000);
    queue.add("x");
  }
  assertEquals([early.delayed, late.delayed], [1, 0]);
  late.add("y", { priority: 5 });
  assertEquals(takeAll(late), ["y", "x"]);
});

Deno.test("rule 16: a description shows the options in force", () => {
  const first = { limiters: { a: bucket(1, 2) }, queues: { q: { limiter: "a", throttle: "a", timeout: "1s" } } };
  const second = { limiters: { a: bucket(3, 4) }, queues: { q: { throttle: "a" }, r: { limiter: backoff(1) } } };
  const { config } = load(first);
  const describe = (names: string[], { describe }: { describe(name: string): object }) => names.map(describe);
  config.onReload((next) => {
    const loaded = loadConfig(second);
    assertEquals(next.queueNames, ["q", "r"]);
    assertEquals(
      structuredClone(describe(next.queueNames, { describe: (name) => next.describe(name) })),
      structuredClone(describe(["q", "r"], { describe: (name) => loaded.describe(name) })),
      "before it is in force, too",
    );
  });
  config.reload(second);
  assertEquals(structuredClone(config.describe("q")), structuredClone(loadConfig(second).describe("q")));
  assertEquals(config.describe("q").throttle?.options, { rate: 3, burst: 4 });
});

Deno.test("a value set by hand stays while the document's value stays the same", () => {
  const document = (burst: number, maxDelay: number) => ({
    limiters: { a: bucket(1, burst), b: { type: "exponential", baseDelay: 1, maxDelay } },
  });
  const { config } = load(document(10, 100));
  const tokens = config.bucket("a");
  tokens.setRate(0);
  config.reload(document(10, 200));
  assertEquals(tokens.rate, 0);
  config.reload(document(20, 200));
  assertEquals([tokens.rate, tokens.burst], [1, 20]);
});

Deno.test("rule 16: a dry run reports what would change, and changes nothing", () => {
  const document = (rate: number) => ({ limiters: { api: bucket(rate, 1) }, queues: { images: { limiter: "api" } } });
  const { config } = load(document(1));
  const limiter = config.limiter("api");
  const reported: string[] = [];
  config.onReload((next) => {
    reported.push(next.limiterNames.join());
    return () => reported.push("in force");
  });
  const changes = config.reload({ ...document(2), limiters: { more: fastSlow, api: bucket(2, 1) } }, { dryRun: true });
  assertEquals(changes.map(({ path }) => path), ["/limiters/more", "/limiters/api/rate"]);
  assertEquals([config.bucket("api").rate, config.limiterNames, reported], [1, ["api"], ["more,api"]]);

  config.reload(document(3));
  assertStrictEquals(config.limiter("api"), limiter);
  assertEquals([config.bucket("api").rate, reported], [3, ["more,api", "api", "in force"]]);
  assertEquals(config.reload(document(3), { dryRun: true }), []);
});

Deno.test("rule 16: a dry run refuses what a reload would refuse", () => {
  const { config } = load({ limiters: { api: bucket(1, 1) } });
  assertThrows(() => config.reload({ limiters: { api: bucket(-1, 1) } }, { dryRun: true }), ConfigError, "'rate'");
  config.onReload(() => {
    throw new Error("not today");
  });
  assertThrows(() => config.reload({}, { dryRun: true }), Error, "not today");
  assertThrows(() => config.reload({}, { dry: true } as never), TypeError, '"dry" is not an option here');
  assertThrows(() => config.reload({}, { dryRun: 1 } as never), RangeError, "'dryRun' must be true or false");
});
