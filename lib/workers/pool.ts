import { A_METRICS_PROVIDER, A_POSITIVE_INTEGER, requireRule } from "../base/arguments.ts";
import { SOURCE } from "../base/brands.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import { FailureLog } from "../base/failure_log.ts";
import { titleOf } from "../base/inspection.ts";
import type { Handler } from "../contracts/handler.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { SnapshotOptions } from "../contracts/work_queue.ts";
import type { SourcedQueue, WorkLease, WorkSource } from "../contracts/work_source.ts";
import type { PoolSnapshot, WorkerOptions, WorkerPool } from "../contracts/workers.ts";
import { setFailureWatch } from "../metrics/failure_watch.ts";
import type { PoolMetrics } from "../metrics/pool_metrics.ts";
import { setTotals } from "../metrics/totals.ts";
import { measuringOf } from "../queue/opt_ins.ts";
import { limitOf } from "../queue/options.ts";
import { type AttemptTime, BurstTime } from "../structures/burst_time.ts";
import { Attempt, AttemptContext, requireCost } from "./attempt.ts";
import { Failures } from "./failures.ts";
import { Intake, soon } from "./intake.ts";
import { Outcomes, retryAfterOf } from "./outcome.ts";
import type { HeldPermit } from "./pool_permits.ts";
import { Reports } from "./reports.ts";
import { Running, type Worker } from "./running.ts";
import { changedSettings, type PoolChanges, type PoolSettings, settingsOf } from "./settings.ts";
import { Slots } from "./slots.ts";
import { snapshotOf, type ViewedPool } from "./view.ts";

/** Runs the handler on items from a source until the source has shut down or the pool is stopped. */
export class Pool<T> implements WorkerPool<T> {
  readonly finished: Promise<void>;
  readonly #source: WorkSource<T>;
  readonly #handler: Handler<T>;
  /** Settings of the pool. Some may change at any time, so read each setting when it is used. */
  readonly #settings: PoolSettings<T> & { readonly clock: Clock; readonly queue: string };
  readonly #time: AttemptTime;
  readonly #metrics: PoolMetrics | undefined;
  readonly #reports: Reports<T>;
  readonly #failures: Failures<T>;
  readonly #outcomes: Outcomes<T>;
  readonly #slots: Slots;
  readonly #running = new Running<T>();
  readonly #intake: Intake<T>;
  readonly #endWatchGivenUp: (() => void) | undefined;
  /** Number of calls of `pause` so far. */
  #pauses = 0;
  #failure: { error: unknown } | undefined = undefined;
  #settle!: () => void;

