/**
 * Layer 1: a FIFO queue that folds duplicates and never hands one item to two holders at once.
 *
 * @module
 */

import { systemClock } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import type { QueueDiscipline } from "../contracts/discipline.ts";
import type { DrainOptions, Lease, Shutdown, WorkQueue, WorkQueueOptions } from "../contracts/work_queue.ts";
import { QueueMetrics } from "../metrics/queue_metrics.ts";
import { Waiters } from "../structures/waiters.ts";
import { ItemIterator } from "./item_iterator.ts";
import { newest, type TellsNewest } from "./newest.ts";

export type { Clock } from "../base/clock.ts";
export type * from "../contracts/discipline.ts";
export type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
export type * from "../contracts/work_queue.ts";

/**
 * Makes a {@linkcode WorkQueue}.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<string>();
 * queue.add("a");
 * queue.add("b");
 * queue.add("a"); // folded: "a" is ready already
 * queue.shutDown();
 *
 * const worked: string[] = [];
 * for await (const item of queue) worked.push(item);
 * assertEquals(worked, ["a", "b"]);
 * ```
 *
 * @example Items that are objects
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<{ id: number; version: number }>({ keyOf: (pod) => pod.id });
 * queue.add({ id: 1, version: 1 });
 * queue.add({ id: 1, version: 2 });
 *
 * using lease = await queue.get();
 * assertEquals(lease.item?.version, 2);
 * assertEquals(queue.length, 0);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options The queue's options; all may be left out.
 * @returns An empty queue.
 * @throws {TypeError} If `keyOf` or `discipline` is not what it should be.
 */
export function createWorkQueue<T>(options: WorkQueueOptions<T> = {}): WorkQueue<T> {
  return new TicketQueue(options);
}

/** The right to one hand-out. Whether it still counts is for the queue to tell: by then it may have a later one out. */
class TicketLease<T> implements Lease<T> {
  readonly item: T;
  readonly #queue: TicketQueue<T>;
  readonly #key: unknown;
  readonly #ticket: number;

  constructor(queue: TicketQueue<T>, key: unknown, item: T, ticket: number) {
    this.item = item;
    this.#queue = queue;
    this.#key = key;
    this.#ticket = ticket;
  }

  get shutdown(): false {
    return false;
  }

  [Symbol.dispose](): void {
    this.#queue.finish(this.#key, this.#ticket);
  }
}

const SHUTDOWN: Shutdown = Object.freeze({ item: undefined, shutdown: true, [Symbol.dispose]() {} });

/**
 * Added to the ticket of a ready key where a discipline says whose turn it is: keys are not called in the order of
 * their numbers then, and a ready one must stay later than the last one called.
 */
const PUT_OFF = 2 ** 52;

/**
 * A queue with tickets, as at a counter: each key that becomes ready draws the next number, and numbers are
 * called in turn. So one map from keys to tickets tells everything:
 *
 * | ticket | the key is |
 * | --- | --- |
 * | none | not here |
 * | later than the last one called | ready |
 * | called | held |
 * | minus one that was called | held, and added again meanwhile |
 *
 * A lease carries its ticket. A stale one is harmless, as no ticket is called twice.
 */
class TicketQueue<T> implements WorkQueue<T>, TellsNewest<T> {
  readonly name: string;
  keyOf?(item: T): unknown;
  readonly #tickets = new Map<unknown, number>();
  /** The last ticket that was drawn, and the last that was called. */
  #drawn = 0;
  #called = 0;
  /**
   * Gives the keys in the order they became ready: that in which they were put into the map. It goes on with
   * what is put there later, and is asked only while a key is ready, so it never ends. There is none where a
   * discipline says whose turn it is.
   */
  #line: Iterator<unknown> | undefined;
  /** The line may keep what was called after this ticket in memory. */
  #lineBegan = 0;
  /** The newest item of each key that needs work, where an item is not its own key. */
  readonly #items: Map<unknown, T> | undefined;
  /** Likewise the item that was handed out of each key that is held. */
  readonly #heldItems: Map<unknown, T> | undefined;
  /** The lease handed out last is often given back next. Its ticket is known without a look; 0 if it is not. */
  #latestTicket = 0;
  #latestKey: unknown = undefined;
  readonly #discipline: QueueDiscipline<T> | undefined;
  readonly #metrics: QueueMetrics | undefined;
  /** Those who wait in `get`. While there are any, nothing is ready. */
  readonly #getters = new Waiters<Lease<T> | Shutdown>();
  /** Those who wait in `shutDownWithDrain`. */
  readonly #drainers = new Waiters<void>();
  #shuttingDown = false;

