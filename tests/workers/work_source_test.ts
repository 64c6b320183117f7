/** Requests that a pool sends to its work source, and the pool's handling of the answers. */

import { assert, assertEquals, assertFalse, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import {
  adaptThrottle,
  createConcurrencyThrottle,
  createExponentialLimiter,
  createRateLimitingQueue,
  type Ending,
  type GivenUpEnding,
  type GivenUpItem,
  type Handler,
  type Outcome,
  RetryAfterError,
  runWorkers,
  type Shutdown,
  type SourcedQueue,
  TerminalError,
  TokenBucket,
  type WorkAttempt,
  type WorkerOptions,
  type WorkerPool,
  type WorkLease,
  type WorkRequest,
  type WorkSource,
} from "@workqueue/core";
import { type BaseSource, baseSource, SOURCE } from "@workqueue/core/hooks";
import { assertType, codeOf, HandClock, type Same } from "../helpers.ts";
import { beBusy, countListeners, flush, isSettled, randomNumbers } from "../queue_helpers.ts";
import { RemoteQueue } from "./remote_queue.ts";

/** Lease that logs its disposal. */
class HandLease implements WorkLease<string> {
  readonly shutdown = false;
  readonly priority = 0;
  readonly addedAgain = () => false;
  readonly controller = new AbortController();
  readonly item: string;
  readonly #log: string[];

  constructor(item: string, log: string[]) {
    this.item = item;
    this.#log = log;
  }

  get key(): string {
    return this.item;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  [Symbol.dispose](): void {
    this.#log.push(`dispose ${this.item}`);
  }
}

/** Ending that is pending until the test settles it. */
interface Finish extends PromiseWithResolvers<boolean | GivenUpEnding | undefined> {
  readonly ending: Ending;
}

interface HandSource extends BaseSource {} // the prototype is set below

/** Work source that a test controls: the test provides the answers. */
class HandSource implements WorkSource<string>, SourcedQueue<string> {
  readonly name = "hand";
  readonly clock = new HandClock();
  readonly takesTokens: boolean = false;
  /** Actions of the pool, in order. */
  readonly log: string[] = [];
  /** Leases that were delivered to the pool but not yet taken. */
  readonly unused: HandLease[] = [];
  readonly leases = new Map<string, HandLease>();
  readonly finishes = new Map<string, Finish>();
  /** Pending request of the pool. */
  request: WorkRequest | undefined = undefined;
  answer!: PromiseWithResolvers<WorkLease<string> | Shutdown>;
  attempts = new Map<unknown, number>();
  /** Function that the source calls before each ending. */
  check: (ending: Ending) => void = () => {};
  opened = 0;

  [SOURCE](): WorkSource<string> {
    this.opened++;
    return this;
  }

  attemptOf({ key }: WorkLease<string>): number {
    return this.attempts.get(key) ?? 1;
  }

  tryTake(): WorkLease<string> | undefined {
    return this.unused.shift();
  }

  take(request: WorkRequest): Promise<WorkLease<string> | Shutdown> {
    this.request = request;
    const answer = this.answer = Promise.withResolvers();
    request.signal.addEventListener("abort", () => answer.reject(request.signal.reason), { once: true });
    return answer.promise;
  }

  giveBackUnused(): void {
    for (const { item } of this.unused.splice(0)) this.log.push(`unused ${item}`);
  }

  finish({ lease: { item } }: WorkAttempt<string>, ending: Ending): Promise<boolean | GivenUpEnding | undefined> {
    this.check(ending);
    this.log.push(`${ending.kind} ${item}`);
    const finish = { ending, ...Promise.withResolvers<boolean | GivenUpEnding | undefined>() };
    this.finishes.set(item, finish);
    return finish.promise;
  }

  /** Answers the pool's pending request with these items. */
  async bring(...items: string[]): Promise<void> {
    this.bringNow(...items);
    await flush();
  }

  /** Like `bring`, but returns before the pool sees the answer. */
  bringNow(...items: string[]): void {
    const [first, ...others] = items.map((item) => new HandLease(item, this.log));
    for (const lease of [first!, ...others]) this.leases.set(lease.item, lease);
    this.unused.push(...others);
    this.request = undefined;
    this.answer.resolve(first!);
  }

  /** Settles the ending of an item. */
  async settle(item: string, answer?: boolean | GivenUpEnding): Promise<void> {
    this.finishes.get(item)!.resolve(answer);
    await flush();
  }

  async shutDown(): Promise<void> {
    this.answer.resolve({ shutdown: true, item: undefined, [Symbol.dispose]() {} });
    await flush();
  }
}

Object.setPrototypeOf(HandSource.prototype, baseSource);

const ANY_LIMITER = createExponentialLimiter({ baseDelay: 1, maxDelay: 1 });

/** Pool whose handlers end when the test calls `end` or `fail`, together with the pool's reports. */
class Setup {
  readonly source: HandSource;
  readonly pool: WorkerPool<string>;
  readonly began: string[] = [];
  readonly ends = new Map<string, PromiseWithResolvers<void | Outcome>>();
  readonly reports: unknown[][] = [];

  constructor(options: WorkerOptions<string> = {}, source: HandSource = new HandSource(), handler?: Handler<string>) {
    this.source = source;
    this.pool = runWorkers(source, (item, context) => {
      this.began.push(item);
      if (handler !== undefined) return handler(item, context);
      const end = Promise.withResolvers<void | Outcome>();
      this.ends.set(item, end);
      return end.promise;
    }, {
      onError: (error, item, attempt) => void this.reports.push(["error", error, item, attempt]),
      onGiveUp: (...given) => void this.reports.push(["given up", ...given]),
      ...options,
    });
  }

  async end(item: string): Promise<void> {
    this.ends.get(item)!.resolve();
    await flush();
  }

  async fail(item: string, error: unknown): Promise<void> {
    this.ends.get(item)!.reject(error);
    await flush();
  }
}

Deno.test("each pool opens its own source, and items have the type of the queue", async () => {
  const source = new HandSource();
  const queue: SourcedQueue<string> = source;
  const pools = [1, 2].map(() =>
    runWorkers(queue, (item) => {
      assertType<Same<typeof item, string>>();
    })
  );
  assertType<Same<(typeof pools)[number], WorkerPool<string>>>();
  assertEquals(source.opened, 2);
  await flush();
  for (const pool of pools) void pool.stop();
});

Deno.test("a source without a required member is refused by its name, and baseSource has the members that most don't need", () => {
  const own: Pick<WorkSource<string>, "name" | "tryTake" | "take" | "attemptOf" | "finish"> = new HandSource();
  const whole: Record<string, unknown> = { ...baseSource };
  for (const name of ["name", "tryTake", "take", "attemptOf", "finish"] as const) whole[name] = own[name];
  assertEquals(Object.keys(whole).filter((name) => !(name in createRateLimitingQueue(ANY_LIMITER))), []);
  const refuse = (source: unknown, name: string) => {
    const queue = { [SOURCE]: () => source as WorkSource<string> };
    const message = `Cannot run workers: the source lacks '${name}' of WorkSource`;
    assertThrows(() => runWorkers(queue, () => {}), TypeError, message);
  };
  for (const name of Object.keys(whole)) {
    const { [name]: _missing, ...rest } = whole;
    refuse(rest, name);
  }
  for (const none of [undefined, null, Promise.resolve(whole)]) refuse(none, "name");
});

Deno.test("a wait asks for as many items as handlers may begin at that time, and items that arrive together begin together", async () => {
  const { source, pool, began, ...it } = new Setup({ concurrency: 3 });
  await flush();
  assertEquals(source.request!.wanted(), 3);
  pool.concurrency = 4;
  assertEquals(source.request!.wanted(), 4);
  await source.bring("a", "b", "c");
  assertEquals([began, pool.active], [["a", "b", "c"], 3]);
  assertEquals(source.request!.wanted(), 1);
  for (const item of ["a", "b"]) it.ends.get(item)!.resolve();
  await flush();
  assertEquals(source.request!.wanted(), 3, "of the same wait");
  assertEquals(source.unused, []);
  void pool.stop();
});

Deno.test("a source that keeps attempts gets a separate attempt for each item, which later items don't change", async () => {
  const attempts: WorkAttempt<string>[] = [];
  class Keeping extends HandSource {
    override finish(attempt: WorkAttempt<string>, ending: Ending) {
      attempts.push(attempt);
      return super.finish(attempt, ending);
    }
  }
  const { source, pool } = new Setup({}, new Keeping(), async (item) => {
    await undefined;
    if (item === "a") source.unused.push(new HandLease("b", source.log)); // the worker of "a" takes it
  });
  source.attempts.set("b", 3);
  await flush();
  await source.bring("a");
  assertEquals(attempts.map(({ lease: { item }, key, number }) => [item, key, number]), [["a", "a", 1], ["b", "b", 3]]);
  for (const item of ["a", "b"]) await source.settle(item, true);
  await pool.stop();
});

Deno.test("an ending whose promise resolves to undefined has been carried out", async () => {
  const it = new Setup();
  await flush();
  await it.source.bring("a");
  await it.end("a");
  await it.source.settle("a");
  assertEquals(it.reports, []);
  await it.pool.stop();
});

Deno.test("an ending is carried out while the pool continues, and the pool ends when all endings are done", async () => {
  for (const end of ["stop", "shut down"]) {
    const it = new Setup();
    const { source, pool, began } = it;
    await flush();
    await source.bring("a");
    await it.end("a");
    assertEquals(source.log, ["succeeded a", "dispose a"]);
    await source.bring("b");
    assertEquals(began, ["a", "b"]);
    await it.end("b");
    if (end === "stop") void pool.stop();
    else await source.shutDown();
    assertEquals([await isSettled(pool.finished), pool.active], [false, 0]);
    await source.settle("b", true);
    assertFalse(await isSettled(pool.finished));
    await source.settle("a", true);
    await pool.finished;
    assertEquals(it.reports, []);
  }
});

Deno.test("a failure counts once it is carried out: the item is listed, or given up", async () => {
  const it = new Setup({ maxRetries: 1, concurrency: 2 });
  const { source, pool } = it;
  await flush();
  source.attempts.set("b", 2);
  await source.bring("a", "b");
  const [no, never] = [new Error("no"), new Error("never")];
  await it.fail("a", no);
  await it.fail("b", never);
  const errors = [["error", no, "a", 1], ["error", never, "b", 2]];
  assertEquals([it.reports, pool.snapshot().failingItems], [errors, []]);
  await source.settle("a", true);
  await source.settle("b", true);
  assertEquals(it.reports, [...errors, ["given up", never, "b", 2, "maxRetries"]]);
  assertEquals(pool.snapshot().failingItems, [{ item: "a", attempts: 1, error: "Error: no", failedAgoMs: 0 }]);
  await pool.stop();
});

Deno.test("an ending for which the lease was lost is reported once, and does not count", async () => {
  const no = new Error("no");
  const endings: [how: string, act: (it: Setup) => Promise<void>, reports: number][] = [
    ["succeeded", (it) => it.end("a"), 0],
    ["failed", (it) => it.fail("a", no), 1],
    ["givenUp", (it) => it.fail("a", new TerminalError("gone")), 1],
  ];
  for (const [how, act, reported] of endings) {
    const it = new Setup();
    const { source, pool, reports } = it;
    await flush();
    await source.bring("a");
    await act(it);
    assertEquals([source.log[0], reports.length], [`${how} a`, reported]);
    await source.settle("a", false);
    assertEquals(reports.length, reported + 1, how);
    const [kind, error, item, attempt] = reports.at(-1)!;
    assertEquals([kind, item, attempt], ["error", "a", 1]);
    assertEquals(
      String(error),
      "Error: The lease of the item was lost before its handler ended, so the handler's result does not count",
    );
    assertEquals(codeOf(error), "WQ_LEASE_LOST");
    assertEquals(pool.snapshot().failingItems, []);
    await pool.stop();
  }
});

Deno.test("an ending with an unknown result is reported, and does not count", async () => {
  const it = new Setup({ maxRetries: 0 });
  const { source, pool, reports } = it;
  await flush();
  await source.bring("a");
  await it.fail("a", "no");
  source.finishes.get("a")!.reject("no connection");
  await flush();
  assertEquals(reports, [["error", "no", "a", 1], ["error", "no connection", "a", 1]]);
  await pool.stop();
});

Deno.test("a lost lease aborts the handler's signal, and the handler's error then becomes a cause", async () => {
  for (const isReadLate of [false, true]) {
    const lost = new Error("the lease ended");
    const wait = Promise.withResolvers<void>();
    const it = new Setup({}, undefined, async (_item, context) => {
      if (!isReadLate) void context.signal;
      await wait.promise;
      context.signal.throwIfAborted();
    });
    const { source, reports, pool } = it;
    await flush();
    await source.bring("a");
    source.leases.get("a")!.controller.abort(lost);
    wait.resolve();
    await flush();
    assertEquals([source.log, reports], [["failed a", "dispose a"], []]);
    await source.settle("a", false);
    assertEquals(reports.length, 1);
    assertStrictEquals((reports[0]![1] as Error).cause, lost);
    await pool.stop();
  }
});

Deno.test("a handler's signal listens to its lease and to the pool's signal while the handler runs, if it is read", async () => {
  for (const isRead of [true, false]) {
    const { signal } = new AbortController();
    const ofPool = countListeners(signal);
    const it = new Setup({ signal }, undefined, async (item, context) => {
      if (isRead) void context.signal;
      await flush();
      const expected = isRead ? 1 : 0;
      assertEquals([ofLeases.get(item)!(), ofPool()], [expected, 1 + expected]);
    });
    const { source, pool } = it;
    const ofLeases = new Map<string, () => number>();
    await flush();
    source.bringNow("a");
    ofLeases.set("a", countListeners(source.leases.get("a")!.signal));
    await flush();
    await flush();
    assertEquals([source.log, it.reports], [["succeeded a", "dispose a"], []]);
    assertEquals([ofLeases.get("a")!(), ofPool()], [0, 1]);
    await source.settle("a", true);
    await pool.stop();
  }
});

Deno.test("items that were fetched and not begun are given back when the pool is paused, stopped or made smaller", async () => {
  const ways: [how: string, change: (pool: WorkerPool<string>) => void, began: string[], back: string[]][] = [
    ["paused", (pool) => pool.pause(), [], ["unused b", "unused c", "handedBack a"]],
    ["stopped", (pool) => void pool.stop(), [], ["unused b", "unused c", "handedBack a"]],
    ["one", (pool) => pool.concurrency = 1, ["a"], ["unused b", "unused c"]],
    ["two", (pool) => pool.concurrency = 2, ["a", "b"], ["unused c"]],
    ["at once", (pool) => (pool.pause(), pool.resume()), ["a"], ["unused b", "unused c"]],
    ["as many", () => {}, ["a", "b", "c"], []],
  ];
  for (const [how, change, began, back] of ways) {
    const it = new Setup({ concurrency: 3 });
    const { source, pool } = it;
    await flush();
    source.bringNow("a", "b", "c"); // the pool has not seen the answer yet
    change(pool);
    await flush();
    assertEquals([...it.began].sort(), began, how);
    assertEquals(source.log.filter((line) => !line.startsWith("dispose")).sort(), [...back].sort(), how);
    assertEquals(source.log.includes("dispose a"), began.length === 0, how);
    for (const item of source.finishes.keys()) await source.settle(item, true);
    void pool.stop();
  }
});

Deno.test("items fetched for a pool that makes a pause are given back if the pool is stopped meanwhile", async () => {
  const remote = new RemoteQueue(
    createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 })),
  );
  for (let item = 0; item < 1000; item++) remote.queue.add(item);
  let calls = 0;
  const pool = runWorkers(remote, () => {
    beBusy(2);
    if (++calls === 20) queueMicrotask(() => void pool.stop());
  }, { concurrency: 100 });
  await pool.finished;
  await flush();
  assertEquals([remote.leases.size, remote.queue.length, remote.queue.processing], [0, 1000 - calls, 0]);
});

