import { A_POSITIVE_INTEGER, requireRule } from "../base/arguments.ts";
import { OPTIONS, setBrand } from "../base/brands.ts";
import { type Clock, MAX_TIMEOUT, systemClock, unref } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { invalidArgument } from "../base/errors.ts";
import { titleOf } from "../base/inspection.ts";
import { isSameKey } from "../base/keys.ts";
import type { QueueDiscipline } from "../contracts/discipline.ts";
import type { AddSlice, KnownKey, QueueObserver } from "../contracts/queue_hooks.ts";
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
import { QueueMetrics } from "../metrics/queue_metrics.ts";
import { setTotals } from "../metrics/totals.ts";
import { ChurnMap } from "../base/churn_map.ts";
import { Waiters } from "../structures/waiters.ts";
import { IDLE, Waits, Watchers } from "../structures/watchers.ts";
import { DisciplineLine } from "./discipline_line.ts";
import { FifoLine } from "./fifo_line.ts";
import { noGroups, PAUSE, RESUME } from "./groups.ts";
import { setHooks } from "./hooks.ts";
import { iterateItems } from "./item_iterator.ts";
import { noKnownKey } from "./known_key.ts";
import { type Line, type LineGroups, lineOf } from "./line.ts";
import { limitOf, priorityOf, readDrainOptions, signalOf } from "./options.ts";

/**
 * Lease on a key, for a single hand-out of the key. A lease is stale once its key is done, even if the key is handed
 * out again. The ticket shows whether the lease is stale.
 */
export class TicketLease<T> implements Lease<T> {
  readonly item: T;
  readonly priority: number;
  readonly key: unknown;
  readonly #queue: TicketQueue<T>;
  readonly #ticket: number;

  constructor(queue: TicketQueue<T>, key: unknown, item: T, priority: number, ticket: number) {
    this.item = item;
    this.priority = priority;
    this.#queue = queue;
    this.key = key;
    this.#ticket = ticket;
  }

  get shutdown(): false {
    return false;
  }

  /**
   * Returns a new function each time, so that the function also works when it is destructured. The function takes no
   * memory until the property is read.
   */
  get addedAgain(): () => boolean {
    return () => this.state === -1;
  }

  /** 1 while the hand-out lasts, -1 once the key was added again during it. After it, any other number or `NaN`. */
  get state(): number {
    return this.#queue.ticketOf(this.key)! / this.#ticket;
  }

  [Symbol.dispose](): void {
    this.#queue.finish(this.key, this.#ticket);
  }
}

const SHUTDOWN: Shutdown = Object.freeze({ item: undefined, shutdown: true, [Symbol.dispose]() {} });

/**
 * Queue whose keys have tickets. A {@linkcode Line} defines the meaning of the tickets and the order of the keys.
 *
 * A lease contains the ticket with which its key was called. No ticket is called twice, so ending a stale lease has no
 * effect.
 */
