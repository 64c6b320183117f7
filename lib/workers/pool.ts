import { A_METRICS_PROVIDER, A_POSITIVE_INTEGER, requireRule } from "../base/arguments.ts";
import { SOURCE } from "../base/brands.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import { FailureLog } from "../base/failure_log.ts";
import { titleOf } from "../base/inspection.ts";
import type { Handler } from "../contracts/handler.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { SnapshotOptions } from "../contracts/work_queue.ts";
import type { SourcedQueue, WorkSource } from "../contracts/work_source.ts";
import type { PoolSnapshot, WorkerOptions, WorkerPool } from "../contracts/workers.ts";
import { setFailureWatch } from "../metrics/failure_watch.ts";
import type { PoolMetrics } from "../metrics/pool_metrics.ts";
import { setTotals } from "../metrics/totals.ts";
import { measuringOf } from "../queue/opt_ins.ts";
import { limitOf } from "../queue/options.ts";
import { BurstTime, soon } from "../structures/burst.ts";
import { requireSource } from "./base_source.ts";
import type { Intake } from "./intake.ts";
import { Outcomes } from "./outcome.ts";
import { Reports } from "./reports.ts";
import { changedSettings, type PoolChanges, type PoolSettings, settingsOf } from "./settings.ts";
import { snapshotOf, type ViewedPool } from "./view.ts";
import { Workers } from "./workers.ts";

/** Pool that runs the handler on items from a source until the source has shut down or the pool is stopped. */
export class Pool<T> implements WorkerPool<T> {
  readonly finished: Promise<void>;
  readonly #source: WorkSource<T>;
  /** Settings of the pool. Some may change at any time, so read each setting when it is used. */
  readonly #settings: PoolSettings<T> & { readonly clock: Clock; readonly queue: string };
  readonly #metrics: PoolMetrics | undefined;
  readonly #reports: Reports<T>;
  readonly #outcomes: Outcomes<T>;
  readonly #workers: Workers<T>;
  readonly #intake: Intake<T>;
  readonly #endWatches: readonly (() => void)[];
  /** Number of calls of `pause` so far. */
  #pauses = 0;
  #failure: { error: unknown } | undefined = undefined;
  #settle!: () => void;

  constructor(source: WorkSource<T>, handler: Handler<T>, settings: PoolSettings<T>) {
    const clock = settings.clock ?? source.clock ?? systemClock;
    this.#settings = { ...settings, clock, queue: source.name };
    this.#source = source;
    const { metrics, name } = source;
    if (metrics !== undefined && name !== "") {
      requireRule("run workers", "metrics", metrics, A_METRICS_PROVIDER);
      this.#metrics = new (measuringOf(metrics).PoolMetrics)(metrics, name);
    }
    const time = new BurstTime(clock);
    const { callbacks } = settings;
    const log = new FailureLog(name, clock);
    this.#reports = new Reports({ source, callbacks, log, metrics: this.#metrics, time });
    const endIfIdle = () => this.#endIfIdle();
    this.#outcomes = new Outcomes(source, this.#reports, this.#settings, endIfIdle);
    this.#workers = new Workers({
      source,
      handler,
      settings: this.#settings,
      time,
      outcomes: this.#outcomes,
      reports: this.#reports,
      active: this.#metrics?.active,
      fail: (error) => this.#fail(error),
      endIfIdle,
    });
    this.#intake = this.#workers.intake;
    this.#metrics?.setConcurrency(settings.concurrency);
    this.#endWatches = [
      source.watchGivenUp((given) => this.#reports.givenUp(given)),
      source.watchHeld(this.#workers.tell, settings.abortFor !== undefined),
    ];
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
    setFailureWatch<T>(this, (watcher) => this.#reports.watch(watcher));
  }

  get active(): number {
    return this.#workers.slots.taken - (this.#intake.isWaiting ? 1 : 0);
  }

  get concurrency(): number {
    return this.#settings.concurrency;
  }

  set concurrency(concurrency: number) {
    requireRule("set concurrency", "concurrency", concurrency, A_POSITIVE_INTEGER);
    this.#settings.concurrency = concurrency;
    this.#followConcurrency();
  }

  /** Keeps this number of slots free. */
  reserve(slots: number): void {
    this.#workers.slots.reserved = slots;
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
    const left = this.#settings.throttle === throttle
      ? undefined
      : this.#workers.orFail(() => this.#intake.changeGate(this.#workers.running()));
    soon(() => {
      left?.end(); // not earlier, because another pool that gets a permit starts a handler immediately
      this.#followConcurrency();
    });
  }

  pause(): void {
    this.#pauses++;
    if (this.#intake.state !== "open") return;
    this.#intake.setState("paused");
    this.#intake.takeBack();
  }

  resume(): void {
    if (this.#intake.state !== "paused") return;
    this.#intake.setState("open");
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
      abandoned: this.#workers.slots.abandoned,
      running: this.#workers.running(),
      reports: this.#reports,
      settings: this.#settings,
    };
  }

  /** Starts more handlers if slots are free. If no slot is free for the next item, stops waiting for the item. */
  #followConcurrency(): void {
    const { slots } = this.#workers;
    this.#metrics?.setConcurrency(this.#settings.concurrency);
    slots.adjust();
    if (this.active >= slots.count) this.#intake.takeBack();
    this.#intake.fill();
  }

  readonly #interrupt = (): void => void this.stop();

  /** Stops the pool because the source or the throttle failed. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#takeNoMore();
  }

  #takeNoMore(): void {
    if (this.#intake.state !== "ended") this.#intake.setState("stopping");
    this.#intake.takeBack();
  }

  /** Ends the pool if it takes no more items and has nothing left to do. */
  #endIfIdle(): void {
    const isStopping = this.#intake.state === "stopping";
    if (!isStopping && !(this.#intake.state === "open" && this.#intake.isShutDown)) return;
    if (!isStopping && this.#source.mayComeBack) this.#intake.watch(); // a key was added again, or is blocked
    else if (!this.#intake.mayBring && this.#workers.busy.size === 0 && this.#outcomes.pending === 0) this.#finish();
  }

  #finish(): void {
    this.#intake.setState("ended");
    this.#settings.signal?.removeEventListener("abort", this.#interrupt);
    this.#workers.orFail(() => this.#intake.end());
    for (const end of this.#endWatches) end();
    this.#metrics?.end();
    this.#settle();
  }
}

/** Returns a queue's own source. */
function sourceOf<T>(action: string, queue: RateLimitingQueue<T> | SourcedQueue<T>): WorkSource<T> {
  const makeSource = (queue as Partial<SourcedQueue<T>> | null | undefined)?.[SOURCE];
  if (typeof makeSource === "function") {
    const source = makeSource.call(queue);
    requireSource(action, source);
    return source;
  }
  throw invalidArgument(action, "queue", "must be a rate limiting queue, or have [SOURCE]", queue);
}

/** Starts a pool, as `runWorkers` does, and returns it with methods to change its settings. */
export function startPool<T>(
  queue: RateLimitingQueue<T> | SourcedQueue<T>,
  handler: Handler<T>,
  options: WorkerOptions<T>,
): Pool<T> {
  const action = "run workers";
  const source = sourceOf(action, queue);
  if (typeof handler !== "function") throw invalidArgument(action, "handler", "must be a function", handler);
  return new Pool(source, handler, settingsOf(action, options));
}