Deno.test("handing back an item is reported only if it fails", async () => {
  for (const answer of [true, false, "no connection"]) {
    const it = new Setup();
    const { source, pool, reports } = it;
    await flush();
    source.bringNow("a");
    pool.pause();
    await flush();
    assertEquals([it.began, source.log], [[], ["handedBack a", "dispose a"]]);
    if (typeof answer === "boolean") await source.settle("a", answer);
    else source.finishes.get("a")!.reject(answer);
    await pool.stop();
    assertEquals(reports, typeof answer === "boolean" ? [] : [["error", answer, "a", 1]]);
  }
});

Deno.test("rule 11: the pool decides an item's outcome, and the source receives it", async () => {
  const interruption = new AbortController();
  const no = new Error("no");
  const later = new RetryAfterError("2s");
  const cases: [handler: Handler<string>, ending: Ending, options?: WorkerOptions<string>][] = [
    [() => {}, { kind: "succeeded" }],
    [() => ({ requeue: false }), { kind: "succeeded" }],
    [() => ({ requeueAfter: "5s" }), { kind: "requeueAfter", delay: 5000, priority: undefined }],
    [() => ({ requeueAfter: 5, priority: 3 }), { kind: "requeueAfter", delay: 5, priority: 3 }],
    [() => ({ requeue: true, priority: -1 }), { kind: "requeue", priority: -1 }],
    [() => Promise.reject(no), { kind: "failed", error: no, minDelay: 0 }],
    [() => Promise.reject(later), { kind: "failed", error: later, minDelay: 2000 }],
    [() => Promise.reject(no), { kind: "givenUp", error: no, reason: "maxRetries" }, { maxRetries: 0 }],
    [
      () => {
        interruption.abort();
        throw no;
      },
      { kind: "handedBack" },
      { signal: interruption.signal },
    ],
  ];
  for (const [handler, ending, options] of cases) {
    const { source, pool } = new Setup(options, undefined, handler);
    await flush();
    await source.bring("a");
    assertEquals(source.finishes.get("a")!.ending, ending);
    await source.settle("a", true);
    await pool.stop();
  }
});

