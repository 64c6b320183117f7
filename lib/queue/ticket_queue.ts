import { requireInteger } from "../base/arguments.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { QueueDiscipline } from "../contracts/discipline.ts";
import type {
  AddOptions,
  DrainOptions,
  Lease,
  QueueSnapshot,
  Shutdown,
  SnapshotOptions,
  WorkQueue,
  WorkQueueOptions,
} from "../contracts/work_queue.ts";
import { inspect } from "../base/errors.ts";
import { setInspection } from "../base/inspection.ts";
import { QueueMetrics } from "../metrics/queue_metrics.ts";
import { setTotals } from "../metrics/totals.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { Waiters } from "../structures/waiters.ts";
import { IDLE, Waits, Watchers } from "../structures/watchers.ts";
import { markTakesOptions, priorityOf } from "./add_options.ts";
import { DisciplineLine } from "./discipline_line.ts";
import { readDrainOptions } from "./drain_options.ts";
import { FifoLine } from "./fifo_line.ts";
import { setHooks } from "./hooks.ts";
import { ItemIterator } from "./item_iterator.ts";
import type { Line } from "./line.ts";
import { setQueueInspection } from "./queue_inspection.ts";
import { limitOf, signalOf } from "./call_options.ts";

/** The right to one hand-out. It may be stale: its key may have been finished and handed out again. The ticket tells. */
class TicketLease<T> implements Lease<T> {
  readonly item: T;
  readonly priority: number;
  readonly #queue: TicketQueue<T>;
  readonly #key: unknown;
  readonly #ticket: number;

  constructor(queue: TicketQueue<T>, key: unknown, item: T, priority: number, ticket: number) {
    this.item = item;
    this.priority = priority;
    this.#queue = queue;
    this.#key = key;
    this.#ticket = ticket;
  }

  get shutdown(): false {
    return false;
  }

  get addedAgain(): boolean {
    return this.#queue.isAddedAgain(this.#key, this.#ticket);
  }

  [Symbol.dispose](): void {
    this.#queue.finish(this.#key, this.#ticket);
  }

