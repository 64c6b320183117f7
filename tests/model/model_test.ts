/**
 * Comparison of the rate-limiting queue with a plain model, under random operations.
 *
 * `WORKQUEUE_RUNS=1000000 deno task test tests/model/` runs more operations. A failure prints the seed and the shortest
 * failing sequence.
 */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import * as fc from "fast-check";
import {
  type AddOptions,
  createRateLimitingQueue,
  createRetryBudget,
  type Lease,
  type QueueDiscipline,
  type RateLimiter,
  type RetryBudgetOptions,
  type WorkLease,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flushPromises, Lifo, sourceOf } from "../queue_helpers.ts";
import { delayAfter, type Entry, type Item, type Next, PlainQueue } from "./plain_queue.ts";

/** Number of runs of all tests together. Of planted bugs, the rarest was found after 51 runs of one test. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 1000);
const KEYS = 4;

const key = fc.nat(KEYS - 1);
/** Index of the operation's target, modulo the number of targets. */
const which = fc.nat(7);
const delay = fc.integer({ min: -1, max: 40 });
/** Priority of an add. If `undefined`, the item is added without options. */
const priority = fc.constantFrom(undefined, undefined, -7, 0, 3, 8);

const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("add" as const), key, priority }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("addAfter" as const), key, delay, priority }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("addRateLimited" as const),
      key,
      priority,
      minDelay: fc.constantFrom(undefined, undefined, 0, 20),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("addAllRateLimited" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancelDelayed" as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("whenIdle" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("whenBelow" as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compareFailures" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("tryGet" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("get" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("getAborted" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("abort" as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("done" as const), key }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("dispose" as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("fail" as const), which, minDelay: fc.constantFrom(0, 0, 20) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("requeue" as const, "handBack" as const), which }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.nat(50) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("sleep" as const), ms: fc.integer({ min: 1, max: 86_400_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("shutDown" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("abortDrain" as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("drain" as const), policy: fc.constantFrom("drop", "flush", "wait") }),
  },
);
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

/** Applies each operation to the queue and to the model, and compares all visible state. */
class Comparison {
  readonly clock = new HandClock();
  readonly model: PlainQueue;
  readonly queue;
  /** Ends attempts as a pool does. */
  readonly source;
  /** All leases ever handed out. `isCurrent` is false for stale leases. The test disposes of stale leases too. */
  readonly leases: { lease: WorkLease<Item>; isCurrent: boolean }[] = [];
  readonly controllers: { name: string; controller: AbortController }[] = [];
  readonly drains: { name: string; controller: AbortController }[] = [];
  readonly given: PlainQueue["given"] = [];
  readonly dropped: Item[] = [];
  #versions = 0;
  #names = 0;

  constructor(
    readonly order: Order,
    addWhileDelayed: "keep" | "replace" | "fold",
    readonly retryBudget: RetryBudgetOptions | undefined,
    readonly forgetAfter: number | undefined,
  ) {
    const { next, discipline } = order;
    this.model = new PlainQueue(next, addWhileDelayed, retryBudget, forgetAfter ?? Infinity);
    this.queue = createRateLimitingQueue<Item>(
      forgetAfter === undefined ? new CountingLimiter() : new PlainLimiter(),
      {
        forgetAfter,
        keyOf: (item) => item.key,
        clock: this.clock,
        discipline: discipline?.(),
        retriesFirst: order.retriesFirst,
        addWhileDelayed,
        retryBudget: retryBudget && createRetryBudget(retryBudget),
        onDrop: (item) => void this.dropped.push(item),
      },
    );
    this.source = sourceOf(this.queue);
  }

  async do(operation: Operation): Promise<void> {
    const { model, queue } = this;
    switch (operation.do) {
      case "add": {
        const item = this.#item(operation.key);
        queue.add(item, optionsOf(operation));
        model.add(item, operation.priority ?? 0);
        break;
      }
      case "addAfter": {
        const item = this.#item(operation.key);
        queue.addAfter(item, operation.delay, optionsOf(operation));
        model.addAfter(item, operation.delay, operation.priority ?? 0);
        break;
      }
      case "addRateLimited": {
        const item = this.#item(operation.key);
        const { priority, minDelay } = operation;
        queue.addRateLimited(item, { priority, minDelay });
        model.addRateLimited(item, priority ?? 0, minDelay ?? 0);
        break;
      }
      case "addAllRateLimited":
        for (let key = 0; key < KEYS; key++) {
          const item = this.#item(key);
          queue.addRateLimited(item);
          model.addRateLimited(item, 0, 0);
        }
        break;
      case "cancelDelayed":
        assertEquals(queue.cancelDelayed({ key: operation.key, version: -1 }), model.cancelDelayed(operation.key));
        break;
      case "whenIdle":
        this.#wait((signal) => queue.whenIdle({ signal }), (name) => model.whenIdle(name));
        break;
      case "whenBelow": {
        const { count } = operation;
        this.#wait((signal) => queue.whenBelow(count, { signal }), (name) => model.whenBelow(name, count));
        break;
      }
      case "forget":
        queue.forget({ key: operation.key, version: -1 });
        model.forget(operation.key);
        break;
      case "compareFailures":
        this.#compareFailures();
        break;
      case "tryGet": {
        const lease = queue.tryGet();
        const entry = model.take();
        assertEquals([lease?.item, lease?.priority], [entry?.item, entry?.priority]);
        if (lease !== undefined) this.#hold(lease);
        break;
      }
      case "get":
        this.#get();
        break;
      case "getAborted":
        await queue.get({ signal: AbortSignal.abort("before") }).then(
          () => assert(false, "an aborted signal takes nothing"),
          (reason) => assertEquals(reason, "before"),
        );
        break;
      case "abort": {
        const pending = pick(this.controllers, operation.which);
        pending?.controller.abort("aborted");
        if (pending !== undefined) model.abort(pending.name);
        break;
      }
      case "done":
        queue.done({ key: operation.key, version: -1 });
        this.#end(operation.key);
        break;
      case "dispose": {
        const processing = pick(this.leases, operation.which);
        if (processing === undefined) break;
        processing.lease[Symbol.dispose]();
        if (processing.isCurrent) this.#end(processing.lease.item.key);
        break;
      }
      case "fail": {
        const processing = pick(this.leases.filter(({ isCurrent }) => isCurrent), operation.which);
        if (processing === undefined) break;
        const { key } = processing.lease.item;
        const attempt = { lease: processing.lease, key, number: 1 };
        assertEquals(this.source.takesBack(attempt, "failed"), model.takesBack(key), "takesBack");
        if (model.takesBack(key)) {
          const { minDelay } = operation;
          this.source.finish(attempt, { kind: "failed", error: "no", minDelay }, (error) => {
            throw error;
          });
          model.fail(key, minDelay);
        }
        processing.lease[Symbol.dispose]();
        this.#end(key);
        break;
      }
      case "requeue":
      case "handBack": {
        const processing = pick(this.leases.filter(({ isCurrent }) => isCurrent), operation.which);
        if (processing === undefined) break;
        const { key } = processing.lease.item;
        const attempt = { lease: processing.lease, key, number: 1 };
        const [kind, reason] = operation.do === "requeue"
          ? ["requeue", "requeue"] as const
          : ["handedBack", "handedBack"] as const;
        if (this.source.takesBack(attempt, reason)) {
          this.source.finish(attempt, { kind, delay: undefined } as never, (error) => {
            throw error;
          });
          model[operation.do](key);
        }
        processing.lease[Symbol.dispose]();
        this.#end(key);
        break;
      }
      case "pass":
        await this.#advance(operation.ms);
        model.pass(operation.ms);
        break;
      case "sleep": // the machine sleeps: no timer fires until it wakes
        this.clock.time += operation.ms;
        await this.#advance(0);
        model.sleep(operation.ms);
        break;
      case "shutDown":
        queue.shutDown();
        model.shutDown();
        break;
      case "drain": {
        const name = `drain ${this.#names++}`;
        const controller = new AbortController();
        this.drains.push({ name, controller });
        queue.shutDownWithDrain({ delayed: operation.policy, signal: controller.signal }).then(
          () => this.given.push({ to: name, what: "drained" }),
          (reason) => this.given.push({ to: name, what: reason }),
        );
        model.drain(name, operation.policy);
        break;
      }
      case "abortDrain": {
        const draining = pick(this.drains, operation.which);
        draining?.controller.abort("aborted");
        if (draining !== undefined) model.abortDrain(draining.name);
        break;
      }
    }
    await flushPromises();
    this.compare();
  }

  compare(): void {
    const { model, queue } = this;
    assertEquals(queue.length, model.ready.length, "length");
    assertEquals(queue.delayed, model.delayed.length, "delayed");
    assertEquals(queue.processing, model.processing.length, "processing");
    assertEquals(queue.shuttingDown, model.closed !== "no", "shuttingDown");
    const { readyItems, delayedItems, processingItems, ...counts } = queue.snapshot();
    assertEquals(counts, {
      name: "",
      ready: model.ready.length,
      blocked: model.blocked.length,
      delayed: model.delayed.length,
      processing: model.processing.length,
    }, "counts of the snapshot");
    if (this.order.peek !== undefined) assertEquals(readyItems, listed(this.order.peek(model.ready)), "ready items");
    else if (model.blocked.length === 0) { // otherwise, the snapshot may list blocked items
      assertEquals(readyItems.toSorted(byKey), listed(model.ready.toSorted(byKey)), "ready items");
    }
    assertEquals(
      delayedItems,
      model.delayed.toSorted((a, b) => a.deadline - b.deadline)
        .map(({ item, priority, deadline }) => ({ item, priority, dueInMs: Math.max(deadline - model.now, 0) })),
      "delayed items",
    );
    assertEquals(
      processingItems.toSorted(byKey),
      listed(model.processing.toSorted(byKey))
        .map((entry) => ({ ...entry, addedAgain: isAmong(model.again, entry.item.key) })),
      "processing items",
    );
    for (const { lease, isCurrent } of this.leases) {
      assertEquals(lease.addedAgain(), isCurrent && isAmong(model.again, lease.item.key), "addedAgain of a lease");
    }
    if (this.forgetAfter === undefined) this.#compareFailures();
    assertEquals(this.dropped.toSorted(byVersion), model.dropped.toSorted(byVersion), "what was dropped");
    assertEquals(byReceiver(this.given), byReceiver(model.given), "what was given to the calls that waited");
    const timers = [model.delayed.length > 0, model.opensByTimerAt < Infinity].filter((isSet) => isSet).length;
    assertEquals(this.clock.timers, timers, "rules 6 and 7: one timer for delays, one for retries, none without need");
    const processing = this.leases.filter(({ isCurrent }) => isCurrent).map(({ lease }) => lease.item.key);
    assertEquals(processing.length, new Set(processing).size, "rule 2: one holder a key");
  }

  /** Compares the failures. With `forgetAfter`, this forgets the expired ones, so it is not done each time. */
  #compareFailures(): void {
    assertEquals(this.source.failing, this.model.failing, "failing");
    for (let key = 0; key < KEYS; key++) {
      const failures = this.queue.numRequeues({ key, version: -1 });
      assertEquals(failures, this.model.numRequeues(key), `numRequeues of ${key}`);
    }
  }

  /** Checks that every accepted item is eventually handed out. */
  async finish(): Promise<void> {
    const { ready, again, delayed, blocked } = this.model;
    const isCertain = ({ start }: Entry) => start !== "retry" || this.retryBudget?.minRate !== 0;
    const left = new Set(
      [...ready, ...[...again, ...delayed, ...blocked].filter(isCertain)].map(({ item }) => item.key),
    );
    const seen = new Set<number>();
    const givenBefore = this.given.length;
    for (let round = 0; round < 3; round++) {
      for (const { lease, isCurrent } of this.leases) {
        if (isCurrent) this.#end(lease.item.key);
        lease[Symbol.dispose]();
      }
      await this.#advance(1000);
      this.model.pass(1000);
      await flushPromises();
      this.compare();
      for (const { what } of this.given.slice(givenBefore)) if (typeof what === "object") seen.add(what.key);
      for (let lease = this.queue.tryGet(); lease !== undefined; lease = this.queue.tryGet()) {
        this.model.take();
        this.#hold(lease);
        seen.add(lease.item.key);
      }
    }
    for (const key of left) assert(seen.has(key), `key ${key} was lost`);
    this.queue.shutDown();
    assertEquals(this.clock.timers, 0);
  }

  /** Moves the clock. There are no pools, so flushing promises is enough to let all work settle. */
  #advance(ms: number): Promise<void> {
    return this.clock.advance(ms, flushPromises);
  }

  #item(key: number): Item {
    return { key, version: this.#versions++ };
  }

  #get(): void {
    const name = `get ${this.#names++}`;
    const controller = new AbortController();
    this.controllers.push({ name, controller });
    this.model.get(name);
    this.queue.get({ signal: controller.signal }).then((lease) => {
      this.given.push({ to: name, what: lease.shutdown ? "shutdown" : lease.item });
      if (!lease.shutdown) this.#hold(lease);
    }, (reason) => this.given.push({ to: name, what: reason }));
  }

  #wait(start: (signal: AbortSignal) => Promise<void>, startInModel: (name: string) => void): void {
    const name = `wait ${this.#names++}`;
    const controller = new AbortController();
    this.controllers.push({ name, controller });
    start(controller.signal).then(
      () => this.given.push({ to: name, what: "over" }),
      (reason) => this.given.push({ to: name, what: reason }),
    );
    startInModel(name);
  }

  #hold(lease: Lease<Item>): void {
    this.leases.push({ lease: lease as WorkLease<Item>, isCurrent: true });
  }

  #end(key: number): void {
    for (const processing of this.leases) if (processing.lease.item.key === key) processing.isCurrent = false;
    this.model.done(key);
  }
}

