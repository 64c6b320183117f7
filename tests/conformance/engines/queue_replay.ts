/**
 * Replay of recorded operations on a queue of an engine.
 *
 * A queue's time in an engine grows with each read, to break ties. Ten operations at the same moment of a trace thus
 * take about twenty microseconds. Queues are therefore replayed in slow motion: one nanosecond of the trace is ten
 * microseconds of the store. Delays and rates are stretched accordingly. In slow motion, the growth per operation is
 * less than one nanosecond of the trace.
 *
 * @module
 */

import { type DisciplineConfig, disciplines, type LimiterConfig, limiters } from "@workqueue/core";
import type { Engine, TurnRequest } from "@workqueue/engine";
import { planDiscipline } from "../../../packages/engine/discipline_plan.ts";
import { planLimiter } from "../../../packages/engine/limiter_plan.ts";
import { addRateLimited, START } from "../../contracts/engine_bench.ts";
import type { Trace } from "../trace.ts";
import { configOf } from "./limiter_config.ts";
import type { Place } from "./store.ts";

/** Microseconds of the store per nanosecond of a trace. */
const SLOWNESS = 10;
/**
 * Latest deadline in an engine, in microseconds since 1970. Later deadlines count as never, because larger numbers are
 * not exact.
 */
const FOREVER = 2 ** 53 - 1;

/** Error that ends the replay of a trace when the results of the engine can no longer be predicted. */
export class EndOfTrace extends Error {}

/** Limiter of queues whose traces have none. */
const BACKOFF = { type: "exponential", baseDelay: 10, maxDelay: 1000 } as const;

/** Settings of the queue on which a trace is replayed. */
export interface QueueSettings {
  readonly limiter?: LimiterConfig;
  readonly discipline?: DisciplineConfig;
  /** Whether adding a delayed key ends its delay. */
  readonly replaces?: boolean;
}

/** Replay of recorded operations on a queue. */
export class QueueReplay {
  readonly engine: Engine;
  /** Time of the trace, in nanoseconds. */
  now = 0;
  /** Processing items, with their tokens. */
  readonly processing = new Map<number, string>();
  /**
   * Deadlines of the delayed items, on the clock of the trace. The deadlines are in the order in which they were set.
   */
  readonly due = new Map<number, number>();
  /** Upper bound for how far the queue's time is ahead of the trace, in microseconds. */
  #ahead = 0;
  #lastToken = "1";
  isShutDown = false;

  constructor(readonly trace: Trace, { store, name }: Place, settings: QueueSettings = {}) {
    const { limiter = BACKOFF, discipline, replaces = false } = settings;
    this.engine = store.open(name, () => START + this.now * SLOWNESS + (this.#ahead += 3), {
      limiter: planLimiter("replay limiter", limiters.describe(limiter)),
      discipline: discipline && planDiscipline("replay discipline", disciplines.describe(discipline)),
      retryBudget: undefined,
      replaces,
      folds: false,
      hasItems: false,
    });
  }

  async run(): Promise<void> {
    try {
      for (let operation = this.trace.operation(); operation !== undefined; operation = this.trace.operation()) {
        await this.perform(operation);
        await this.compareState();
      }
    } catch (error) {
      if (!(error instanceof EndOfTrace)) throw error;
    }
  }

  async perform(operation: string): Promise<void> {
    switch (operation) {
      case "add":
        return await this.addAfter(this.trace.next(), 0);
      case "addAfter":
        return await this.addAfter(this.trace.next(), this.trace.next());
      case "addRateLimited":
        return await this.addRateLimited(this.trace.next(), this.trace.next());
      case "get":
        return this.trace.same("item", await this.take() ?? -1);
      case "done":
        return await this.done(this.trace.next());
      case "forget": {
        const item = this.trace.next();
        if (!this.refuses()) await this.engine.forget(`${item}`);
        return;
      }
      case "numRequeues": {
        const [item, recorded] = [this.trace.next(), this.trace.next()];
        if (!this.refuses()) this.trace.equal("requeues", await this.engine.numRequeues(`${item}`), recorded);
        return;
      }
      case "wait":
        return this.wait(this.trace.next());
      case "shutDown":
      case "drain":
        return await this.shutDown();
      default:
        throw new Error(`Cannot replay ${operation}`);
    }
  }

