import type { Clock } from "../base/clock.ts";
import type { HandlerContext } from "../contracts/handler.ts";
import type { WorkAttempt, WorkLease } from "../contracts/work_source.ts";
import type { Moment } from "../structures/burst_time.ts";

/** What every attempt of a pool is subject to: what the terms are when it begins. */
export interface AttemptTerms {
  /** The name of the queue. */
  readonly queue: string;
  /** What time is taken from. */
  readonly clock: Clock;
  /** How long an attempt may take, in milliseconds; `undefined` is as long as it likes. */
  readonly timeout: number | undefined;
  /** Aborts the signal of every attempt. */
  readonly signal: AbortSignal | undefined;
}

/** One call of the handler: which item it is for, whether its time is up, and the signal that tells the handler so. */
export class Attempt<T> implements WorkAttempt<T> {
  readonly lease: WorkLease<T>;
  readonly key: unknown;
  /** 1 the first time. */
  readonly number: number;
  /** When the handler had begun to wait. One that does not wait is over before it would be looked at. */
  began: Moment | undefined = undefined;
  /** Set once the time is up. The attempt has failed, whatever the handler still does. */
  timeoutError: DOMException | undefined = undefined;
  readonly #terms: AttemptTerms;
  #timer: unknown = undefined;
  #hasEnded = false;
  /** Made when it is needed, as most handlers never read their signal. */
  #controller: AbortController | undefined = undefined;
  #stopListening: (() => void) | undefined = undefined;

  constructor(lease: WorkLease<T>, key: unknown, number: number, terms: AttemptTerms) {
    this.lease = lease;
    this.key = key;
    this.number = number;
    this.#terms = terms;
  }

  get queue(): string {
    return this.#terms.queue;
  }

  get item(): T {
    return this.lease.item;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      this.#listenTo(this.#terms.signal, this.#controller);
      this.#listenTo(this.lease.signal, this.#controller);
    }
    return this.#controller.signal;
  }

  /** Whether the lease was lost, as far as is known: what comes of the attempt will not count. */
  get isLost(): boolean {
    return this.lease.signal?.aborted ?? false;
  }

  /** Begins to measure the time. `onTimeout` is called if the attempt has not ended when its time is up. */
  startTimer(onTimeout: (attempt: Attempt<T>) => void): void {
    const { clock, timeout } = this.#terms;
    if (timeout !== undefined) this.#timer = clock.setTimeout(() => this.#timeOut(timeout, onTimeout), timeout);
  }

  /** The handler has ended: there is nothing to interrupt any more. */
  end(): void {
    this.#hasEnded = true;
    this.#stopListening?.();
    if (this.#timer !== undefined) this.#terms.clock.clearTimeout(this.#timer);
  }

  #timeOut(timeout: number, onTimeout: (attempt: Attempt<T>) => void): void {
    if (this.#hasEnded) return;
    this.timeoutError = new DOMException(`The handler did not end within ${timeout} ms`, "TimeoutError");
    if (!this.signal.aborted) this.#controller!.abort(this.timeoutError);
    onTimeout(this);
  }

  #listenTo(signal: AbortSignal | undefined, controller: AbortController): void {
    if (signal === undefined || this.#hasEnded) return;
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    const stopBefore = this.#stopListening;
    this.#stopListening = () => {
      signal.removeEventListener("abort", abort);
      stopBefore?.();
    };
  }
}

/** What the handler is given of an attempt. */
export class AttemptContext implements HandlerContext {
  readonly attempt: number;
  readonly #attempt: Attempt<unknown>;

  constructor(attempt: Attempt<unknown>) {
    this.attempt = attempt.number;
    this.#attempt = attempt;
  }

  get signal(): AbortSignal {
    return this.#attempt.signal;
  }

  get queue(): string {
    return this.#attempt.queue;
  }

  get key(): unknown {
    return this.#attempt.key;
  }

  // Leases of somebody else's may have none of these.

  get priority(): number {
    return this.#attempt.lease.priority ?? 0;
  }

  /** A function of its own each time, so that it works without the context and costs nothing unless it is read. */
  get addedAgain(): () => boolean {
    const { lease } = this.#attempt;
    return () => lease.addedAgain?.() ?? false;
  }

  get token(): bigint | undefined {
    return this.#attempt.lease.token;
  }
}
