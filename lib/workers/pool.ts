import { type Clock, systemClock } from "../base/clock.ts";
import type { Handler } from "../contracts/handler.ts";
import type { AttemptCounts } from "../contracts/queue_hooks.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { Lease, Shutdown } from "../contracts/work_queue.ts";
import type { WorkerPool } from "../contracts/workers.ts";
import { burst } from "../structures/burst.ts";
import { Attempt, AttemptContext, type AttemptTerms } from "./attempt.ts";
import { attemptCountsOf } from "./attempt_counts.ts";
import { FailureLog } from "./failure_log.ts";
import { giveBack } from "./give_back.ts";
import { Outcomes } from "./outcome.ts";
import { type Callbacks, Reports } from "./reports.ts";
import { Slots } from "./slots.ts";

/** The options of a pool, checked, with defaults filled in, and with lengths of time in milliseconds. */
export interface PoolSettings<T> {
  readonly concurrency: number;
  readonly maxAbandoned: number;
  readonly maxRetries: number;
  readonly timeout: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
  readonly callbacks: Callbacks<T>;
}

/** Takes items from a queue whenever one more handler may begin, until the queue is empty and shut down or the pool is stopped. */
export class Pool<T> implements WorkerPool {
  readonly finished: Promise<void>;
  readonly #queue: RateLimitingQueue<T>;
  readonly #handler: Handler<T>;
  readonly #terms: AttemptTerms;
  readonly #counts: AttemptCounts;
  readonly #reports: Reports<T>;
  readonly #outcomes: Outcomes<T>;
  readonly #slots: Slots;
  /** How many calls of `#work` have not returned. */
  #workers = 0;
  /** Whether the pool takes no more items; and what ends its wait for one. To look at the signal would take longer. */
  #isStopped = false;
  readonly #stopped = new AbortController();
  /** Whether the pool waits for an item, with a slot kept free for it; and whether it waits for a pause to end. */
  #isWaiting = false;
  #isPausing = false;
  #isShutDown = false;
  /** Under a clock of somebody else's nothing waits for the event loop, which knows real time only. */
  readonly #makesPauses: boolean;
  #failure: { error: unknown } | undefined = undefined;
  /** Settles `finished`. */
  #end!: () => void;

  constructor(queue: RateLimitingQueue<T>, handler: Handler<T>, settings: PoolSettings<T>) {
    const { concurrency, maxAbandoned, maxRetries, timeout, signal, clock, callbacks } = settings;
    this.#queue = queue;
    this.#handler = handler;
    this.#terms = { clock, timeout, interruption: signal };
    this.#counts = attemptCountsOf(queue);
    this.#reports = new Reports(callbacks, new FailureLog(queue.name, clock));
    this.#outcomes = new Outcomes(queue, this.#counts, { maxRetries, interruption: signal }, this.#reports);
    this.#slots = new Slots(concurrency, maxAbandoned);
    this.#makesPauses = clock === systemClock;

    const interrupt = () => void this.stop();
    this.finished = new Promise((resolve, reject) => {
      this.#end = () => {
        signal?.removeEventListener("abort", interrupt);
        if (this.#failure === undefined) resolve();
        else reject(this.#failure.error);
      };
    });
    signal?.addEventListener("abort", interrupt, { once: true });
    if (signal?.aborted) interrupt();
    queueMicrotask(() => this.#fill()); // not at once, so that a handler can refer to the pool
  }

  get active(): number {
    return this.#slots.taken - (this.#isWaiting ? 1 : 0);
  }

  stop(): Promise<void> {
    this.#takeNoMore();
    return this.finished;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Starts workers for as long as one more handler may begin and an item is ready. */
  #fill(): void {
    this.#fillFrom(this.#take());
  }

  #fillFrom(lease: Lease<T> | undefined): void {
    for (; lease !== undefined; lease = this.#take()) this.#work(lease);
    this.#endIfIdle();
  }

  /** The next item, if one more handler may begin now. If not, the pool goes on by itself when one may. */
  #take(): Lease<T> | undefined {
    if (this.#isPausing || !this.#slots.isOneFree) return undefined;
    if (this.#makesPauses && burst.isTooLong()) {
      this.#pause();
      return undefined;
    }
    return this.#takeNow();
  }

  #takeNow(): Lease<T> | undefined {
    if (this.#isStopped) return undefined;
    let lease: Lease<T> | undefined;
    try {
      lease = this.#queue.tryGet();
    } catch (error) {
      this.#fail(error);
    }
    if (lease === undefined) this.#wait();
    return lease;
  }

  /** Lets timers and I/O have their turn, and all others who work in this program. */
  async #pause(): Promise<void> {
    this.#isPausing = true;
    await burst.turn();
    this.#isPausing = false;
    this.#fillFrom(this.#slots.isOneFree ? this.#takeNow() : undefined);
  }

  /** Waits for one item: when it is there, others may be as well. */
  async #wait(): Promise<void> {
    if (this.#isWaiting || this.#isShutDown || this.#isStopped) return;
    this.#isWaiting = true;
    this.#slots.take();
    let got: Lease<T> | Shutdown | undefined;
    try {
      got = await this.#queue.get({ signal: this.#stopped.signal });
    } catch (error) {
      if (!this.#isStopped) this.#fail(error);
    }
    this.#isWaiting = false;
    this.#slots.giveBack();
    if (got?.shutdown) this.#isShutDown = true;
    else if (got !== undefined) this.#accept(got);
    this.#fill();
  }

  /** An item may come just as the pool was stopped. If the queue does not take it back, it is the last one. */
  #accept(lease: Lease<T>): void {
    let isGivenBack: boolean;
    try {
      isGivenBack = this.#isStopped && giveBack(this.#queue, lease.item);
    } catch (error) {
      this.#fail(error);
      isGivenBack = true;
    }
    if (isGivenBack) this.#release(lease);
    else this.#work(lease);
  }

  /** Gives back an item that nobody worked on. */
  #release(lease: Lease<T>): void {
    try {
      lease[Symbol.dispose]();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The queue itself failed: nothing more can be taken from it. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#takeNoMore();
  }

  /** Ends a wait for an item. The end of that wait, or of a pause, ends the pool if nothing else is left. */
  #takeNoMore(): void {
    this.#isStopped = true;
    this.#stopped.abort();
  }