Deno.test("an ending that a source refuses is a failure, or gives the item up, and does not end the pool", async () => {
  const interruption = new AbortController();
  const cases: [handler: Handler<string>, refused: string[], log: string[], reports: string[]][] = [
    [() => ({ requeue: true }), ["requeue"], ["failed a"], ["error no requeue"]],
    [() => ({ requeueAfter: 5, priority: 3 }), ["requeueAfter"], ["failed a"], ["error no requeueAfter"]],
    [() => Promise.reject("x"), ["failed"], ["givenUp a"], ["error x", "error no failed", "given up no failed"]],
    [
      () => Promise.reject("x"),
      ["failed", "givenUp"],
      [],
      ["error x", "error no failed", "error no givenUp"],
    ],
    [
      (_item, { signal }) => {
        interruption.abort();
        return Promise.reject(signal.aborted ? "x" : "no signal");
      },
      ["handedBack"],
      ["failed a"],
      ["error no handedBack", "error x"],
    ],
  ];
  for (const [handler, refused, log, reports] of cases) {
    const it = new Setup({ signal: interruption.signal }, undefined, handler);
    const { source, pool } = it;
    source.check = ({ kind }) => {
      if (refused.includes(kind)) throw `no ${kind}`;
    };
    await flush();
    await source.bring("a");
    assertEquals(source.log, [...log, "dispose a"]);
    if (source.finishes.size > 0) await source.settle("a", true);
    assertEquals(it.reports.map(([kind, error]) => `${kind} ${error}`), reports);
    await pool.stop();
  }
});