export class TicketQueue<T> implements WorkQueue<T> {
  readonly name: string;
  keyOf?(item: T): unknown;
  readonly clock?: Clock;
  readonly #line: Line<T>;
  readonly #known: KnownKey | undefined;
  /**
   * Newest item of each key that is ready, or was added again while processing; `undefined` if items are their own
   * keys.
   */
  readonly #items: ChurnMap<unknown, T> | undefined;
  /** Item handed out for each processing key; `undefined` if items are their own keys. */
  readonly #processingItems: ChurnMap<unknown, T> | undefined;
  /** Ticket and key of the latest lease, because that lease often ends first. The ticket is 0 if unknown. */
  #latestTicket = 0;
  #latestKey: unknown;
  /** Metrics of the queue, or an observer that a dashboard has set. */
  #observer: QueueObserver | undefined;
  /** Pending calls to `get`. While calls are pending, no item is ready, except during a slice. */
  readonly #getters = new Waiters<Lease<T> | Shutdown>();
  /** Whether pending calls to `get` are being served now. */
  #isServing = false;
  /** Number of keys that are processing and were added again. */
  #comingBack = 0;
  /** Pending calls to `shutDownWithDrain`. */
  readonly #drainers = new Waiters<void>();
  /** Callbacks to call after each change. */
  readonly #watchers = new Watchers();
  /**
   * Whether anything must be told of changes: a pending call, a callback or an observer. If not, adding, handing out
   * and ending an item skip all of them with one look at this field.
   */
  #isAttended = false;
  readonly #watch = (callback: () => void): () => void => {
    this.#isAttended = true;
    const stop = this.#watchers.add(callback);
    this.#setTimer(true);
    return () => {
      stop();
      if (!this.#isAwaited) this.#sleepUntil(Infinity);
    };
  };
  /** Whether an item was ready when the watchers were last told of a change. */
  #toldReady = false;
  readonly #waits = new Waits((count) => {
    if (count === IDLE) return this.#line.size === 0;
    return this.#shuttingDown || this.#line.length + this.#line.blocked < count;
  }, this.#watch);
  #shuttingDown = false;
  readonly #clock: Clock;
  /** Time until which no item is handed out; `undefined` if the queue is not paused. */
  #pausedUntil: number | undefined = undefined;
  /** Timer for the next time at which blocked items become ready, and that time; `Infinity` if no timer is set. */
  #timer: unknown = undefined;
  #wakeAt = Infinity;
  /** Longest time for which the timer runs, and whether it keeps the process alive. */
  #sleep = { max: MAX_TIMEOUT, ref: true };

  constructor(options: WorkQueueOptions<T>) {
    const { name = "", keyOf, discipline, clock, metrics, priorityLevels } = options;
    this.name = name;
    if (keyOf !== undefined) {
      this.keyOf = keyOf;
      this.#known = noKnownKey();
      this.#items = new ChurnMap();
      this.#processingItems = new ChurnMap();
    }
    if (clock !== undefined) this.clock = clock;
    const time = this.#clock = clock ?? systemClock;
    this.#line = discipline === undefined
      ? new FifoLine()
      : lineOf(discipline, time) ?? new DisciplineLine(discipline as QueueDiscipline<T>, time);
    if (metrics !== undefined && name !== "") {
      const blocked = () => this.#blocked;
      this.#observer = new QueueMetrics(metrics, name, time, priorityLevels, blocked);
    }
    setHooks<T>(this, {
      newest: (item) => this.#newest(this.#key(item), item),
      stateOf: (item) => this.#stateOf(item),
      unmark: (item) => this.#unmark(this.#key(item)),
      takesBack: (item) => !this.#shuttingDown && (this.#stateOf(item) ?? "ready") !== "ready",
      beginBatch: (time) => this.#beginBatch(time),
      ...(discipline && { keep: (item: T, priority: number) => this.#keep(item, priority) }),
      watch: this.#watch,
      mayComeBack: () => this.#comingBack > 0 || this.#blocked > 0,
      groups: () => this.#line.groups,
      pauseFor: (ms) => {
        this.#pausedUntil = Math.max(this.#pausedUntil ?? -Infinity, this.#clock.now() + ms);
        this.#setTimer();
      },
      setSleep: (max, ref) => this.#sleep = { max, ref },
      resumesInMs: () => Math.max((this.#pausedUntil ?? -Infinity) - this.#clock.now(), 0),
      isOver: this.#isOver,
      known: this.#known,
      metrics: this.#observer && metrics,
      observe: (change) => {
        this.#observer = change(this.#observer, this.#line);
        this.#setAttended();
      },
    });
    this.#setAttended();
    setTotals(this, () => ({ handedOut: this.#line.called }));
    setBrand(this, OPTIONS, true);
  }

  get length(): number {
    return this.#pausedUntil !== undefined && this.#isPaused() ? 0 : this.#line.length;
  }

  get processing(): number {
    return this.#line.processing;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  add(item: T, options?: AddOptions): void {
    const priority = options === undefined ? 0 : priorityOf(options);
    if (this.#shuttingDown) return;
    const key = this.#key(item);
    const ticket = this.#line.ticketOf(key);
    if (ticket !== undefined) return this.#addToKnown(key, item, priority, ticket);
    const drawn = this.#items === undefined ? this.#line.join(key, item, priority) : this.#join(key, item, priority);
    if (this.#isAttended) this.#tellAdded(key, drawn, priority);
  }

  get(options?: { signal?: AbortSignal | undefined }): Promise<Lease<T> | Shutdown> {
    try {
      const signal = signalOf("get item", options);
      if (signal?.aborted) throw signal.reason;
      while (!this.#hasFree()) {
        if (this.#isOver()) return Promise.resolve(SHUTDOWN);
        this.#isAttended = true;
        // Before the wait, because the clock may throw, and nobody would get the item of the wait.
        if (this.#setTimer(true)) return this.#getters.wait(signal, () => void this.#setTimer());
      }
      return Promise.resolve(this.#take());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  tryGet(): Lease<T> | undefined {
    return this.#hasFree() ? this.#take() : undefined;
  }

  done(item: T): void {
    const key = this.#key(item);
    const isLatest = this.#latestTicket > 0 && key === this.#latestKey;
    const ticket = isLatest ? this.#latestTicket : this.#line.ticketOf(key);
    if (ticket !== undefined && ticket <= this.#line.called) this.#end(key, ticket);
  }

  /** Returns the ticket of a key. {@linkcode Line} defines the meaning of tickets. */
  ticketOf(key: unknown): number | undefined {
    return this.#line.ticketOf(key);
  }

  /** Ends the hand-out with this ticket, unless it has already ended. */
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
      if (this.#line.size === 0) return Promise.resolve();
      this.#isAttended = true;
      return this.#drainers.wait(signal, () => this.shutDown());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void> {
    await this.#waits.wait(IDLE, signalOf("wait for idle queue", options));
  }

  async whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    const signal = signalOf("wait for fewer items", options);
    requireRule("wait for fewer items", "count", count, A_POSITIVE_INTEGER);
    await this.#waits.wait(count, signal);
  }

  pauseGroup(group: unknown, duration: Duration): void {
    const groups = this.#groups(PAUSE);
    const ms = groups.readDuration?.(PAUSE, "duration", duration) ?? duration as number;
    if (!Number.isFinite(ms)) throw invalidArgument(PAUSE, "duration", "must be a finite number", duration);
    groups.pauseGroup(group, this.#clock.now() + ms);
    this.#setTimer();
  }

  resumeGroup(group: unknown): void {
    this.#groups(RESUME).resumeGroup?.(group);
    this.#serve();
  }

  snapshot(options?: SnapshotOptions): QueueSnapshot<T> {
    const limit = limitOf(options);
    const { length } = this;
    const { processing } = this.#line;
    const itemOf = (items: ChurnMap<unknown, T> | undefined, key: unknown) =>
      (items === undefined ? key : items.get(key)) as T;
    return {
      name: this.name,
      ready: length,
      blocked: this.#blocked,
      delayed: 0,
      processing,
      readyItems: this.#line.listReady(Math.min(limit, length))
        .map(({ key, priority }) => ({ item: itemOf(this.#items, key), priority })),
      delayedItems: [],
      processingItems: this.#line.listProcessing(limit)
        .map(({ key, priority }) => ({
          item: itemOf(this.#processingItems, key),
          priority,
          addedAgain: this.#line.ticketOf(key)! < 0,
        })),
    };
  }

  toString(): string {
    return titleOf("WorkQueue", this.name);
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, void> {
    return iterateItems(this);
  }

  get #blocked(): number {
    return this.#line.blocked + this.#line.length - this.length;
  }

  #isPaused(): boolean {
    if (this.#clock.now() < this.#pausedUntil!) return true;
    this.#pausedUntil = undefined;
    return false;
  }

  #groups(action: string): LineGroups {
    const { groups } = this.#line;
    if (groups === undefined) throw noGroups(action);
    return groups;
  }

  #key(item: T): unknown {
    return this.keyOf === undefined ? item : this.#keyFrom(this.keyOf, item);
  }

  #keyFrom(keyOf: (item: T) => unknown, item: T): unknown {
    return item === this.#known!.item ? this.#known!.key : keyOf.call(this, item);
  }

  /** Adds an item whose key is in the line with the given ticket. */
  #addToKnown(key: unknown, item: T, priority: number, ticket: number): void {
    const newest = this.#newest(key, item) ?? item;
    const line = this.#line;
    if (ticket > line.called) return this.#touch(key, newest, priority);
    this.#items?.set(key, newest);
    line.addAgain(key, ticket, priority);
    if (ticket < 0) return;
    this.#forgetLatest();
    this.#comingBack++;
    this.#observer?.addedAgain(key, priority);
  }

  /** Tells the line of an add of a ready or blocked key. The add may unblock the key, or others. */
  #touch(key: unknown, item: T, priority: number): void {
    const mayUnblock = this.#isAttended && this.#line.blocked > 0;
    this.#line.touch(key, item, priority);
    this.#items?.set(key, item);
    if (mayUnblock) this.#serve();
  }

  #unmark(key: unknown): number {
    this.#comingBack--;
    this.#items?.delete(key);
    this.#observer?.unmarked(key);
    return this.#line.unmark(key);
  }

  #stateOf(item: T): "ready" | "processing" | "addedAgain" | undefined {
    const ticket = this.#line.ticketOf(this.#key(item));
    if (ticket === undefined) return undefined;
    if (ticket > this.#line.called) return "ready";
    return ticket > 0 ? "processing" : "addedAgain";
  }

  #newest(key: unknown, item: T): T | undefined {
    if (this.#items === undefined || !isSameKey(this.#processingItems!.get(key), item)) return undefined;
    return this.#items.get(key) ?? item;
  }

  /**
   * Makes a key ready, and returns the ticket that the key draws. The key must not be in the line. Throws the same
   * errors as {@linkcode Line.join}.
   */
  #join(key: unknown, item: T, priority: number): number {
    this.#items?.set(key, item);
    try {
      return this.#line.join(key, item, priority);
    } catch (error) {
      if (this.#line.ticketOf(key) === undefined) this.#items?.delete(key);
      throw error;
    }
  }

  /**
   * Makes an item ready even though the discipline refused it. If the item's key is already ready, the item replaces
   * the older item.
   */
  #keep(item: T, priority: number): void {
    const key = this.#key(item);
    const ticket = this.#line.ticketOf(key);
    if (this.#shuttingDown || ticket! <= this.#line.called) return;
    this.#items?.set(key, item);
    if (ticket !== undefined) return;
    this.#tellAdded(key, this.#line.keep!(key, item, priority), priority);
  }

  #tellAdded(key: unknown, drawn: number, priority: number): void {
    this.#observer?.added(drawn, key, priority);
    this.#serve();
    this.#setAttended();
  }

  #setAttended(): void {
    const hasCallers = !this.#getters.isEmpty || !this.#drainers.isEmpty || !this.#watchers.isEmpty;
    this.#isAttended = hasCallers || this.#observer !== undefined;
  }

  /**
   * Must be called whenever items may have become ready. Hands them to pending calls to `get`, ends pending drains, and
   * tells watchers of the change.
   */
  #serve(): void {
    this.#serveGetters();
    if (!this.#getters.isEmpty && this.#isOver()) this.#getters.serveAll(SHUTDOWN);
    if (this.#line.size === 0) {
      this.#drainers.serveAll();
      if (this.#shuttingDown) this.#observer?.end();
    }
    this.#tellWatchers();
  }

  /**
   * Hands ready items to pending calls to `get`. After an error, the call to `get` rejects, but the call that added the
   * item does not throw, because the item was added successfully.
   */
  #serveGetters(): void {
    if (!this.#mayServeGetters) return;
    this.#isServing = true;
    try {
      while (!this.#getters.isEmpty && this.length > 0) {
        const getter = this.#getters.shift();
        try {
          getter.resolve(this.#take());
        } catch (error) {
          getter.reject(error);
        }
      }
    } finally {
      this.#isServing = false;
    }
  }

  /** Whether calls to `get` are pending that must be served now: no caller up the stack will serve them. */
  get #mayServeGetters(): boolean {
    return !this.#getters.isEmpty && !this.#isServing && this.#line.readyAt === undefined;
  }

  /** Reports whether an item is ready that no pending call to `get` must receive first. */
  #hasFree(): boolean {
    if (!this.#getters.isEmpty) this.#serveGetters(); // a block may have ended with time
    return this.#getters.isEmpty && this.length > 0;
  }

  /** Whether a call or a callback awaits a change. */
  get #isAwaited(): boolean {
    return !(this.#getters.isEmpty && this.#watchers.isEmpty);
  }

  #tellWatchers(): void {
    this.#toldReady = !this.#watchers.isEmpty && this.length > 0;
    this.#watchers.tell();
    this.#setTimer();
  }

  /**
   * Sets the timer for the next time at which blocked items become ready. The timer is set only if no item is ready,
   * and a call or a callback awaits one. If a block has ended and nobody has been told, serves first.
   *
   * @param isNew Whether a call or a callback is about to wait, or has just begun to. Then, nobody is served.
   * @returns Whether no item is ready that the new call could get.
   */
  #setTimer(isNew = false): boolean {
    const { nextChangeAt } = this.#line;
    if (nextChangeAt === undefined && this.#pausedUntil === undefined && this.#wakeAt === Infinity) return true;
    const changeAt = this.#pausedUntil ?? nextChangeAt ?? Infinity; // before `length`, which may end a block
    const isReady = this.length > 0;
    if (isNew) {
      if (!isReady) this.#sleepUntil(changeAt);
    } else if (isReady && this.#isUntold) this.#serve();
    else this.#sleepUntil(this.#isAwaited && !isReady ? changeAt : Infinity);
    return !isReady || this.#isServing || this.#line.readyAt !== undefined;
  }

  /** Whether a call or a callback has not been told that an item is ready. */
  get #isUntold(): boolean {
    return this.#mayServeGetters || (!this.#watchers.isEmpty && !this.#toldReady);
  }

  #sleepUntil(wakeAt: number): void {
    if (wakeAt === this.#wakeAt) return;
    const hadTimer = this.#wakeAt !== Infinity;
    this.#wakeAt = Infinity; // until the timer is set, because the clock may throw
    if (hadTimer) this.#clock.clearTimeout(this.#timer);
    if (wakeAt === Infinity) return;
    const ms = Math.min(Math.max(Math.ceil(wakeAt - this.#clock.now()), 1), this.#sleep.max);
    this.#timer = this.#clock.setTimeout(() => this.#wake(), ms);
    if (!this.#sleep.ref) unref(this.#timer);
    this.#wakeAt = wakeAt;
  }

  /** Hands out items that have become ready with time. If the discipline throws, a pending call to `get` rejects. */
  #wake(): void {
    this.#wakeAt = Infinity;
    try {
      this.#serve();
    } catch (error) {
      if (!this.#getters.isEmpty) this.#getters.shift().reject(error);
    }
  }

  #beginBatch(time: number): AddSlice {
    const line = this.#line;
    const readyAt = Math.max(time, line.latest); // the clock may be set back
    line.batches++;
    return (action) => {
      const outer = line.readyAt; // set if this slice runs within another slice
      line.readyAt = readyAt;
      let isOver = true;
      try {
        isOver = action();
      } finally {
        line.readyAt = outer;
        if (isOver) line.batches--;
        this.#serve();
      }
    };
  }

  /**
   * Reports whether the queue is shut down and nothing is ready or blocked. Once nothing is ready or blocked after a
   * shutdown, only keys that were added again while processing can still be handed out.
   */
  readonly #isOver = (): boolean => this.#shuttingDown && this.#line.length === 0 && this.#line.blocked === 0;

  /** Hands out the next ready item. There must be a ready item. */
  #take(): Lease<T> {
    const key = this.#line.next();
    const { called: ticket, priority } = this.#line;
    const item = this.#items === undefined ? key as T : this.#beginProcessing(key);
    this.#latestTicket = ticket;
    this.#latestKey = key;
    if (this.#isAttended) this.#tellTaken(key, ticket);
    return new TicketLease(this, key, item, priority, ticket);
  }

  /** Reports a hand-out. Never throws, because the item would be lost: it is no longer ready, and has no lease yet. */
  #tellTaken(key: unknown, ticket: number): void {
    try {
      this.#observer?.taken(key, this.#line.drawn, ticket);
      this.#tellWatchers();
    } catch {
      // The clock threw. A measurement or a timer may be missing.
    }
  }

  /** Records the item that is handed out for a key, and returns it. */
  #beginProcessing(key: unknown): T {
    const item = this.#items!.get(key)!;
    this.#items!.delete(key);
    this.#processingItems!.set(key, item);
    return item;
  }

  /** Ends a hand-out. A key with a negative ticket becomes ready again. */
  #end(key: unknown, ticket: number): void {
    this.#forgetLatest();
    try {
      this.#processingItems?.delete(key);
      if (ticket < 0) this.#comeBack(key);
      else this.#line.leave(key);
    } finally {
      if (this.#isAttended) this.#afterEnd(ticket);
    }
  }

  #afterEnd(ticket: number): void {
    this.#observer?.finished(Math.abs(ticket));
    this.#serve(); // the discipline may have blocked other keys until this key was done
    this.#setAttended();
  }

  /** Makes a processing key ready. The key becomes ready even if a discipline throws. */
  #comeBack(key: unknown): void {
    this.#comingBack--;
    const item = this.#items === undefined ? key as T : this.#items.get(key)!;
    let drawn: number | undefined;
    try {
      drawn = this.#line.rejoin(key, item);
    } finally {
      drawn ??= this.#line.ticketOf(key)!;
      if (drawn > this.#line.called) this.#observer?.ready(drawn); // unless the key was handed out meanwhile
    }
  }

  #forgetLatest(): void {
    this.#latestTicket = 0;
    this.#latestKey = undefined;
  }

  #close(): void {
    this.#shuttingDown = true;
    this.#observer?.stop();
    this.#serve();
  }
}