  #endIfIdle(): void {
    const takesNoMore = this.#isShutDown || this.#isStopped;
    if (takesNoMore && !this.#isWaiting && !this.#isPausing && this.#workers === 0) this.#end();
  }

  /** Handles the item, and then others for as long as there are some to take. Never rejects. */
  async #work(first: Lease<T>): Promise<void> {
    this.#workers++;
    const handler = this.#handler; // called as a function, so that `this` is not the pool there
    let lease: Lease<T> | undefined = first;
    while (lease !== undefined) {
      this.#slots.take();
      const attempt = this.#begin(lease);
      if (attempt !== undefined) {
        try {
          attempt.startTimer(this.#onTimeout);
          const returned = handler(attempt.item, new AttemptContext(attempt));
          const outcome = returned === undefined ? undefined : await returned;
          if (attempt.timeoutError !== undefined) throw attempt.timeoutError;
          this.#outcomes.succeed(attempt, outcome);
        } catch (error) {
          this.#outcomes.fail(attempt, error);
        }
      }
      this.#slots.giveBack(attempt?.timeoutError !== undefined);
      if (attempt !== undefined) this.#finish(lease, attempt);
      lease = this.#take();
    }
    this.#workers--;
    this.#endIfIdle();
  }

  #begin(lease: Lease<T>): Attempt<T> | undefined {
    const { item } = lease;
    try {
      const key = this.#queue.keyOf === undefined ? item : this.#queue.keyOf(item);
      return new Attempt(item, key, (this.#counts.get(key) ?? 0) + 1, this.#terms);
    } catch (error) { // of the queue's `keyOf`
      this.#fail(error);
      this.#release(lease);
    }
  }

  #finish(lease: Lease<T>, attempt: Attempt<T>): void {
    try {
      try {
        attempt.end();
      } finally {
        lease[Symbol.dispose]();
      }
    } catch (error) { // of the clock, or of the queue's metrics
      this.#reports.error(error, attempt);
    }
  }

  /** Goes on without the handler. Its item stays held until it ends: no other handler may have it before. */
  readonly #onTimeout = (attempt: Attempt<T>): void => {
    this.#reports.error(attempt.timeoutError, attempt);
    if (this.#slots.abandon()) this.#reports.error(this.#slots.boundError(), attempt);
    this.#fill();
  };
}
