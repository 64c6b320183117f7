import { requireInteger } from "../base/arguments.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Handler, Outcome } from "../contracts/handler.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import type { Shutdown, SnapshotOptions } from "../contracts/work_queue.ts";
import type { WorkLease, WorkSource } from "../contracts/work_source.ts";
import type { PoolSnapshot, WorkerPool } from "../contracts/workers.ts";
import { limitOf } from "../queue/call_options.ts";
import { PoolMetrics } from "../metrics/pool_metrics.ts";
import { setTotals } from "../metrics/totals.ts";
import { burst } from "../structures/burst.ts";
import { Attempt, AttemptContext } from "./attempt.ts";
import { BurstTime } from "./burst_time.ts";
import { Endings } from "./endings.ts";
import { FailureLog } from "./failure_log.ts";
import { Failures, MAX_FAILURES } from "./failures.ts";
import { Outcomes } from "./outcome.ts";
import { type PoolView, setPoolInspection } from "./pool_inspection.ts";
import { Reports } from "./reports.ts";
import { Running } from "./running.ts";
import { changedSettings, type PoolChanges, type PoolSettings } from "./settings.ts";
import { Slots } from "./slots.ts";
import { listFailing, listRunning } from "./snapshot.ts";
import { Starts } from "./starts.ts";
import { Wait } from "./wait.ts";

/** Takes items from a source whenever one more handler may begin, until the source is over or the pool is stopped. */
export class Pool<T> implements WorkerPool<T> {
  readonly finished: Promise<void>;
  readonly #source: WorkSource<T>;
  readonly #handler: Handler<T>;
  /** Some of them may change at any time, so all of the parts below read them from here. */
  readonly #settings: PoolSettings<T> & { readonly clock: Clock; readonly queue: string };
  readonly #time: BurstTime;
  readonly #metrics: PoolMetrics | undefined;
  readonly #reports: Reports<T>;
  readonly #failures: Failures<T>;
  readonly #endings: Endings<T>;
  readonly #outcomes: Outcomes<T>;
  readonly #slots: Slots;
  readonly #running = new Running<T>();
  /** The wait for an item, with a slot kept free for it. */
  readonly #wait: Wait;
  /** The tokens that the pool takes itself. */
  #starts: Starts | undefined;
  #endWatch: (() => void) | undefined = undefined;
  /** Whether the pool takes no more items, and whether it takes none for now. */
  #isStopped = false;
  #isPaused = false;
  /** Neither of both. */
  #isOpen = true;
  /** Whether the pool lets the event loop have its turns. */
  #isYielding = false;
  #isShutDown = false;
  /** Under a clock of somebody else's nothing waits for the event loop, which knows real time only. */
  readonly #makesPauses: boolean;
  #failure: { error: unknown } | undefined = undefined;
  /** Settles `finished`. */
  #end!: () => void;

