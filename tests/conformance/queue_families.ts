import {
  createDelayingQueue,
  createRateLimitingQueue,
  createWorkQueue,
  type DelayingQueue,
  type Lease,
  type MetricsProvider,
  type RateLimiter,
  type RateLimitingQueue,
  type WorkQueue,
} from "@workqueue/core";
import { buildLimiter, LONGEST_DELAY } from "./limiter_families.ts";
import { StepClock } from "./step_clock.ts";
import type { Trace } from "./trace.ts";

/** What shutting down has come to. The length and this are recorded after each operation. */
const OPEN = 0;
const SHUT_DOWN = 1;
const DRAINING = 2;
const DRAINED = 3;

/** Performs the recorded operations on a queue. A family extends it by what it has beside. */
class QueueReplay<Q extends WorkQueue<number> = WorkQueue<number>> {
  /** The items that are handed out, each with its lease if that was kept. */
  readonly held = new Map<number, Lease<number> | undefined>();
  /** Whether the last drain has ended; `undefined` before the first. */
  drained: boolean | undefined;
  /** Every other trace takes and gives back by leases, which must come to the same. */
  readonly usesLeases: boolean;

  constructor(
    readonly trace: Trace,
    readonly queue: Q,
    readonly clock: StepClock,
  ) {
    this.usesLeases = trace.index % 2 === 1;
  }

  async run(): Promise<void> {
    for (
      let operation = this.trace.operation();
      operation !== undefined;
      operation = this.trace.operation()
    ) {
      await this.perform(operation);
      if (this.drained === false) await settle();
      this.compareState();
    }
    this.queue.shutDown();
  }

  perform(operation: string): void | Promise<void> {
    switch (operation) {
      case "add":
        return this.queue.add(this.trace.next());
      case "get":
        return this.get();
      case "done":
        return this.done(this.trace.next());
      case "wait":
        return this.clock.step(this.trace.next());
      case "shutDown":
        return this.queue.shutDown();
      case "drain":
        return this.drain();
      default:
        throw new Error(`Cannot replay ${operation}`);
    }
  }

  compareState(): void {
    this.trace.same("length", this.queue.length);
    this.trace.same("status", this.status());
  }

  status(): number {
    if (!this.queue.shuttingDown) return OPEN;
    if (this.drained === undefined) return SHUT_DOWN;
    return this.drained ? DRAINED : DRAINING;
  }

  /** client-go had an item ready or was shut down, so that nothing waits here. */
  async get(): Promise<void> {
    const { length, shuttingDown } = this.queue;
    if (length === 0 && !shuttingDown) {
      this.trace.fail("item", "none", this.trace.next());
    }
    const lease = this.usesLeases ? this.queue.tryGet() : undefined;
    const { item = -1 } = lease ?? await this.queue.get();
    this.trace.same("item", item);
    if (item >= 0) this.held.set(item, lease);
  }

  done(item: number): void {
    const lease = this.held.get(item);
    if (lease === undefined) this.queue.done(item);
    else lease[Symbol.dispose]();
    this.held.delete(item);
  }

  drain(): void {
    this.drained = false;
    this.queue.shutDownWithDrain().then(() => this.drained = true);
  }
}

/** Lets promises settle: more turns than a drain takes. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

/** Layer 1. */
export function replayFifo(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new QueueReplay(trace, createWorkQueue<number>({ clock }), clock)
    .run();
}

class DelayingReplay<Q extends DelayingQueue<number> = DelayingQueue<number>> extends QueueReplay<Q> {
  override perform(operation: string): void | Promise<void> {
    if (operation !== "addAfter") return super.perform(operation);
    this.queue.addAfter(this.trace.next(), this.trace.next() / 1e6);
  }
}

/** Layer 2. */
export function replayDelaying(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new DelayingReplay(
    trace,
    createDelayingQueue<number>({ clock }),
    clock,
  ).run();
}

/** A limiter that remembers its last delay. */
class Listener implements RateLimiter<number> {
  delay = 0;

  constructor(readonly limiter: RateLimiter<number>) {}

  when(item: number): number {
    return this.delay = this.limiter.when(item);
  }

  forget(item: number): void {
    this.limiter.forget(item);
  }

  numRequeues(item: number): number {
    return this.limiter.numRequeues(item);
  }
}

