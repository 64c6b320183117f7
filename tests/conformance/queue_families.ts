import { createDelayingQueue, createWorkQueue } from "@workqueue/core";
import { buildLimiter } from "./limiter_families.ts";
import { DelayingReplay, DRAINED, DRAINING, Listener, OPEN, QueueReplay, RateLimitingReplay } from "./queue_replay.ts";
import { Metrics } from "./recorded_metrics.ts";
import { StepClock } from "./step_clock.ts";
import type { Trace } from "./trace.ts";

/** Replays a trace of a work queue (layer 1). */
export function replayFifo(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new QueueReplay(trace, createWorkQueue<number>({ clock }), clock)
    .run();
}

/** Replays a trace of a delaying queue (layer 2). */
export function replayDelaying(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new DelayingReplay(
    trace,
    createDelayingQueue<number>({ clock }),
    clock,
  ).run();
}

/** Replays a trace of a rate-limiting queue (layer 3) with a limiter. */
export function replayRateLimiting(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new RateLimitingReplay(
    trace,
    new Listener(buildLimiter(trace.limiter(), clock)),
    clock,
  ).run();
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
    this.metrics.compare(this.trace);
  }
}

/** Replays a trace with client-go's seven metrics on a delaying queue. */
export function replayMetrics(trace: Trace): Promise<void> {
  return new MeasuredReplay(trace, new Metrics(), new StepClock()).run();
}

interface Due {
  readonly item: number;
  readonly deadline: number;
}

/**
 * Replay of items with equal deadlines. Both queues hand out items with different deadlines in the order of the
 * deadlines. client-go hands out items due at the same time in any order. In this package, items due at the same time
 * are handed out in the order in which they were added.
 */
class EqualDeadlinesReplay extends DelayingReplay {
  #time = 0;
  /** Delayed items, in the order added. */
  readonly #delayed = new Map<number, Due>();
  /** Ready items, in the expected order. */
  #ready: Due[] = [];

  override perform(operation: string): void | Promise<void> {
    switch (operation) {
      case "addAfter": {
        const item = this.trace.next();
        const delay = this.trace.next();
        this.queue.addAfter(item, delay / 1e6);
        const deadline = Math.min(
          this.#time + delay,
          this.#delayed.get(item)?.deadline ?? Infinity,
        );
        this.#delayed.set(item, { item, deadline });
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
    const due = [...this.#delayed.values()].filter(({ deadline }) => deadline <= this.#time);
    for (const next of due.sort((a, b) => a.deadline - b.deadline)) {
      this.#delayed.delete(next.item);
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

/** Replays items that are due at the same time. */
export function replayEqualDeadlines(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new EqualDeadlinesReplay(
    trace,
    createDelayingQueue<number>({ clock }),
    clock,
  ).run();
}

/**
 * Replay of a drain with ready items. client-go's `ShutDownWithDrain` returns once no item is processing. In this
 * package, `shutDownWithDrain` also waits until no item is ready. In both packages, `shutDown` ends the drain.
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
      (this.queue.length === 0 && this.processing.size === 0);
    this.trace.equal(
      "status",
      status,
      !isDraining ? OPEN : isDrained ? DRAINED : DRAINING,
    );

    if (isDraining && (this.#isShutDown || this.processing.size === 0)) {
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

/** Replays drains that begin while items are ready, or while items that are processing have been added again. */
export function replayDrainWithReadyItems(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new DrainReplay(trace, createWorkQueue<number>({ clock }), clock)
    .run();
}

/**
 * Replay of `done` for a ready item that is not processing. client-go makes the item ready once more, behind the
 * others, so the item is handed out twice. In this package, the call is ignored.
 */
class DoneOfReadyReplay extends QueueReplay {
  /** Items, in order, that become ready a second time in client-go but not in this package. */
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
    if (!this.processing.has(item)) {
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

/** Replays calls to `done` for ready items. */
export function replayDoneOfReadyItem(trace: Trace): Promise<void> {
  const clock = new StepClock();
  return new DoneOfReadyReplay(trace, createWorkQueue<number>({ clock }), clock)
    .run();
}
