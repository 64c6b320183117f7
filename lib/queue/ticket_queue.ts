import { A_SIGNAL, isSignal, requireRules } from "../base/arguments.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { DrainOptions, Lease, Shutdown, WorkQueue, WorkQueueOptions } from "../contracts/work_queue.ts";
import { QueueMetrics } from "../metrics/queue_metrics.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { Waiters } from "../structures/waiters.ts";
import { DisciplineLine } from "./discipline_line.ts";
import { readDrainOptions } from "./drain_options.ts";
import { FifoLine } from "./fifo_line.ts";
import { setHooks } from "./hooks.ts";
import { ItemIterator } from "./item_iterator.ts";
import type { Line } from "./line.ts";

/** The right to one hand-out. It may be stale: its key may have been finished and handed out again. The ticket tells. */
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
 * A queue whose keys have tickets; a {@linkcode Line} says what they mean and whose turn it is.
 *
 * A lease carries the ticket under which its key was called. No ticket is called twice, so a stale lease is harmless.
 */
export class TicketQueue<T> implements WorkQueue<T> {
  readonly name: string;
  keyOf?(item: T): unknown;
  readonly clock?: Clock;
  readonly #line: Line<T>;
  /** The newest item of each key that needs work, where an item is not its own key. */
  readonly #items: ChurnMap<unknown, T> | undefined;
  /** Likewise the item that was handed out of each key that is held. */
  readonly #heldItems: ChurnMap<unknown, T> | undefined;
  /** The lease handed out last is often given back next. Its ticket is known without a look; 0 if it is not. */
  #latestTicket = 0;
  #latestKey: unknown = undefined;
  readonly #metrics: QueueMetrics | undefined;
  /** Calls of `get` that wait. While there are any, nothing is ready. */
  readonly #getters = new Waiters<Lease<T> | Shutdown>();
  /** Calls of `shutDownWithDrain` that wait. */
  readonly #drainers = new Waiters<void>();
  /** Called back, once, when nothing is ready and nothing is held. */
  #onEmptied: (() => void)[] = [];
  #shuttingDown = false;

