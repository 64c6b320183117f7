import { requireRule, type Rule } from "../base/arguments.ts";
import type { Clock } from "../base/clock.ts";
import { argumentError } from "../base/errors.ts";
import type { HandlerContext } from "../contracts/handler.ts";
import type { WorkAttempt, WorkLease } from "../contracts/work_source.ts";
import type { Moment } from "../structures/burst_time.ts";
import type { HeldPermit } from "./pool_permits.ts";

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

/** One call to the handler: its item, its timeout, and the signal that reports the timeout to the handler. */
export class Attempt<T> implements WorkAttempt<T> {
  readonly lease: WorkLease<T>;
  readonly key: unknown;
  /** Number of the attempt, from 1. */
  readonly number: number;
  /**
   * Time at which the attempt began. By default, the time at which the handler first awaited something. In that case,
   * not set for a handler that never awaits, which ends before any other code can read this property.
   */
  began: Moment | undefined = undefined;
  /**
   * The timeout, if the attempt has timed out. An attempt that has timed out has failed, whatever its handler does
   * afterwards. Until its handler ends, the attempt is abandoned.
   */
  timedOut: TimedOut | undefined = undefined;
  /** Permit of the pool's throttle, if there is one. */
  permit: HeldPermit | undefined = undefined;
  readonly #terms: AttemptTerms;
  #timer: unknown = undefined;
  #hasEnded = false;
  /** Created on demand, because most handlers never read their signal. */
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

  /** Whether the lease is known to be lost. If so, the outcome of the attempt won't count. */
  get isLost(): boolean {
    return this.lease.signal?.aborted ?? false;
  }

  /** Books more cost. Throws if the cost is invalid or the attempt has ended. */
  charge(cost: number): void {
    requireCost("charge", cost);
    if (this.#hasEnded) throw argumentError("charge", "the attempt has ended", Error);
    this.permit?.charge(cost);
  }

  /** Starts the timeout. `onTimeout` is called if the attempt has not ended when the timeout expires. */
  startTimer(onTimeout: (attempt: Attempt<T>) => void): void {
    const { clock, timeout } = this.#terms;
    if (timeout !== undefined) this.#timer = clock.setTimeout(() => this.#timeOut(timeout, onTimeout), timeout);
  }

  /** Ends the attempt: stops its timer and the forwarding of signals, and disposes the lease. */
  end(): void {
    this.#hasEnded = true;
    if (this.#timer === undefined && this.#stopListening === undefined) this.lease[Symbol.dispose]();
    else this.#stopAndDispose();
  }

  /** Disposes the lease even if a third-party clock or signal throws. */
  #stopAndDispose(): void {
    try {
      this.#stopListening?.();
      if (this.#timer !== undefined) this.#terms.clock.clearTimeout(this.#timer);
    } finally {
      this.lease[Symbol.dispose]();
    }
  }

  #timeOut(timeout: number, onTimeout: (attempt: Attempt<T>) => void): void {
    if (this.#hasEnded) return;
    const error = new DOMException(`The handler did not end within ${timeout} ms`, "TimeoutError");
    this.timedOut = { error, at: this.#terms.clock.now() };
    if (!this.signal.aborted) this.#controller!.abort(error);
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

/** Throws if a cost is not a finite number of at least 0. */
export function requireCost(action: string, cost: unknown): void {
  requireRule(action, "cost", cost, A_COST);
}

const A_COST: Rule = [(cost) => Number.isFinite(cost) && cost as number >= 0, "must be a finite non-negative number"];

/** Context that the handler receives for an attempt. */
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

  // Leases of third-party sources may lack the following properties.

  get priority(): number {
    return this.#attempt.lease.priority ?? 0;
  }

  /**
   * Creates a new function each time the property is read, so that the function also works when destructured from the
   * context. Handlers that don't read the property don't pay for the function.
   */
  get addedAgain(): () => boolean {
    const { lease } = this.#attempt;
    return () => lease.addedAgain?.() ?? false;
  }

  get token(): bigint | undefined {
    return this.#attempt.lease.token;
  }

  get trace(): string | undefined {
    return this.#attempt.lease.trace;
  }

  /** Creates a new function each time the property is read, as `addedAgain` does. */
  get charge(): (cost: number) => void {
    const attempt = this.#attempt;
    return (cost) => attempt.charge(cost);
  }
}