function pick<T>(all: T[], which: number): T | undefined {
  return all[which % all.length];
}

/**
 * Sorts results by the name of the call, because calls that are served at the same moment may continue in any order.
 */
function byReceiver(given: PlainQueue["given"]): PlainQueue["given"] {
  return given.toSorted((a, b) => a.to < b.to ? -1 : 1);
}

function optionsOf({ priority }: { priority: number | undefined }): AddOptions | undefined {
  return priority === undefined ? undefined : { priority };
}

function isAmong(entries: readonly Entry[], key: number): boolean {
  return entries.some(({ item }) => item.key === key);
}

function byVersion(a: Item, b: Item): number {
  return a.version - b.version;
}

function byKey(a: Listed, b: Listed): number {
  return a.item.key - b.item.key;
}

/** Entry as a snapshot lists it. */
type Listed = Pick<Entry, "item" | "priority">;

function listed(entries: readonly Entry[]): Listed[] {
  return entries.map(({ item, priority }) => ({ item, priority }));
}

/** Limiter for a queue that counts the failures itself, so it can forget them. */
class PlainLimiter implements RateLimiter<Item> {
  when(): never {
    throw new Error("The queue calls next");
  }

  next(failures: number): number {
    return delayAfter(failures - 1);
  }

  forget(): void {}