Deno.test("an item that the source gives up because its limiter throws is reported and given up", async () => {
  const { source, pool, reports } = new Setup({}, undefined, () => Promise.reject("x"));
  await flush();
  await source.bring("a");
  await source.settle("a", { kind: "givenUp", error: "broken", reason: "limiter" });
  assertEquals(reports, [["error", "x", "a", 1], ["error", "broken", "a", 1], [
    "given up",
    "broken",
    "a",
    1,
    "limiter",
  ]]);
  assertEquals(pool.snapshot().failingItems, []);
  await pool.stop();
});

Deno.test("a source that accepts no items back is asked first: a failure gives up, and a requeue is success", async () => {
  const cases: [handler: Handler<string>, asked: string, ending: string][] = [
    [() => Promise.reject("no"), "failed", "givenUp a"],
    [() => ({ requeue: true }), "requeue", "succeeded a"],
  ];
  for (const [handler, asked, ending] of cases) {
    const reasons: string[] = [];
    const source: HandSource = Object.assign(new HandSource(), {
      takesBack: (attempt: WorkAttempt<string>, reason: string) => void reasons.push(`${reason} ${attempt.lease.item}`),
    });
    const { pool } = new Setup({}, source, handler);
    await flush();
    await source.bring("a");
    assertEquals([reasons, source.log[0]], [[`${asked} a`], ending]);
    await source.settle("a", true);
    await pool.stop();
  }
});