  constructor(source: WorkSource<T>, handler: Handler<T>, settings: PoolSettings<T>) {
    const clock = settings.clock ?? source.clock ?? systemClock;
    const { signal } = settings;
    this.#settings = { ...settings, clock, queue: source.name };
    this.#source = source;
    this.#handler = handler;
    this.#time = new BurstTime(clock);
    this.#failures = new Failures(this.#time);
    if (source.metrics !== undefined && source.name !== "") {
      this.#metrics = new PoolMetrics(source.metrics, source.name);
    }
    this.#reports = new Reports(settings.callbacks, new FailureLog(source.name, clock), this.#metrics);
    this.#endings = new Endings(source, this.#failures, this.#reports, () => this.#endIfIdle());
    this.#outcomes = new Outcomes(this.#endings, this.#reports, this.#settings);
    this.#slots = new Slots(this.#settings);
    this.#makesPauses = clock === systemClock;
    this.#wait = new Wait(() => this.#wanted(), () => source.takesTokens ? this.#settings.starts : undefined);
    this.#starts = this.#newStarts();
    this.#metrics?.setConcurrency(settings.concurrency);

    const interrupt = () => void this.stop();
    this.finished = new Promise((resolve, reject) => {
      this.#end = () => {
        signal?.removeEventListener("abort", interrupt);
        this.#endWatch?.();
        this.#starts?.end();
        this.#metrics?.end();
        if (this.#failure === undefined) resolve();
        else reject(this.#failure.error);
      };
    });
    signal?.addEventListener("abort", interrupt, { once: true });
    if (signal?.aborted) interrupt();
    soon(() => this.#fill()); // so that a handler can refer to the pool
    setTotals(this, () => this.#reports.totals);
    setPoolInspection<Pool<T>>(Pool.prototype, (pool) => pool.#view);
  }

  get active(): number {
    return this.#slots.taken - (this.#wait.isOn ? 1 : 0);
  }

  get concurrency(): number {
    return this.#settings.concurrency;
  }

  set concurrency(concurrency: number) {
    requireInteger("set concurrency", "concurrency", concurrency, 1);
    this.#settings.concurrency = concurrency;
    this.#followConcurrency();
  }

  get starts(): TokenSource | undefined {
    return this.#settings.starts;
  }

  /**
   * Changes the settings that are given. An attempt that runs keeps its timeout, `maxRetries` counts at the next failure,
   * and what waits for a token waits for one of the new bucket. Begins no handler before the code that runs now has ended.
   */
  change(changes: PoolChanges): void {
    const before = this.#settings.starts;
    Object.assign(this.#settings, changedSettings(changes));
    let old: Starts | undefined;
    if (this.#settings.starts !== before) {
      old = this.#starts;
      this.#starts = this.#newStarts();
      this.#takeBackWaits();
    }
    soon(() => {
      old?.end(); // only now, as a pool that it gives its token to begins a handler at once
      this.#followConcurrency();
    });
  }

  pause(): void {
    this.#isPaused = true;
    this.#isOpen = false;
    this.#takeBackWaits();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#isOpen = !this.#isStopped;
    this.#fill();
  }

  stop(): Promise<void> {
    this.#takeNoMore();
    this.#endIfIdle(); // nobody else does if the pool is paused
    return this.finished;
  }

  snapshot(options?: SnapshotOptions): PoolSnapshot<T> {
    const limit = limitOf(options);
    const { clock } = this.#settings;
    return {
      active: this.active,
      abandoned: this.#slots.overdue,
      concurrency: this.concurrency,
      paused: this.#isPaused,
      runningItems: listRunning(this.#running, clock, limit),
      failingItems: listFailing(this.#failures, this.#source, clock, limit),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get #view(): PoolView {
    return {
      queue: this.#source.name,
      active: this.active,
      abandoned: this.#slots.overdue,
      concurrency: this.concurrency,
      state: this.#isStopped ? "stopped" : this.#isPaused ? "paused" : "",
      failing: () => this.#failures.list(MAX_FAILURES, (key) => this.#source.isFailing?.(key) ?? true),
    };
  }

  /** More handlers may begin than before, or fewer. */
  #followConcurrency(): void {
    this.#metrics?.setConcurrency(this.#settings.concurrency);
    const { free } = this.#slots;
    if (free > 0 || (free === 0 && this.#wait.isOn)) this.#fill();
    else this.#takeBackWaits();
  }

  #newStarts(): Starts | undefined {
    const { starts, clock } = this.#settings;
    if (starts === undefined || this.#source.takesTokens) return undefined;
    // So that a pool that waits for a token learns that no item will come.
    this.#endWatch ??= this.#source.watch?.(() => {
      if (this.#starts?.isWaiting) soon(() => this.#fill());
    });
    return new Starts(starts, clock, { onServed: () => this.#fill(), onTakenAway: () => this.#wait.takeBack() });
  }

  /** Starts workers for as long as one more handler may begin and an item is ready. */
  #fill(): void {
    this.#fillFrom(this.#take());
  }

  #fillFrom(lease: WorkLease<T> | undefined): void {
    for (; lease !== undefined; lease = this.#take()) this.#work(lease);
    this.#endIfIdle();
  }

  /** The next item, if one more handler may begin now. If not, the pool goes on by itself when one may. */
  #take(): WorkLease<T> | undefined {
    if (this.#isYielding || !this.#mayBegin()) return undefined;
    if (this.#makesPauses && burst.isTooLong()) {
      this.#yield();
      return undefined;
    }
    return this.#takeNow();
  }

  /** Whether one more handler may begin now. If not, what was brought for one is for others. */
  #mayBegin(): boolean {
    if (this.#isOpen && this.#slots.isOneFree) return true;
    this.#source.giveBackUnused?.();
    return false;
  }

  #takeNow(): WorkLease<T> | undefined {
    let lease: WorkLease<T> | undefined;
    try {
      if (this.#starts !== undefined && !this.#mayStart(this.#starts)) return undefined;
      lease = this.#source.tryTake();
    } catch (error) {
      this.#fail(error);
    }
    if (lease === undefined) this.#waitForItem();
    return lease;
  }

  /** Whether there is a token for an item. None is needed if no item will come: the wait for one has to tell of the end then. */
  #mayStart(starts: Starts): boolean {
    if (this.#wait.isOn) return false; // with the token in hand
    const { length = 0, isOver = false } = this.#source;
    if (length > 0 || !(this.#isShutDown || isOver)) return starts.ask();
    starts.leave();
    return true;
  }

  /** Lets timers and I/O have their turn, and all others who work in this program. */
  async #yield(): Promise<void> {
    this.#isYielding = true;
    await burst.turn();
    this.#isYielding = false;
    this.#fillFrom(this.#mayBegin() ? this.#takeNow() : undefined);
  }

  /** Waits for one item: when it is there, others may be as well. */
  async #waitForItem(): Promise<void> {
    if (this.#wait.isOn || this.#isShutDown || this.#isStopped) return;
    this.#slots.take();
    const request = this.#wait.begin();
    let got: WorkLease<T> | Shutdown | undefined;
    try {
      got = await this.#source.take(request);
    } catch (error) {
      if (!request.signal.aborted) this.#fail(error);
    }
    this.#wait.end();
    this.#slots.giveBack();
    if (got?.shutdown) this.#isShutDown = true;
    else if (got !== undefined) this.#accept(got);
    this.#fill();
  }

  /** How many items a wait is for: one for the slot that it keeps, and one for each that is free; but each needs its token. */
  #wanted(): number {
    return this.#starts === undefined ? 1 + Math.max(this.#slots.free, 0) : 1;
  }

  /** An item may come just as the wait for it was taken back. If the source does not take it, it is the last one. */
  #accept(lease: WorkLease<T>): void {
    try {
      let mayStart = this.#isOpen && this.#slots.isOneFree && (this.#starts?.ask() ?? true);
      if (!mayStart) {
        const attempt = this.#begin(lease);
        if (attempt === undefined) return;
        mayStart = !this.#endings.handBack(attempt);
      }
      if (mayStart) this.#work(lease);
      else this.#release(lease);
    } catch (error) {
      this.#fail(error);
      this.#release(lease);
    }
  }

  /** Gives back an item that nobody worked on. */
  #release(lease: WorkLease<T>): void {
    try {
      lease[Symbol.dispose]();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The source itself failed: nothing more can be taken from it. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#takeNoMore();
  }

  /** The end of a wait for an item, or for the event loop, ends the pool if nothing else is left. */
  #takeNoMore(): void {
    this.#isStopped = true;
    this.#isOpen = false;
    this.#takeBackWaits();
  }

  /** Ends the waits for an item and for a token, and gives back what was brought for more handlers than may begin. */
  #takeBackWaits(): void {
    this.#wait.takeBack();
    this.#starts?.leave();
    this.#source.giveBackUnused?.();
  }

  #endIfIdle(): void {
    // Once the queue has shut down, what is added again while it is held may still become ready.
    const takesNoMore = this.#isStopped || (this.#isShutDown && !this.#isPaused);
    if (!takesNoMore || this.#wait.isOn || this.#isYielding || this.#starts?.isWaiting) return;
    if (this.#running.size === 0 && this.#endings.pending === 0) this.#end();
  }

  /** Handles the item, and then others for as long as there are some to take. Never rejects. */
  async #work(first: WorkLease<T>): Promise<void> {
    const worker = this.#running.begin();
    const handler = this.#handler; // called as a function, so that `this` is not the pool there
    let lease: WorkLease<T> | undefined = first;
    while (lease !== undefined) {
      this.#slots.take();
      this.#starts?.use();
      const attempt: Attempt<T> | undefined = worker.attempt = this.#begin(lease);
      if (attempt !== undefined) {
        if (this.#metrics !== undefined) this.#reports.began(attempt);
        try {
          attempt.startTimer(this.#onTimeout);
          const returned = handler(attempt.item, new AttemptContext(attempt));
          let outcome: void | Outcome = undefined;
          if (returned !== undefined) {
            attempt.began = this.#time.now();
            outcome = await returned;
          }
          if (attempt.timeoutError !== undefined) throw attempt.timeoutError;
          this.#outcomes.succeed(attempt, outcome);
        } catch (error) {
          this.#outcomes.fail(attempt, error);
        }
        if (this.#metrics !== undefined) this.#reports.ended(attempt);
      }
      this.#slots.giveBack(attempt?.timeoutError !== undefined);
      worker.attempt = undefined;
      if (attempt !== undefined) this.#finish(attempt);
      lease = this.#take();
    }
    this.#running.end(worker);
    this.#endIfIdle();
  }

  #begin(lease: WorkLease<T>): Attempt<T> | undefined {
    try {
      const key = this.#source.keyOf(lease.item);
      return new Attempt(lease, key, this.#source.attemptOf(lease, key), this.#settings);
    } catch (error) { // of the queue's `keyOf`
      this.#fail(error);
      this.#release(lease);
    }
  }

  /** After its outcome. */
  #finish(attempt: Attempt<T>): void {
    try {
      try {
        attempt.end();
      } finally {
        attempt.lease[Symbol.dispose]();
      }
    } catch (error) { // of the clock, or of the queue's metrics
      this.#reports.error(error, attempt);
    }
  }

  /** Goes on without the handler. Its item stays held until it ends: no other handler may have it before. */
  readonly #onTimeout = (attempt: Attempt<T>): void => {
    this.#reports.failed(attempt.timeoutError, attempt);
    if (this.#slots.abandon()) this.#reports.error(this.#slots.boundError(), attempt);
    this.#fill();
  };
}

/** Calls back when the code that runs now has ended. A promise does so too where fake timers have `queueMicrotask`. */
function soon(callback: () => void): void {
  Promise.resolve().then(callback);
}