  constructor({ name = "", keyOf, discipline, clock, metrics }: WorkQueueOptions<T>) {
    this.name = name;
    if (keyOf !== undefined) {
      this.keyOf = keyOf;
      this.#items = new ChurnMap();
      this.#heldItems = new ChurnMap();
    }
    if (clock !== undefined) this.clock = clock;
    this.#line = discipline === undefined ? new FifoLine() : new DisciplineLine(discipline, clock ?? systemClock);
    this.#metrics = metrics && name !== "" ? new QueueMetrics(metrics, name, clock ?? systemClock) : undefined;
    setHooks<T>(this, {
      newest: (item) => this.#newest(this.#key(item), item),
      isHere: (item) => this.#line.ticketOf(this.#key(item)) !== undefined,
      takesBack: (item) => !this.#shuttingDown && this.#isHeld(item),
      onEmptied: (callback) => {
        this.#onEmptied.push(callback);
        if (this.#line.size === 0) this.#tellEmptied();
      },
    });
  }

  get length(): number {
    return this.#line.length;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  add(item: T): void {
    if (this.#shuttingDown) return;
    const key = this.#key(item);
    const ticket = this.#line.ticketOf(key);
    if (ticket === undefined) {
      const drawn = this.#makeReady(key, item, false);
      try {
        this.#metrics?.added(drawn);
      } finally {
        this.#serve();
      }
      return;
    }
    const newest = this.#newest(key, item) ?? item;
    if (ticket > this.#line.called) this.#line.touch(key, newest);
    this.#items?.set(key, newest);
    if (ticket > 0 && ticket <= this.#line.called) {
      this.#line.addAgain(key, ticket);
      this.#forgetLatest();
      this.#metrics?.addedAgain(key);
    }
  }

  get(options?: { signal?: AbortSignal | undefined }): Promise<Lease<T> | Shutdown> {
    const signal = options?.signal;
    if (options !== undefined) {
      try {
        if (!isSignal(signal)) requireRules("get item", options, { signal: A_SIGNAL });
      } catch (error) {
        return Promise.reject(error);
      }
      if (signal?.aborted) return Promise.reject(signal.reason);
    }
    if (this.length > 0) return this.#takeAsync();
    if (this.#shuttingDown) return Promise.resolve(SHUTDOWN);
    return this.#getters.wait(signal);
  }

  tryGet(): Lease<T> | undefined {
    return this.length > 0 ? this.#take() : undefined;
  }

  done(item: T): void {
    const key = this.#key(item);
    const isLatest = this.#latestTicket > 0 && key === this.#latestKey;
    const ticket = isLatest ? this.#latestTicket : this.#line.ticketOf(key);
    if (ticket !== undefined && ticket <= this.#line.called) this.#end(key, ticket);
  }

  /** Ends the hand-out with this ticket, unless it has ended. */
  finish(key: unknown, ticket: number): void {
    if (ticket === this.#latestTicket) this.#end(key, ticket);
    else {
      const current = this.#line.ticketOf(key);
      if (current === ticket || current === -ticket) this.#end(key, current);
    }
  }

  shutDown(): void {
    this.#close();
    this.#drainers.serveAll();
  }

  shutDownWithDrain(options?: DrainOptions): Promise<void> {
    try {
      const { signal } = readDrainOptions(options);
      if (signal?.aborted) {
        this.shutDown();
        return Promise.reject(signal.reason);
      }
      this.#close();
      return this.#line.size === 0 ? Promise.resolve() : this.#drainers.wait(signal, () => this.shutDown());
    } catch (error) {
      return Promise.reject(error);
    }
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

  #isHeld(item: T): boolean {
    const ticket = this.#line.ticketOf(this.#key(item));
    return ticket !== undefined && ticket <= this.#line.called;
  }

  #newest(key: unknown, item: T): T | undefined {
    if (this.#items === undefined || this.#heldItems!.get(key) !== item) return undefined;
    return this.#items.get(key) ?? item;
  }

  /** Returns the ticket that the key draws. */
  #makeReady(key: unknown, item: T, isHeld: boolean): number {
    this.#items?.set(key, item);
    try {
      return isHeld ? this.#line.rejoin(key, item) : this.#line.join(key, item);
    } catch (error) {
      this.#items?.delete(key);
      throw error;
    }
  }

  /** Hands what is ready to the calls of `get` that wait. A failure is theirs: the call that added the item did so. */
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
    const key = this.#line.next();
    const ticket = this.#line.called;
    let item = key as T;
    if (this.#items !== undefined) {
      item = this.#items.get(key)!;
      this.#items.delete(key);
      this.#heldItems!.set(key, item);
    }
    this.#latestTicket = ticket;
    this.#latestKey = key;
    try {
      this.#metrics?.taken(key, this.#line.drawn, ticket);
    } catch (error) {
      // The metrics may have called the queue: the item may be done by now, or there may be a newer one.
      if (Math.abs(this.#line.ticketOf(key) ?? 0) === ticket) {
        this.#forgetLatest();
        this.#comeBack(key, this.#items?.get(key) ?? item);
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

  /** Ends a hand-out. With a negative ticket, the key goes back to the end of the line. */
  #end(key: unknown, ticket: number): void {
    this.#forgetLatest();
    const startedAt = this.#metrics?.forget(Math.abs(ticket)); // before the key is handed out again
    try {
      if (ticket < 0) {
        this.#comeBack(key, this.#items === undefined ? key as T : this.#items.get(key)!);
        this.#serve();
      } else {
        this.#line.leave(key);
        this.#heldItems?.delete(key);
      }
      this.#metrics?.finished(startedAt);
    } finally {
      if (this.#line.size === 0) this.#tellEmptied();
    }
  }

  /** Makes a held key ready. If that fails, as a discipline may, the key is not held any more either. */
  #comeBack(key: unknown, item: T): void {
    this.#heldItems?.delete(key);
    const drawn = this.#makeReady(key, item, true);
    this.#metrics?.ready(key, drawn);
  }

  #forgetLatest(): void {
    this.#latestTicket = 0;
    this.#latestKey = undefined;
  }

  #tellEmptied(): void {
    this.#drainers.serveAll();
    if (this.#onEmptied.length === 0) return;
    for (const callback of this.#onEmptied.splice(0)) callback();
  }

  #close(): void {
    this.#shuttingDown = true;
    this.#getters.serveAll(SHUTDOWN);
    this.#metrics?.stop();
  }
}