  async compareState(): Promise<void> {
    this.#endIfTooClose();
    const { ready, delayed, processing } = await this.engine.counts();
    this.trace.same("length", ready);
    this.trace.equal("processing", processing, this.processing.size);
    this.trace.equal("delayed", delayed, this.due.size);
    this.trace.equal("whether it is open", Number(this.trace.next() === 0), Number(!this.isShutDown));
  }

  async addAfter(item: number, delay: number): Promise<void> {
    if (this.refuses()) return;
    await this.engine.add([{ key: `${item}`, payload: "" }], this.slow(delay));
    this.noteDelay(item, delay);
  }

  /** Records that the item is due after this delay, unless it is already due sooner. */
  noteDelay(item: number, delay: number, _priority = 0): void {
    if (delay <= 0) return;
    const due = this.now + delay;
    const current = this.due.get(item) ?? Infinity;
    if (due >= current) return;
    for (const [other, otherDue] of this.due) {
      if (other !== item && due !== otherDue && Math.abs(due - otherDue) <= this.#fuzz) this.#endTooClose();
    }
    this.due.delete(item);
    this.due.set(item, due);
  }

  async take(): Promise<number | undefined> {
    return (await this.takeKey())?.item;
  }

  async takeKey(): Promise<{ readonly item: number; readonly priority: number } | undefined> {
    const { taken: [first] } = await this.turn({ wanted: 1 });
    if (first === undefined) return undefined;
    const item = Number(first.key);
    this.processing.set(item, first.token);
    this.#lastToken = first.token;
    return { item, priority: first.priority ?? 0 };
  }

  /** Finishes an item. If the item is not processing, uses the last token, which is no longer valid. */
  async done(item: number): Promise<void> {
    const token = this.processing.get(item);
    const finish = { key: `${item}`, token: token ?? this.#lastToken, kind: "done" } as const;
    const { answers } = await this.turn({ finishes: [finish] });
    this.trace.equal("whether the end counts", Number(answers[0]), Number(this.processing.delete(item)));
  }

  async turn(request: Partial<TurnRequest>) {
    const common = {
      process: "process",
      owner: "owner",
      known: 0,
      wanted: 0,
      throttle: undefined,
    };
    return await this.engine.turn({ ...common, finishes: [], ...request });
  }

  wait(ns: number): void {
    this.now += ns;
    this.#ahead += this.due.size; // each item that becomes due gets a different time
    for (const [item, due] of this.due) if (due <= this.now) this.due.delete(item);
    this.#endIfTooClose();
  }

  async addRateLimited(item: number, recorded: number, priority?: number): Promise<void> {
    if (this.refuses()) return;
    const key = `${item}`;
    await addRateLimited(this.engine, { key, payload: "" }, { priority });
    this.noteDelay(item, recorded, priority ?? 0);
    const { delayedItems } = await this.engine.snapshot(100);
    const dueInMs = delayedItems.find((entry) => entry.key === key)?.dueInMs;
    const due = this.due.get(item);
    if (due === undefined) return this.trace.equal("when it is due", dueInMs, undefined as never);
    const expected = Math.min((due - this.now) * SLOWNESS, FOREVER - START - this.now * SLOWNESS);
    const difference = Math.abs((dueInMs ?? NaN) * 1000 - expected);
    // Long times in milliseconds are less precise, because they are stored as doubles.
    if (!(difference <= this.#ahead + SLOWNESS + expected * 2 ** -50)) {
      this.trace.fail("when it is due, in ns", dueInMs! * 1e3 / SLOWNESS, expected / SLOWNESS);
    }
  }

  /**
   * Reports whether the queue was shut down. If so, counts an allowed difference: after a shutdown, client-go ignores
   * adds, while the queue object rejects them. The engine itself can't be shut down.
   */
  refuses(): boolean {
    if (this.isShutDown) this.trace.except("calls-after-shutdown");
    return this.isShutDown;
  }

  /**
   * Shuts the queue down. In client-go, a shutdown drops delayed items. Here, delayed items stay delayed, so the
   * replay cancels them in order to compare the other items. After its shutdown, a queue object hands out no more
   * items, so the replay takes the remaining items as another process would.
   */
  async shutDown(): Promise<void> {
    this.isShutDown = true;
    for (const item of this.due.keys()) {
      this.trace.equal("whether it is delayed", Number(await this.engine.cancelDelayed(`${item}`)), 1);
      this.trace.except("delayed-survives-shutdown");
    }
    this.due.clear();
  }

  /** Largest difference, in nanoseconds of the trace, between two times whose order may be reversed in the engine. */
  get #fuzz(): number {
    return this.#ahead / SLOWNESS + 1;
  }

  /** Ends the replay if an item may be due in the queue, whose time is ahead, but not yet in the trace. */
  #endIfTooClose(): void {
    for (const due of this.due.values()) if (due <= this.now + this.#fuzz) this.#endTooClose();
  }

  #endTooClose(): never {
    this.trace.except("too-close-to-call");
    throw new EndOfTrace();
  }

  /** Converts a duration in the trace, in nanoseconds, to the duration for the store, in milliseconds. */
  slow(ns: number): number {
    return ns * SLOWNESS / 1000;
  }
}

export function replayQueue(trace: Trace, place: Place): Promise<void> {
  return new QueueReplay(trace, place).run();
}

/** Reads the limiter at the start of a trace. */
export function slowLimiter(trace: Trace): LimiterConfig {
  return configOf(trace.limiter(), SLOWNESS * 1000);
}

export function replayRateLimiting(trace: Trace, place: Place): Promise<void> {
  return new QueueReplay(trace, place, { limiter: slowLimiter(trace) }).run();
}

/**
 * Replay of traces with equal deadlines. In an engine, items due at the same time are handed out in the order in which
 * their deadlines were set. client-go hands them out in any order.
 */
export class EqualDeadlines extends QueueReplay {
  #ready: { item: number; due: number }[] = [];