Deno.test("a pool is told of items given up elsewhere until it has ended", async () => {
  const callbacks = new Set<(given: GivenUpItem<string>) => void>();
  const source = () =>
    Object.assign(new HandSource(), {
      watchGivenUp(callback: (given: GivenUpItem<string>) => void) {
        callbacks.add(callback);
        return () => void callbacks.delete(callback);
      },
    });
  const { pool, reports } = new Setup({}, source());
  const error = new Error("lost");
  for (const callback of callbacks) callback({ item: "a", key: "a", attempts: 3, error, reason: "stalled" });
  assertEquals(reports, [["given up", error, "a", 3, "stalled"]]);
  await pool.stop();
  assertEquals(callbacks.size, 0);
  await new Setup({ signal: AbortSignal.abort() }, source()).pool.finished;
  assertEquals(callbacks.size, 0, "also of a pool that is over before it begins");
});

Deno.test("permits are acquired by the source if it supports this, and otherwise by the pool, one item at a time", async () => {
  for (const takesPermits of [true, false]) {
    const source: HandSource = Object.assign(new HandSource(), { takesPermits: () => takesPermits });
    const throttle = new TokenBucket(0, 2, { clock: source.clock });
    const it = new Setup({ throttle, concurrency: 3 }, source);
    await flush();
    const { request } = source;
    assertEquals(request!.throttle, takesPermits ? throttle as WorkRequest["throttle"] : undefined);
    assertEquals([request!.wanted(), throttle.tokens], [takesPermits ? 3 : 1, 2]);
    await source.bring("a");
    assertEquals([it.began, throttle.tokens], [["a"], takesPermits ? 2 : 1]);
    void it.pool.stop();
  }
});