class RateLimitingReplay extends DelayingReplay<RateLimitingQueue<number>> {
  constructor(trace: Trace, readonly limiter: Listener, clock: StepClock) {
    super(trace, createRateLimitingQueue(limiter, { clock }), clock);
  }

  override perform(operation: string): void | Promise<void> {
    switch (operation) {
      case "addRateLimited":
        this.queue.addRateLimited(this.trace.next());
        this.trace.delay(this.limiter.delay, LONGEST_DELAY);
        return;
      case "forget":
        return this.queue.forget(this.trace.next());
      case "numRequeues":
        return this.trace.same(
          "requeues",
          this.queue.numRequeues(this.trace.next()),
        );
      default:
        return super.perform(operation);
    }
  }
}

/** Layer 3, over a limiter. */
export function replayRateLimiting(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new RateLimitingReplay(
    trace,
    new Listener(buildLimiter(trace.limiter(), clock)),
    clock,
  ).run();
}

/** Times here are whole nanoseconds, but sums of seconds are off by a little. */
function toNs(seconds: number): number {
  return Math.round(seconds * 1e9);
}

/** The values of one queue's metrics. */
class Metrics implements MetricsProvider {
  readonly values = {
    depth: 0,
    adds: 0,
    retries: 0,
    unfinished: 0,
    longest: 0,
  };
  readonly latencies: number[] = [];
  readonly durations: number[] = [];

  depth = () => this.#counter("depth");
  adds = () => this.#counter("adds");
  retries = () => this.#counter("retries");
  unfinishedWork = () => this.#gauge("unfinished");
  longestRunningProcessor = () => this.#gauge("longest");
  queueLatency = () => ({
    observe: (seconds: number) => void this.latencies.push(seconds),
  });
  workDuration = () => ({
    observe: (seconds: number) => void this.durations.push(seconds),
  });

  #counter(name: "depth" | "adds" | "retries") {
    return {
      inc: () => void this.values[name]++,
      dec: () => void this.values[name]--,
    };
  }

  #gauge(name: "unfinished" | "longest") {
    return { set: (seconds: number) => void (this.values[name] = seconds) };
  }
}

class MeasuredReplay extends DelayingReplay {
  constructor(trace: Trace, readonly metrics: Metrics, clock: StepClock) {
    super(
      trace,
      createDelayingQueue<number>({ name: "measured", clock, metrics }),
      clock,
    );
  }

  override compareState(): void {
    super.compareState();
    const { depth, adds, retries, unfinished, longest } = this.metrics.values;
    this.trace.same("depth", depth);
    this.trace.same("adds", adds);
    this.trace.same("retries", retries);
    this.trace.same("unfinished work in ns", toNs(unfinished));
    this.trace.same("longest running processor in ns", toNs(longest));
    this.#compareObservations("queue latency", this.metrics.latencies);
    this.#compareObservations("work duration", this.metrics.durations);
  }

  /** Compares what was observed since the last operation: recorded as nanoseconds, after their number. */
  #compareObservations(what: string, observed: number[]): void {
    this.trace.same(`observations of ${what}`, observed.length);
    for (const seconds of observed.splice(0)) {
      this.trace.same(`${what} in ns`, toNs(seconds));
    }
  }
}

/** The seven metrics, on layer 2. */
export function replayMetrics(trace: Trace): Promise<void> {
  return new MeasuredReplay(trace, new Metrics(), new StepClock()).run();
}

interface Due {
  readonly item: number;
  readonly deadline: number;
}

/**
 * Equal deadlines: client-go hands out items that are due at the same time in any order, we in the order in
 * which they were added. Those of different deadlines come in the order of these, here and there.
 */
class EqualDeadlinesReplay extends DelayingReplay {
  #time = 0;
  /** What waits, in the order of adding. */
  readonly #waiting = new Map<number, Due>();
  /** What is ready, in the order that we promise. */
  #ready: Due[] = [];