  static setInspection(): void {
    setInspection<TicketLease<unknown>>(TicketLease.prototype, (lease) => `Lease ${inspect(lease.#key)}`, (lease) => {
      const state = lease.#queue.isHeld(lease.#key, lease.#ticket) ? "held" : "done";
      const priority = lease.priority === 0 ? "" : `, priority ${lease.priority}`;
      return `${state}${lease.addedAgain ? ", added again" : ""}${priority}`;
    });
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
  /** Calls of `get` that wait. While there are any, nothing may be handed out, but for the length of a batch. */
  readonly #getters = new Waiters<Lease<T> | Shutdown>();
  /** How many batches of adds are being made, one within the other. */
  #batches = 0;
  /** Calls of `shutDownWithDrain` that wait. */
  readonly #drainers = new Waiters<void>();
  /** Those who want to know when there is less to do. */
  readonly #watchers = new Watchers();
  readonly #waits = new Waits((count) => this.#isWaitOver(count), (callback) => this.#watchers.add(callback));
  #shuttingDown = false;

  constructor(options: WorkQueueOptions<T>) {
    const { name = "", keyOf, discipline, clock, metrics, priorityLevels } = options;
    this.name = name;
    if (keyOf !== undefined) {
      this.keyOf = keyOf;
      this.#items = new ChurnMap();
      this.#heldItems = new ChurnMap();
    }
    if (clock !== undefined) this.clock = clock;
    this.#line = discipline === undefined
      ? new FifoLine()
      : new DisciplineLine(discipline as QueueDiscipline<T>, clock ?? systemClock);
    if (metrics !== undefined && name !== "") {
      this.#metrics = new QueueMetrics(metrics, name, clock ?? systemClock, priorityLevels);
    }
    setHooks<T>(this, {
      newest: (item) => this.#newest(this.#key(item), item),
      stateOf: (item) => this.#stateOf(item),
      takesBack: (item) => !this.#shuttingDown && this.#isKeyHeld(this.#key(item)),
      batch: (action) => this.#batch(action),
      watch: (callback) => this.#watchers.add(callback),
      metrics: this.#metrics && metrics,
    });
    setTotals(this, () => ({ handedOut: this.#line.called, isFifo: discipline === undefined }));
    markTakesOptions(this);
    setQueueInspection(TicketQueue.prototype, "WorkQueue");
    TicketLease.setInspection();
  }

  get length(): number {
    return this.#line.length;
  }

  get held(): number {
    return this.#line.held;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  add(item: T, options?: AddOptions): void {
    const priority = options === undefined ? 0 : priorityOf(options);
    if (this.#shuttingDown) return;
    const key = this.#key(item);
    const ticket = this.#line.ticketOf(key);
    if (ticket === undefined) {
      const drawn = this.#makeReady(key, item, priority);
      try {
        this.#metrics?.added(drawn, key, priority);
      } finally {
        this.#serve();
      }
      return;
    }
    const newest = this.#newest(key, item) ?? item;
    if (ticket > this.#line.called) this.#line.touch(key, newest, priority);
    this.#items?.set(key, newest);
    if (ticket > this.#line.called) return;
    this.#line.addAgain(key, ticket, priority);
    if (ticket < 0) return;
    this.#forgetLatest();
    this.#metrics?.addedAgain(key, priority);
  }

  get(options?: { signal?: AbortSignal | undefined }): Promise<Lease<T> | Shutdown> {
    let signal: AbortSignal | undefined;
    if (options !== undefined) {
      try {
        signal = signalOf("get item", options);
      } catch (error) {
        return Promise.reject(error);
      }
      if (signal?.aborted) return Promise.reject(signal.reason);
    }
    if (this.length > 0) return this.#takeAsync();
    if (this.#isOver()) return Promise.resolve(SHUTDOWN);
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

  /** Whether the key was added again since it was handed out under this ticket, and is held. */
  isAddedAgain(key: unknown, ticket: number): boolean {
    return this.#line.ticketOf(key) === -ticket;
  }

  /** Whether the hand-out with this ticket has not ended. */
  isHeld(key: unknown, ticket: number): boolean {
    return Math.abs(this.#line.ticketOf(key) ?? 0) === ticket;
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
    this.#endMetricsIfEmpty();
  }

  shutDownWithDrain(options?: DrainOptions): Promise<void> {
    try {
      const { signal } = readDrainOptions(options);
      if (signal?.aborted) {
        this.shutDown();
        return Promise.reject(signal.reason);
      }
      this.#close();
      this.#endMetricsIfEmpty();
      return this.#line.size === 0 ? Promise.resolve() : this.#drainers.wait(signal, () => this.shutDown());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void> {
    await this.#waits.wait(IDLE, signalOf("wait for idle queue", options));
  }

  async whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    const signal = signalOf("wait for fewer items", options);
    requireInteger("wait for fewer items", "count", count, 1);
    await this.#waits.wait(count, signal);
  }

  snapshot(options?: SnapshotOptions): QueueSnapshot<T> {
    const limit = limitOf(options);
    const { length, heldBack, held } = this.#line;
    const itemOf = (items: ChurnMap<unknown, T> | undefined, key: unknown) =>
      (items === undefined ? key : items.get(key)) as T;
    return {
      name: this.name,
      length,
      heldBack,
      waiting: 0,
      held,
      readyItems: this.#line.listReady(limit)
        .map(({ key, priority }) => ({ item: itemOf(this.#items, key), priority })),
      waitingItems: [],
      heldItems: this.#line.listHeld(limit)
        .map(({ key, priority }) => ({
          item: itemOf(this.#heldItems, key),
          priority,
          addedAgain: this.#line.ticketOf(key)! < 0,
        })),
    };
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, void> {
    return new ItemIterator(this);
  }

  #isWaitOver(count: number): boolean {
    if (count === IDLE) return this.#line.size === 0;
    return this.#shuttingDown || this.length + this.#line.heldBack < count;
  }

  #key(item: T): unknown {
    return this.keyOf === undefined ? item : this.keyOf(item);
  }

  #isKeyHeld(key: unknown): boolean {
    const ticket = this.#line.ticketOf(key);
    return ticket !== undefined && ticket <= this.#line.called;
  }

  #stateOf(item: T): "ready" | "held" | "addedAgain" | undefined {
    const ticket = this.#line.ticketOf(this.#key(item));
    if (ticket === undefined) return undefined;
    if (ticket > this.#line.called) return "ready";
    return ticket > 0 ? "held" : "addedAgain";
  }

  #newest(key: unknown, item: T): T | undefined {
    if (this.#items === undefined || this.#heldItems!.get(key) !== item) return undefined;
    return this.#items.get(key) ?? item;
  }

  /**
   * Makes a key ready: one that is not here with this priority, or a held one with what it was added again with. Returns
   * the ticket that it draws.
   */
  #makeReady(key: unknown, item: T, priority: number | undefined): number {
    this.#items?.set(key, item);
    try {
      return priority === undefined ? this.#line.rejoin(key, item) : this.#line.join(key, item, priority);
    } catch (error) {
      this.#items?.delete(key);
      throw error;
    }
  }

  /** Hands what is ready to the calls of `get` that wait. A failure is theirs: the call that added the item did so. */
  #serve(): void {
    while (!this.#getters.isEmpty && this.length > 0 && this.#batches === 0) {
      const getter = this.#getters.shift();
      try {
        getter.resolve(this.#take());
      } catch (error) {
        getter.reject(error);
      }
    }
    if (!this.#getters.isEmpty && this.#isOver()) this.#getters.serveAll(SHUTDOWN);
  }

  #batch(action: () => void): void {
    this.#batches++;
    try {
      action();
    } finally {
      this.#batches--;
      this.#serve();
    }
  }

  /** Whether nothing is handed out any more, but for what is held and was added again. */
  #isOver(): boolean {
    return this.#shuttingDown && this.length === 0 && this.#line.heldBack === 0;
  }

  /** Hands out the next ready item. There must be one. */
  #take(): Lease<T> {
    const key = this.#line.next();
    const { called: ticket, priority } = this.#line;
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
        this.#line.addAgain(key, this.#line.ticketOf(key)!, priority);
        this.#comeBack(key, this.#items?.get(key) ?? item);
      }
      throw error;
    }
    if (!this.#watchers.isEmpty) this.#watchers.tell();
    return new TicketLease(this, key, item, priority, ticket);
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
      } else {
        this.#heldItems?.delete(key);
        this.#line.leave(key);
      }
      this.#metrics?.finished(startedAt);
    } finally {
      this.#serve(); // a discipline may have held keys back until this one was done
      if (this.#line.size === 0) this.#drainers.serveAll();
      if (!this.#watchers.isEmpty) this.#watchers.tell();
      if (this.#shuttingDown) this.#endMetricsIfEmpty();
    }
  }

  /** Makes a held key ready. If that fails, as a discipline may, the key is not held any more either. */
  #comeBack(key: unknown, item: T): void {
    this.#heldItems?.delete(key);
    let drawn: number;
    try {
      drawn = this.#makeReady(key, item, undefined);
    } catch (error) {
      this.#metrics?.lost(key);
      throw error;
    }
    this.#metrics?.ready(key, drawn);
  }

  #forgetLatest(): void {
    this.#latestTicket = 0;
    this.#latestKey = undefined;
  }

  #close(): void {
    this.#shuttingDown = true;
    this.#serve();
    this.#metrics?.stop();
    this.#watchers.tell();
  }

  /** Of a queue that was shut down. */
  #endMetricsIfEmpty(): void {
    if (this.#line.size === 0) this.#metrics?.end();
  }
}
