import type { Clock } from "../base/clock.ts";
import type { HandlerContext } from "../contracts/handler.ts";
import type { WorkAttempt, WorkLease } from "../contracts/work_source.ts";

/** Pool settings that each attempt reads when it starts. */
export interface AttemptTerms {
  /** Name of the queue. */
  readonly queue: string;
  /** Clock of the pool. */
  readonly clock: Clock;
  /** Timeout of an attempt in milliseconds; `undefined` for no limit. */
  readonly timeout: number | undefined;
  /** Signal of the pool. When it aborts, the signal of every running attempt aborts too. */
  readonly signal: AbortSignal | undefined;
}

/** Timeout of an attempt. */
export interface TimedOut {
  readonly error: DOMException;
  /** Time of the timeout, by the pool's clock. */
  readonly at: number;
}

/** Timer, timeout and signal of an attempt. Created on demand, because most attempts need none of them. */
interface Limits {
  timer: unknown;
  timedOut: TimedOut | undefined;
  controller: AbortController | undefined;
  stopListening: (() => void) | undefined;
}

/** One call to the handler, and the context that the handler receives. A single object, for speed. */
export class Attempt<T> implements HandlerContext {
  readonly attempt: number;
  readonly #lease: WorkLease<T>;
  readonly #key: unknown;
  readonly #terms: AttemptTerms;
  #limits: Limits | undefined = undefined;
  #hasEnded = false;

  constructor(lease: WorkLease<T>, key: unknown, number: number, terms: AttemptTerms) {
    this.attempt = number;
    this.#lease = lease;
    this.#key = key;
    this.#terms = terms;
  }

  // Functions for the pool. They are static, so that handlers don't see them in the context.

  static leaseOf<T>(attempt: Attempt<T>): WorkLease<T> {
    return attempt.#lease;
  }

  /** Returns an attempt as its source sees it. */
  static workOf<T>(attempt: Attempt<T>): WorkAttempt<T> {
    return { lease: attempt.#lease, key: attempt.#key, number: attempt.attempt };
  }

  /**
   * Returns the timeout of an attempt, if the attempt has timed out. An attempt that has timed out has failed, whatever
   * its handler does afterwards. Until its handler ends, the attempt is abandoned.
   */
  static timeoutOf(attempt: Attempt<unknown>): TimedOut | undefined {
    return attempt.#limits?.timedOut;
  }

  /** Starts the timeout. `onTimeout` is called if the attempt has not ended when the timeout expires. */
  static startTimer<T>(attempt: Attempt<T>, onTimeout: (attempt: Attempt<T>) => void): void {
    const { timeout } = attempt.#terms;
    if (timeout !== undefined) attempt.#startTimer(timeout, onTimeout);
  }

  /** Ends an attempt: stops its timer and the forwarding of signals, and disposes the lease. */
  static end(attempt: Attempt<unknown>): void {
    attempt.#hasEnded = true;
    if (attempt.#limits === undefined) attempt.#lease[Symbol.dispose]();
    else attempt.#stopAndDispose(attempt.#limits);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get queue(): string {
    return this.#terms.queue;
  }

  get key(): unknown {
    return this.#key;
  }

  // Leases of third-party queues may lack the following properties.

  get priority(): number {
    return this.#lease.priority ?? 0;
  }

  /**
   * Creates a new function each time the property is read, so that the function also works when destructured from the
   * context. Handlers that don't read the property don't pay for the function.
   */
  get addedAgain(): () => boolean {
    const lease = this.#lease;
    return () => lease.addedAgain?.() ?? false;
  }

  get token(): bigint | undefined {
    return this.#lease.token;
  }

  get #controller(): AbortController {
    const limits = this.#limitsNow();
    if (limits.controller === undefined) {
      limits.controller = new AbortController();
      this.#listenTo(this.#terms.signal, limits, limits.controller);
      this.#listenTo(this.#lease.signal, limits, limits.controller);
    }
    return limits.controller;
  }

  #limitsNow(): Limits {
    return this.#limits ??= { timer: undefined, timedOut: undefined, controller: undefined, stopListening: undefined };
  }

  #startTimer(timeout: number, onTimeout: (attempt: Attempt<T>) => void): void {
    const limits = this.#limitsNow();
    limits.timer = this.#terms.clock.setTimeout(() => this.#timeOut(limits, timeout, onTimeout), timeout);
  }

  #timeOut(limits: Limits, timeout: number, onTimeout: (attempt: Attempt<T>) => void): void {
    if (this.#hasEnded) return;
    const error = new DOMException(`The handler did not end within ${timeout} ms`, "TimeoutError");
    limits.timedOut = { error, at: this.#terms.clock.now() };
    if (!this.signal.aborted) this.#controller.abort(error);
    onTimeout(this);
  }

  /** Disposes the lease even if a third-party clock or signal throws. */
  #stopAndDispose({ stopListening, timer }: Limits): void {
    try {
      stopListening?.();
      if (timer !== undefined) this.#terms.clock.clearTimeout(timer);
    } finally {
      this.#lease[Symbol.dispose]();
    }
  }

  #listenTo(signal: AbortSignal | undefined, limits: Limits, controller: AbortController): void {
    if (signal === undefined || this.#hasEnded) return;
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    const stopBefore = limits.stopListening;
    limits.stopListening = () => {
      signal.removeEventListener("abort", abort);
      stopBefore?.();
    };
  }
}
