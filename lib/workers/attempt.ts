import { requireCost } from "../base/arguments.ts";
import type { Clock } from "../base/clock.ts";
import { argumentError } from "../base/errors.ts";
import type { GatePermit } from "../contracts/gate.ts";
import type { HandlerContext } from "../contracts/handler.ts";
import type { WorkAttempt, WorkLease } from "../contracts/work_source.ts";
import type { Moment } from "../structures/burst_time.ts";

/** Settings of a pool that attempts read. */
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

/** State that few attempts have: those with a timeout or a permit, and those whose handlers read their signal. */
class RareState<T> {
  timer: unknown = undefined;
  /**
   * The timeout, if the attempt has timed out. An attempt that has timed out has failed, whatever its handler does
   * afterwards. Until its handler ends, the attempt is abandoned.
   */
  timedOut: TimedOut | undefined = undefined;
  /** Permit of the pool's throttle. */
  permit: GatePermit<T> | undefined = undefined;
  /** Controller of the handler's signal. */
  controller: AbortController | undefined = undefined;
  stopListening: (() => void) | undefined = undefined;
}

/** State of a call to the handler. A worker uses the same object for one attempt after the other. */
export class Attempt<T> implements WorkAttempt<T> {
  lease!: WorkLease<T>;
  key: unknown = undefined;
  /** Number of the attempt, from 1. */
  number = 0;
  /** Time at which the handler first awaited something; `undefined` before, and if it never awaits. */
  began: Moment | undefined = undefined;
  /** Context of the handler; `undefined` if no attempt is running. */
  context: AttemptContext<T> | undefined = undefined;
  /** State that the attempt has if it needs it. */
  rare: RareState<T> | undefined = undefined;
  readonly terms: AttemptTerms;

  constructor(terms: AttemptTerms) {
    this.terms = terms;
  }

  /** Whether the lease is known to be lost. If so, the outcome of the attempt won't count. */
  get isLost(): boolean {
    return this.lease.signal?.aborted ?? false;
  }

  needRare(): RareState<T> {
    return this.rare ??= new RareState();
  }

  /** Starts the timeout. `onTimeout` is called if the attempt has not ended when the timeout expires. */
  startTimer(timeout: number, onTimeout: (attempt: Attempt<T>) => void): void {
    const { context, terms: { clock } } = this;
    const rare = this.needRare();
    rare.timer = clock.setTimeout(() => {
      if (this.context !== context) return; // the attempt has ended
      const error = new DOMException(`The handler did not end within ${timeout} ms`, "TimeoutError");
      rare.timedOut = { error, at: clock.now() };
      if (!context!.signal.aborted) rare.controller!.abort(error);
      onTimeout(this);
    }, timeout);
  }

  /** Returns a signal that aborts with the signals of the pool and of the lease. */
  openSignal(): AbortSignal {
    const rare = this.needRare();
    const controller = rare.controller = new AbortController();
    for (const signal of [this.terms.signal, this.lease.signal]) {
      if (signal !== undefined) listenTo(signal, controller, rare);
    }
    return controller.signal;
  }

  /** Stops the timer and the forwarding of signals. */
  stop({ stopListening, timer }: RareState<T>): void {
    stopListening?.();
    if (timer !== undefined) this.terms.clock.clearTimeout(timer);
  }
}

/** Aborts the controller when the signal aborts. */
function listenTo(signal: AbortSignal, controller: AbortController, rare: RareState<never>): void {
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) return abort();
  signal.addEventListener("abort", abort, { once: true });
  const stopBefore = rare.stopListening;
  rare.stopListening = () => {
    signal.removeEventListener("abort", abort);
    stopBefore?.();
  };
}

/** Context that the handler receives for an attempt. All else is private. */
export class AttemptContext<T> implements HandlerContext {
  readonly attempt: number;
  readonly #lease: WorkLease<T>;
  /** State of the attempt until it ends. Then, the state is that of another attempt. */
  readonly #state: Attempt<T>;
  #signal: AbortSignal | undefined;

  constructor(number: number, lease: WorkLease<T>, state: Attempt<T>) {
    this.attempt = number;
    this.#lease = lease;
    this.#state = state;
  }

  get #hasEnded(): boolean {
    return this.#state.context !== this;
  }

  get signal(): AbortSignal {
    return this.#signal ??= this.#hasEnded ? new AbortController().signal : this.#state.openSignal();
  }

  get queue(): string {
    return this.#state.terms.queue;
  }

  get key(): unknown {
    return this.#lease.key;
  }

  get priority(): number {
    return this.#lease.priority;
  }

  get addedAgain(): () => boolean {
    return this.#lease.addedAgain;
  }

  get token(): bigint | undefined {
    return this.#lease.token;
  }

  get trace(): string | undefined {
    return this.#lease.trace;
  }

  /**
   * Creates a new function each time the property is read, so that the function also works when destructured from the
   * context. Handlers that don't read the property don't pay for the function.
   */
  get charge(): (cost: number) => void {
    return (cost) => {
      requireCost("charge", cost);
      if (this.#hasEnded) throw argumentError("charge", "the attempt has ended", Error);
      this.#state.rare?.permit?.charge(cost);
    };
  }
}