  override perform(operation: string): void | Promise<void> {
    switch (operation) {
      case "addAfter": {
        const item = this.trace.next();
        const delay = this.trace.next();
        this.queue.addAfter(item, delay / 1e6);
        const deadline = Math.min(
          this.#time + delay,
          this.#waiting.get(item)?.deadline ?? Infinity,
        );
        this.#waiting.set(item, { item, deadline });
        return;
      }
      case "wait": {
        const ns = this.trace.next();
        this.clock.step(ns);
        return this.#pass(ns);
      }
      case "takeAll":
        return this.#takeAll();
      default:
        throw new Error(`Cannot replay ${operation}`);
    }
  }

  #pass(ns: number): void {
    this.#time += ns;
    const due = [...this.#waiting.values()].filter(({ deadline }) => deadline <= this.#time);
    for (const next of due.sort((a, b) => a.deadline - b.deadline)) {
      this.#waiting.delete(next.item);
      if (!this.#ready.some(({ item }) => item === next.item)) {
        this.#ready.push(next);
      }
    }
  }

  #takeAll(): void {
    const promised = this.#ready;
    this.#ready = [];
    const recorded = Array.from(
      { length: this.trace.next() },
      () => this.trace.next(),
    );
    for (const { item } of promised) {
      const lease = this.queue.tryGet();
      this.trace.equal("item in the order of adding", lease?.item, item);
      lease?.[Symbol.dispose]();
    }
    this.trace.equal(
      "number of items of client-go",
      new Set(recorded).size,
      promised.length,
    );
    for (const [i, { deadline }] of promised.entries()) {
      const due = promised.find(({ item }) => item === recorded[i]);
      this.trace.equal(
        "deadline of the item of client-go",
        due?.deadline,
        deadline,
      );
    }
    if (recorded.some((item, i) => item !== promised[i]!.item)) {
      this.trace.except("equal-deadlines");
    }
  }
}

/** Items that are due at the same time. */
export function replayEqualDeadlines(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new EqualDeadlinesReplay(
    trace,
    createDelayingQueue<number>({ clock }),
    clock,
  ).run();
}

/**
 * Drain with ready items: client-go's `ShutDownWithDrain` returns as soon as nobody holds an item, ours when
 * nothing is ready either. `shutDown` ends both.
 */
class DrainReplay extends QueueReplay {
  #isShutDown = false;
  #clientGoDrained = false;

  override perform(operation: string): void | Promise<void> {
    if (operation === "shutDown") this.#isShutDown = true;
    return super.perform(operation);
  }

  override compareState(): void {
    this.trace.same("length", this.queue.length);
    const status = this.status();
    const isDraining = this.drained !== undefined;
    const isDrained = this.#isShutDown ||
      (this.queue.length === 0 && this.held.size === 0);
    this.trace.equal(
      "status",
      status,
      !isDraining ? OPEN : isDrained ? DRAINED : DRAINING,
    );

    if (isDraining && (this.#isShutDown || this.held.size === 0)) {
      this.#clientGoDrained = true;
    }
    const recorded = this.trace.next();
    this.trace.equal(
      "status of client-go",
      recorded,
      this.#clientGoDrained ? DRAINED : status,
    );
    if (recorded !== status) this.trace.except("drain-with-ready-items");
  }
}

/** A drain while items are ready, or held and added again. */
export function replayDrainWithReadyItems(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new DrainReplay(trace, createWorkQueue<number>({ clock }), clock)
    .run();
}

/**
 * Done of a ready item that nobody holds: client-go makes it ready once more, behind the others, so that it is
 * handed out twice. We ignore it.
 */
class DoneOfReadyReplay extends QueueReplay {
  /** What client-go has ready beside what we have, in order. */
  readonly #extra: number[] = [];

  override async get(): Promise<void> {
    if (this.queue.length > 0 || this.#extra.length === 0) {
      return await super.get();
    }
    this.trace.same(
      "item that client-go hands out twice",
      this.#extra.shift()!,
    );
  }

  override done(item: number): void {
    if (!this.held.has(item)) {
      this.#extra.push(item);
      this.trace.except("done-of-ready-item");
    }
    super.done(item);
  }

  override compareState(): void {
    this.trace.same(
      "length, and the items twice",
      this.queue.length + this.#extra.length,
    );
    this.trace.same("status", this.status());
  }
}

/** Items that are ready are said to be done. */
export function replayDoneOfReadyItem(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new DoneOfReadyReplay(trace, createWorkQueue<number>({ clock }), clock)
    .run();
}