  numRequeues(): number {
    return 0;
  }
}

/** Limiter that counts the failures itself. */
class CountingLimiter implements RateLimiter<Item> {
  readonly #failures: number[] = [];

  when(_item: Item, key: unknown): number {
    const failures = this.numRequeues(_item, key);
    this.#failures[key as number] = failures + 1;
    return delayAfter(failures);
  }

  forget(_item: Item, key: unknown): void {
    delete this.#failures[key as number];
  }

  numRequeues(_item: Item, key: unknown): number {
    return this.#failures[key as number] ?? 0;
  }
}

/** Order of the ready items: in the model, in the queue, and in snapshots if the discipline supports `peek`. */
interface Order {
  readonly name: string;
  readonly next: Next;
  readonly discipline?: () => QueueDiscipline<Item>;
  readonly retriesFirst?: boolean;
  readonly peek?: (ready: readonly Entry[]) => readonly Entry[];
}

const ORDERS: readonly Order[] = [
  { name: "first in, first out", next: (ready) => ready[0], peek: (ready) => ready },
  {
    name: "retries first",
    next: (ready) => retriesFirst(ready)[0],
    retriesFirst: true,
    peek: retriesFirst,
  },
  {
    name: "last in, first out",
    next: (ready) => ready.at(-1),
    discipline: () => new Lifo<Item>(),
  },
];