  override async perform(operation: string): Promise<void> {
    return operation === "takeAll" ? await this.#takeAll() : await super.perform(operation);
  }

  override wait(ns: number): void {
    const waiting = [...this.due].map(([item, due]) => ({ item, due }));
    super.wait(ns);
    const due = waiting.filter(({ item }) => !this.due.has(item)).toSorted((a, b) => a.due - b.due);
    this.#ready.push(...due.filter(({ item }) => !this.#ready.some((each) => each.item === item)));
  }

  async #takeAll(): Promise<void> {
    const promised = this.#ready;
    this.#ready = [];
    const recorded = Array.from({ length: this.trace.next() }, () => this.trace.next());
    for (const { item } of promised) {
      this.trace.equal("item in the order of the deadlines", await this.take(), item);
      await this.done(item);
    }
    this.trace.equal("number of items of client-go", recorded.length, promised.length);
    for (const [i, { due }] of promised.entries()) {
      this.trace.equal("deadline of client-go", promised.find(({ item }) => item === recorded[i])?.due, due);
    }
    if (recorded.some((item, i) => item !== promised[i]!.item)) this.trace.except("equal-deadlines");
  }
}

/**
 * Replay of traces that call `done` for ready items that are not processing. In client-go, `done` makes such an item
 * ready twice. Here, `done` needs a token.
 */
export class DoneOfReadyItem extends QueueReplay {
  /** Items that are ready for a second time in client-go, in order. */
  readonly #extra: number[] = [];

  override async take(): Promise<number | undefined> {
    return await super.take() ?? this.#extra.shift();
  }

  override async done(item: number): Promise<void> {
    if (!this.processing.has(item)) {
      this.#extra.push(item);
      this.trace.except("done-of-ready-item");
    }
    await super.done(item);
  }

  override async compareState(): Promise<void> {
    const { ready } = await this.engine.counts();
    this.trace.same("length, and the items twice", ready + this.#extra.length);
    this.trace.next();
  }
}