  /** `timeOf` returns the source of the attempts' times. By default, attempts of the same burst share a time. */
  constructor(
    source: WorkSource<T>,
    handler: Handler<T>,
    settings: PoolSettings<T>,
    timeOf: (clock: Clock) => AttemptTime = (clock) => new BurstTime(clock),
  ) {
    const clock = settings.clock ?? source.clock ?? systemClock;
    this.#settings = { ...settings, clock, queue: source.name };
    this.#source = source;
    this.#handler = handler;
    this.#time = timeOf(clock);
    this.#failures = new Failures(this.#time, source);
    const { metrics, name } = source;
    if (metrics !== undefined && name !== "") {
      requireRule("run workers", "metrics", metrics, A_METRICS_PROVIDER);
      this.#metrics = new (measuringOf(metrics).PoolMetrics)(metrics, name);
    }
    this.#reports = new Reports(settings.callbacks, new FailureLog(source.name, clock), this.#metrics, this.#failures);
    this.#outcomes = new Outcomes(
      source,
      this.#failures,
      this.#reports,
      this.#settings,
      () => this.#endIfIdle(),
    );
    this.#slots = new Slots(this.#settings);
    this.#intake = new Intake(source, this.#slots, this.#settings, {
      work: (lease) => void this.#work(lease),
      handBack: (lease) => this.#handBack(lease),
      fail: (error) => this.#fail(error),
      onIdle: () => this.#endIfIdle(),
    });
    this.#metrics?.setConcurrency(settings.concurrency);
    this.#endWatchGivenUp = source.watchGivenUp?.((given) => this.#reports.givenUp(given));
    this.finished = new Promise((resolve, reject) => {
      this.#settle = () => this.#failure === undefined ? resolve() : reject(this.#failure.error);
    });
    settings.signal?.addEventListener("abort", this.#interrupt, { once: true });
    if (settings.signal?.aborted) this.#interrupt();
    soon(() => this.#intake.fill()); // not at once, so that the handler can refer to the pool
    setTotals(this, () => {
      const { totals } = this.#reports;
      return this.#pauses === 0 ? totals : { ...totals, pauses: this.#pauses };
    });
    setFailureWatch<T>(this, (watcher) => this.#failures.watch(watcher));
  }

  get active(): number {
    return this.#slots.taken - (this.#intake.keepsSlot ? 1 : 0);
  }

  get concurrency(): number {
    return this.#settings.concurrency;
  }

  set concurrency(concurrency: number) {
    requireRule("set concurrency", "concurrency", concurrency, A_POSITIVE_INTEGER);
    this.#settings.concurrency = concurrency;
    this.#followConcurrency();
  }

  get throttle(): WorkerOptions["throttle"] {
    return this.#settings.throttle;
  }

  /**
   * Changes the given settings. A running attempt keeps its timeout. A new `maxRetries` applies from the next failure
   * on. A new `throttle` applies from the next permit on, and counts the running attempts. No handler starts before the
   * current synchronous code has ended.
   */
  change(changes: PoolChanges): void {
    const { throttle } = this.#settings;
    Object.assign(this.#settings, changedSettings(changes));
    if (this.#intake.state === "ended") return;
    const leaveThrottle = this.#settings.throttle === throttle
      ? undefined
      : this.#orFail(() => this.#intake.changeThrottle(this.#running));
    soon(() => {
      leaveThrottle?.(); // not earlier, because another pool that gets a permit starts a handler immediately
      this.#followConcurrency();
    });
  }

  pause(): void {
    this.#pauses++;
    if (this.#intake.state !== "open") return;
    this.#intake.state = "paused";
    this.#intake.takeBack();
  }

  resume(): void {
    if (this.#intake.state !== "paused") return;
    this.#intake.state = "open";
    this.#intake.fill();
  }

  stop(): Promise<void> {
    this.#takeNoMore();
    this.#endIfIdle(); // otherwise, nothing would end a paused pool
    return this.finished;
  }

  snapshot(options?: SnapshotOptions): PoolSnapshot<T> {
    return snapshotOf(this.view, limitOf(options));
  }

  toString(): string {
    const { name } = this.#source;
    return titleOf(name === "" ? "WorkerPool" : "WorkerPool of", name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get view(): ViewedPool<T> {
    return {
      source: this.#source,
      state: this.#intake.state,
      active: this.active,
      slots: this.#slots,
      running: this.#running,
      failures: this.#failures,
      settings: this.#settings,
    };
  }

  /** Starts more handlers if slots are free. If no slot is free for the next item, stops waiting for the item. */
  #followConcurrency(): void {
    this.#metrics?.setConcurrency(this.#settings.concurrency);
    const { free } = this.#slots;
    if (free > 0 || (free === 0 && this.#intake.keepsSlot)) this.#intake.fill();
    else this.#intake.takeBack();
  }

  /** Processes the item, and then other items as long as the intake returns any. Never rejects. */
  async #work(first: WorkLease<T>): Promise<void> {
    const worker = this.#running.begin();
    let returned = this.#handle(worker, first);
    while (returned !== undefined) {
      const attempt = worker.attempt!;
      try {
        this.#outcomes.succeed(attempt, await returned);
      } catch (error) {
        this.#failed(attempt, error);
      }
      returned = this.#handle(worker, this.#end(worker, attempt));
    }
    this.#running.end(worker);
    this.#endIfIdle();
  }

  /**
   * Processes items until a handler returns a promise or another value. Returns that value, which settles the worker's
   * attempt, or `undefined` if the intake returns no more items. Not part of `#work`, because async functions are slow.
   */
  #handle(worker: Worker<T>, lease: WorkLease<T> | undefined): ReturnType<Handler<T>> {
    const handler = this.#handler; // a call as `this.#handler(…)` would make the pool its `this`
    while (lease !== undefined) {
      this.#slots.take();
      const permit = this.#intake.takePermit();
      const attempt: Attempt<T> | undefined = worker.attempt = this.#begin(lease);
      if (attempt === undefined) {
        this.#slots.giveBack();
        if (permit !== undefined) this.#orFail(() => this.#intake.putBack(permit));
        lease = this.#intake.take();
        continue;
      }
      this.#metrics?.active?.inc();
      try {
        if (permit !== undefined) this.#beginPermit(attempt, permit);
        attempt.startTimer(this.#onTimeout);
        attempt.began = this.#time.beginning();
        const returned = handler(lease.item, new AttemptContext(attempt));
        if (returned !== undefined) {
          attempt.began ??= this.#time.now();
          return returned;
        }
        this.#outcomes.succeed(attempt, undefined);
      } catch (error) {
        this.#failed(attempt, error);
      }
      lease = this.#end(worker, attempt);
    }
  }

  /** Ends an attempt whose outcome is settled, and takes the worker's next item. */
  #end(worker: Worker<T>, attempt: Attempt<T>): WorkLease<T> | undefined {
    this.#metrics?.active?.dec();
    this.#slots.giveBack(attempt.timedOut !== undefined);
    worker.attempt = undefined;
    try {
      attempt.end();
    } catch (error) { // a discipline or a third-party source threw
      this.#reports.error(error, attempt);
    }
    if (attempt.permit !== undefined) this.#endPermit(attempt);
    return this.#intake.take();
  }

  /** Books the cost of an attempt. Throws if the cost is invalid. */
  #beginPermit(attempt: Attempt<T>, permit: HeldPermit): void {
    attempt.permit = permit;
    const cost = this.#settings.cost?.(attempt.item) ?? 1;
    requireCost("begin attempt", cost);
    permit.begin(cost);
  }

  #endPermit(attempt: Attempt<T>): void {
    try {
      attempt.permit!.end();
    } catch (error) { // a third-party throttle threw
      this.#reports.error(error, attempt);
    }
  }

  /** Ends an attempt whose handler threw. */
  #failed(attempt: Attempt<T>, error: unknown): void {
    if (attempt.permit !== undefined) {
      attempt.permit.outcome = this.#isOverload(attempt, error) ? "overloaded" : "failed";
    }
    this.#outcomes.fail(attempt, error);
  }

  #isOverload(attempt: Attempt<T>, error: unknown): boolean {
    if (attempt.timedOut !== undefined || retryAfterOf(error) > 0) return true;
    try {
      return this.#settings.isOverload?.(error) === true;
    } catch (thrown) {
      this.#reports.error(thrown, attempt);
      return false;
    }
  }

  /** Returns the attempt that begins now, in the same turn of the event loop; `undefined` if none may begin. */
  #begin(lease: WorkLease<T>): Attempt<T> | undefined {
    try {
      const key = this.#source.keyOf(lease);
      const number = this.#source.attemptOf(lease, key);
      if (this.#source.mayBegin?.(lease) === false) return undefined; // the source has handed the item back
      return new Attempt(lease, key, number, this.#settings);
    } catch (error) { // a third-party source threw
      this.#fail(error);
      this.#handBackUnbegun(lease);
    }
  }

  /** Hands back an item whose attempt cannot start. Disposing the lease alone would mark the item as done. */
  #handBackUnbegun(lease: WorkLease<T>): void {
    this.#orFail(() => this.#outcomes.handBack({ lease, key: lease.item, number: 1 }));
    this.#release(lease);
  }

  /**
   * Hands back an item for which no handler may start. If the source refuses to take the item back, the pool processes
   * the item after all.
   */
  #handBack(lease: WorkLease<T>): void {
    try {
      const attempt = this.#begin(lease);
      if (attempt === undefined) return;
      if (this.#outcomes.handBack(attempt)) this.#release(lease);
      else {
        this.#intake.chargeAhead();
        void this.#work(lease);
      }
    } catch (error) {
      this.#fail(error);
      this.#release(lease);
    }
  }

  #release(lease: WorkLease<T>): void {
    this.#orFail(() => lease[Symbol.dispose]());
  }

  /**
   * Abandons the handler and continues without it. The handler's item counts as processing until the handler ends, so
   * no other handler receives the item before then.
   */
  readonly #onTimeout = (attempt: Attempt<T>): void => {
    const { error } = attempt.timedOut!;
    this.#outcomes.failEarly(attempt, error);
    this.#reports.failed(error, attempt);
    if (this.#slots.abandon()) this.#reports.error(this.#slots.boundError(), attempt);
    if (attempt.permit !== undefined) {
      attempt.permit.outcome = "overloaded";
      this.#endPermit(attempt);
    }
    this.#intake.fill();
  };

  readonly #interrupt = (): void => void this.stop();

  /** Calls a third-party source or throttle. If it throws, stops the pool. */
  #orFail<R>(call: () => R): R | undefined {
    try {
      return call();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Stops the pool because the source or the throttle failed. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#takeNoMore();
  }

  #takeNoMore(): void {
    if (this.#intake.state !== "ended") this.#intake.state = "stopping";
    this.#intake.takeBack();
  }

  /** Ends the pool if it takes no more items and has nothing left to do. */
  #endIfIdle(): void {
    const isStopping = this.#intake.state === "stopping";
    if (!isStopping && !(this.#intake.state === "open" && this.#intake.isShutDown)) return;
    if (!isStopping && this.#source.mayComeBack) this.#intake.watch(); // a key was added again, or is blocked
    else if (!this.#intake.isWaiting && this.#running.size === 0 && this.#outcomes.pending === 0) this.#finish();
  }

  #finish(): void {
    this.#intake.state = "ended";
    this.#settings.signal?.removeEventListener("abort", this.#interrupt);
    this.#orFail(() => this.#intake.end());
    this.#endWatchGivenUp?.();
    this.#metrics?.end();
    this.#settle();
  }
}

/** Returns a queue's own source. */
function sourceOf<T>(action: string, queue: RateLimitingQueue<T> | SourcedQueue<T>): WorkSource<T> {
  const makeSource = (queue as Partial<SourcedQueue<T>> | null | undefined)?.[SOURCE];
  if (typeof makeSource === "function") return makeSource.call(queue);
  throw invalidArgument(action, "queue", "must be a rate limiting queue", queue);
}

/** Starts a pool, as `runWorkers` does, and returns it with methods to change its settings. */
export function startPool<T>(
  queue: RateLimitingQueue<T> | SourcedQueue<T>,
  handler: Handler<T>,
  options: WorkerOptions<T>,
  timeOf?: (clock: Clock) => AttemptTime,
): Pool<T> {
  const action = "run workers";
  const source = sourceOf(action, queue);
  if (typeof handler !== "function") throw invalidArgument(action, "handler", "must be a function", handler);
  return new Pool(source, handler, settingsOf(action, options), timeOf);
}