function retriesFirst(ready: readonly Entry[]): readonly Entry[] {
  return ready.toSorted((a, b) => Number(b.start === "retry") - Number(a.start === "retry"));
}

/** Retry budgets: of nothing, of credit, and of a rate whose retries are at whole milliseconds. */
const BUDGETS: readonly RetryBudgetOptions[] = [
  { ratio: 0, minRate: 0 },
  { ratio: 0.4, minRate: 0 },
  { ratio: 0, minRate: 25 },
];

/** Times after which failures are forgotten. */
const FORGET_AFTER = [0, 30];

for (const order of ORDERS) {
  for (const addWhileDelayed of ["keep", "replace", "fold"] as const) {
    const compare = async (runs: number, budget?: RetryBudgetOptions, forgetAfter?: number) => {
      const property = fc.asyncProperty(fc.array(operation, { maxLength: 80, size: "max" }), async (operations) => {
        const comparison = new Comparison(order, addWhileDelayed, budget, forgetAfter);
        for (const each of operations) await comparison.do(each);
        await comparison.finish();
      });
      await fc.assert(property, { numRuns: Math.ceil(runs) });
    };
    const runs = RUNS / ORDERS.length / 2;
    Deno.test(`rules 1 to 8: the queue does the same as a model, ${order.name}, ${addWhileDelayed}`, async () => {
      await compare(runs);
    });
    Deno.test(`rule 14: the queue does the same as a model, ${order.name}, ${addWhileDelayed}`, async () => {
      for (const forgetAfter of FORGET_AFTER) await compare(runs / FORGET_AFTER.length, undefined, forgetAfter);
    });
    Deno.test(`rule 18: the queue does the same as a model, ${order.name}, ${addWhileDelayed}`, async () => {
      for (const budget of BUDGETS) await compare(runs / BUDGETS.length, budget);
    });
  }
}