Deno.test("an item that is handed back while the throttle is asked for its permit begins no attempt", async () => {
  let asked = 0;
  const throttle = adaptThrottle({
    acquire() {
      if (++asked === 2) { // the first permit found no item
        it.pool.pause();
        it.pool.resume();
      }
      return { begin() {}, charge() {}, end() {} };
    },
  });
  const it = new Setup({ throttle, concurrency: 2 });
  await flush();
  await it.source.bring("a");
  assertEquals([it.began, it.source.log], [[], ["handedBack a", "dispose a"]]);
  await it.source.settle("a", true);
  await it.pool.stop();
});

for (const limit of [undefined, 5]) {
  const name = `a source decides whether an attempt begins just before it does${limit ? ", with a throttle" : ""}`;
  Deno.test(name, async () => {
    const lost = new Set(["first", "b"]);
    const asked: string[] = [];
    const source: HandSource = Object.assign(new HandSource(), {
      attemptOf({ item }: WorkLease<string>) {
        asked.push(item);
        return lost.has(item) ? undefined : 1;
      },
    });
    const throttle = limit === undefined ? undefined : createConcurrencyThrottle({ limit });
    const it = new Setup({ concurrency: 5, throttle }, source, (item) => {
      assertEquals(asked.at(-1), item);
      if (item === "a") lost.add("c"); // the handler blocks the event loop until the lease of "c" has ended
    });
    await flush();
    await source.bring("first", "a", "b", "c", "d");
    assertEquals([it.began, asked], [["a", "d"], ["first", "a", "b", "c", "d"]]);
    assertEquals(source.log.filter((entry) => / (first|b|c)$/.test(entry)), [], "the source has handed them back");
    assertEquals([it.pool.active, throttle?.snapshot?.().inUse ?? 0], [0, 0]);
    for (const item of it.began) await source.settle(item, true);
    await it.pool.stop();
  });
}