  constructor({ name = "", keyOf, discipline, clock = systemClock, metrics }: WorkQueueOptions<T>) {
    if (keyOf !== undefined && typeof keyOf !== "function") {
      throw invalidArgument("create work queue", "keyOf", "must be a function", keyOf);
    }
    if (discipline !== undefined && !(typeof discipline?.push === "function" && discipline.length >= 0)) {
      throw invalidArgument("create work queue", "discipline", "must be a queue discipline", discipline);
    }
    this.name = name;
    if (keyOf !== undefined) {
      this.keyOf = keyOf;
      this.#items = new Map();
      this.#heldItems = new Map();
    }
    this.#discipline = discipline;
    if (discipline === undefined) this.#line = this.#tickets.keys();
    this.#metrics = metrics && name !== "" ? new QueueMetrics(metrics, name, clock) : undefined;
  }

  get length(): number {
    return this.#discipline === undefined ? this.#drawn - this.#called : this.#discipline.length;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  add(item: T): void {
    if (this.#shuttingDown) return;
    const key = this.#key(item);
    const ticket = this.#tickets.get(key);
    if (ticket === undefined) {
      const drawn = this.#makeReady(key, item);
      try {
        this.#metrics?.added(drawn);
      } finally {
        this.#serve();
      }
    } else {
      this.#items?.set(key, this.#newest(key, item) ?? item);
      if (ticket > this.#called) {
        this.#discipline?.touch(item);
      } else if (ticket > 0) {
        this.#tickets.set(key, -ticket);
        this.#forgetLatest();
        this.#metrics?.addedAgain(key);
      }
    }
  }

  get({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<Lease<T> | Shutdown> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.length > 0) return this.#takeAsync();
    if (this.#shuttingDown) return Promise.resolve(SHUTDOWN);
    return this.#getters.wait(signal);
  }

  tryGet(): Lease<T> | undefined {
    return this.length > 0 ? this.#take() : undefined;
  }

  done(item: T): void {
    const key = this.#key(item);
    if (this.#latestTicket > 0 && key === this.#latestKey) this.#end(key, this.#latestTicket);
    else {
      const ticket = this.#tickets.get(key);
      if (ticket !== undefined && ticket <= this.#called) this.#end(key, ticket);
    }
  }

  /** Ends the hand-out with this ticket, unless it has ended. */
  finish(key: unknown, ticket: number): void {
    if (ticket === this.#latestTicket) this.#end(key, ticket);
    else {
      const current = this.#tickets.get(key);
      if (current === ticket || current === -ticket) this.#end(key, current);
    }
  }

  [newest](item: T): T | undefined {
    return this.#newest(this.#key(item), item);
  }

  shutDown(): void {
    this.#close();
    this.#drainers.serveAll();
  }

  shutDownWithDrain(_options?: DrainOptions): Promise<void> {
    this.#close();
    return this.#tickets.size === 0 ? Promise.resolve() : this.#drainers.wait();
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, void> {
    return new ItemIterator(this);
  }

  #key(item: T): unknown {
    return this.keyOf === undefined ? item : this.keyOf(item);
  }

  #newest(key: unknown, item: T): T | undefined {
    return this.#heldItems?.get(key) === item ? this.#items!.get(key) ?? item : undefined;
  }

  /**
   * Draws a ticket for the key and returns it. A discipline is somebody else's code: it may throw, and it may
   * call the queue, which has to know the key by then.
   */
  #makeReady(key: unknown, item: T): number {
    const ticket = this.#discipline === undefined ? ++this.#drawn : PUT_OFF + ++this.#drawn;
    this.#items?.set(key, item);
    this.#tickets.set(key, ticket);
    if (this.#discipline !== undefined) {
      try {
        this.#discipline.push(item);
      } catch (error) {
        this.#items?.delete(key);
        this.#tickets.delete(key);
        throw error;
      }
    }
    return ticket;
  }

  #makeReadyAgain(key: unknown, item: T): void {
    const drawn = this.#makeReady(key, item);
    this.#metrics?.ready(key, drawn);
  }

  /** Hands what is ready to those who wait. If that fails, it fails for them: who added the item has done so. */
  #serve(): void {
    while (!this.#getters.isEmpty && this.length > 0) {
      const getter = this.#getters.shift();
      try {
        getter.resolve(this.#take());
      } catch (error) {
        getter.reject(error);
      }
    }
  }

  /** Hands out the next ready item. There must be one. */
  #take(): Lease<T> {
    let key: unknown;
    let drawn: number;
    if (this.#line !== undefined) {
      key = this.#line.next().value;
      drawn = ++this.#called;
    } else {
      key = this.#pop(this.#discipline!);
      drawn = this.#tickets.get(key)!;
      this.#tickets.set(key, ++this.#called);
    }
    const ticket = this.#called;
    let item = key as T;
    if (this.#items !== undefined) {
      item = this.#items.get(key)!;
      this.#items.delete(key);
      this.#heldItems!.set(key, item);
    }
    this.#latestTicket = ticket;
    this.#latestKey = key;
    try {
      this.#metrics?.taken(key, drawn, ticket);
    } catch (error) {
      // The metrics may have called the queue: the item may be done by now, or there may be a newer one.
      if (Math.abs(this.#tickets.get(key) ?? 0) === ticket) {
        this.#letGo(key);
        this.#makeReadyAgain(key, this.#items?.get(key) ?? item);
      }
      throw error;
    }
    return new TicketLease(this, key, item, ticket);
  }

  #takeAsync(): Promise<Lease<T>> {
    try {
      return Promise.resolve(this.#take());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Asks the discipline for the next key. Finding it is up to code of the user's; should that throw, the item stays. */
  #pop(discipline: QueueDiscipline<T>): unknown {
    const item = discipline.pop() as T;
    let key;
    try {
      key = this.#key(item);
    } catch (error) {
      discipline.push(item);
      throw error;
    }
    if (!(this.#tickets.get(key)! > PUT_OFF)) {
      throw new Error("Cannot get an item as the discipline gave out one that is not ready");
    }
    return key;
  }

  /** Ends a hand-out. With a negative ticket, the key goes back to the end of the line. */
  #end(key: unknown, ticket: number): void {
    this.#letGo(key);
    const startedAt = this.#metrics?.forget(Math.abs(ticket)); // before somebody else is handed the key
    try {
      if (ticket < 0) {
        this.#makeReadyAgain(key, this.#items === undefined ? key as T : this.#items.get(key)!);
        this.#serve();
      }
      this.#metrics?.finished(startedAt);
    } finally {
      const { size } = this.#tickets;
      if (this.#line !== undefined && this.#called - this.#lineBegan > 2 * size) this.#beginNewLine();
      if (size === 0) this.#drainers.serveAll();
    }
  }

  #letGo(key: unknown): void {
    this.#forgetLatest();
    this.#tickets.delete(key);
    this.#heldItems?.delete(key);
  }

  /**
   * A line may keep the memory that the map had before it shrank, and the keys in there, until it moves on. So a
   * new one is begun whenever more keys were called than twice those there are: it walks over those that are held,
   * which come first, and there are fewer of them than were called since the last time.
   */
  #beginNewLine(): void {
    const held = this.#tickets.size - this.length;
    this.#lineBegan = this.#called - held;
    this.#line = this.#tickets.keys();
    for (let i = 0; i < held; i++) this.#line.next();
  }

  #forgetLatest(): void {
    this.#latestTicket = 0;
    this.#latestKey = undefined;
  }

  #close(): void {
    this.#shuttingDown = true;
    this.#getters.serveAll(SHUTDOWN);
    this.#metrics?.stop();
  }
}