Deno.test("a failed wait, or an item that can't be taken, makes finished reject", async () => {
  const failing = new Setup();
  await flush();
  failing.source.answer.reject(new Error("no connection"));
  await assertRejects(() => failing.pool.finished, Error, "no connection");

  const source: HandSource = Object.assign(new HandSource(), {
    tryTake() {
      throw new Error("no sense");
    },
  });
  await assertRejects(() => new Setup({}, source).pool.finished, Error, "no sense");
});

Deno.test("without onError, the log names the queue of the source", async () => {
  const lines: string[] = [];
  const { error } = console;
  console.error = (line: string) => void lines.push(line);
  try {
    const { source, pool } = new Setup({ onError: undefined }, undefined, () => Promise.reject("no"));
    await flush();
    await source.bring("a");
    await source.settle("a", true);
    await pool.stop();
  } finally {
    console.error = error;
  }
  assertEquals(lines, [`Item "a" of queue "hand" failed at attempt 1: "no"`]);
});

Deno.test("pausing, resuming, resizing and stopping a pool loses no lease, and no item has two holders", async () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomNumbers(seed);
    const upTo = (count: number) => Math.floor(random() * count);
    const remote = new RemoteQueue(
      createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), {
        clock: new HandClock(),
      }),
    );
    const { queue } = remote;
    const done = new Set<number>();
    const inside = new Set<number>();
    const options = { concurrency: 3, onError: (error: unknown) => assert(false, String(error)) };
    const pool = runWorkers(remote, async (item) => {
      assertFalse(inside.has(item) || done.has(item));
      inside.add(item);
      for (let turns = upTo(10); turns > 0; turns--) await undefined;
      inside.delete(item);
      done.add(item);
    }, options);
    let added = 0;
    const acts: (() => void)[] = [
      () => pool.pause(),
      () => pool.resume(),
      () => pool.concurrency = 1 + upTo(5),
      () => queue.add(added++),
      () => queue.add(added++),
      () => queue.add(added++),
    ];
    for (let step = 0; step < 60; step++) {
      acts[upTo(acts.length)]!();
      for (let turns = upTo(8); turns > 0; turns--) await undefined;
    }
    await pool.stop();
    await flush();
    assertEquals([remote.leases.size, queue.processing, done.size + queue.length], [0, 0, added], `seed ${seed}`);
  }
});
