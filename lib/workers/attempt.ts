import type { Clock } from "../base/clock.ts";
import { argumentError, invalidArgument } from "../base/errors.ts";
import type { GatePermit } from "../contracts/gate.ts";
import type { HandlerContext } from "../contracts/handler.ts";
import type { WorkAttempt } from "../contracts/work_source.ts";
import type { Moment } from "../structures/burst.ts";

/** Settings of a pool that attempts read. */
export interface AttemptTerms {
  /** Name of the queue. */
  readonly queue: string;
  /** Clock of the pool. */
  readonly clock: Clock;
  /** Signal of the pool. When it aborts, the signal of every running attempt aborts too. */
  readonly signal: AbortSignal | undefined;
}

/** Timeout of an attempt. */
export interface TimedOut {
  readonly error: DOMException;
  /** Time of the timeout, by the pool's clock. */
  readonly at: number;
}

/** State that few attempts have: those with a timeout, and those whose handlers read their signal. */
export interface RareState {
  timer?: unknown;
  /**
   * The timeout, if the attempt has timed out. An attempt that has timed out has failed, whatever its handler does
   * afterwards. Until its handler ends, the attempt is abandoned.
   */
  timedOut?: TimedOut;
  /**
   * Reason for which a failure of the attempt doesn't count: its item was cancelled, or it was aborted because its item
   * was added again.
   */
  discount?: "cancelled" | "addedAgain";
  /** Whether the attempt has failed and doesn't count. */
  isDiscounted?: boolean;
  /** Controller of the handler's signal. */
  controller?: AbortController;
  stopListening?: () => void;
}

/** Worker, which handles one item after another. */
export interface Worker<T> {
  readonly terms: AttemptTerms;
  /** Attempt whose handler is running; `undefined` if none is. */
  attempt: Attempt<T> | undefined;
  /** Time at which the running handler first awaited something; `undefined` before. */
  began?: Moment | undefined;
  /** Permit of the attempt, if the pool has a throttle. */
  permit?: GatePermit<T> | undefined;
}

/** Worker whose handler is running. */
export type RunningWorker<T> = Worker<T> & { readonly attempt: Attempt<T> };

/** A call to the handler. */
export interface Attempt<T> extends WorkAttempt<T> {
  readonly worker: Worker<T>;
  rare: RareState | undefined;
}

function hasEnded<T>(attempt: Attempt<T>): boolean {
  return attempt.worker.attempt !== attempt;
}

/** Starts the timeout. `onTimeout` is called if the attempt has not ended when the timeout expires. */
export function startTimer<T>(attempt: Attempt<T>, timeout: number, onTimeout: (attempt: Attempt<T>) => void): void {
  const { clock } = attempt.worker.terms;
  const rare = attempt.rare ??= {};
  rare.timer = clock.setTimeout(() => {
    if (hasEnded(attempt)) return;
    const error = new DOMException(`The handler did not end within ${timeout} ms`, "TimeoutError");
    rare.timedOut = { error, at: clock.now() };
    controllerOf(attempt).abort(error);
    onTimeout(attempt);
  }, timeout);
}

/** Stops the timer and the forwarding of signals. */
export function stop({ stopListening, timer }: RareState, clock: Clock): void {
  stopListening?.();
  if (timer !== undefined) clock.clearTimeout(timer);
}

/** Returns the controller of the handler's signal. It aborts with the signals of the pool and of the lease. */
export function controllerOf<T>(attempt: Attempt<T>): AbortController {
  const rare = attempt.rare ??= {};
  if (rare.controller !== undefined) return rare.controller;
  const controller = rare.controller = new AbortController();
  const { lease, worker: { terms } } = attempt;
  for (const signal of hasEnded(attempt) ? [] : [terms.signal, lease.signal]) {
    if (signal !== undefined) listenTo(signal, controller, rare);
  }
  return controller;
}

/** Aborts the controller when the signal aborts. */
function listenTo(signal: AbortSignal, controller: AbortController, rare: RareState): void {
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) return abort();
  signal.addEventListener("abort", abort, { once: true });
  const stopBefore = rare.stopListening;
  rare.stopListening = () => {
    signal.removeEventListener("abort", abort);
    stopBefore?.();
  };
}

/** Context that the handler receives for an attempt. Everything else is private. */
export class AttemptContext<T> implements HandlerContext {
  readonly attempt: number;
  readonly #attempt: Attempt<T>;

  constructor(attempt: Attempt<T>) {
    this.attempt = attempt.number;
    this.#attempt = attempt;
  }

  get signal(): AbortSignal {
    return controllerOf(this.#attempt).signal;
  }

  get queue(): string {
    return this.#attempt.worker.terms.queue;
  }

  get key(): unknown {
    return this.#attempt.key;
  }

  get priority(): number {
    return this.#attempt.lease.priority;
  }

  get addedAgain(): () => boolean {
    return this.#attempt.lease.addedAgain;
  }

  get token(): bigint | undefined {
    return this.#attempt.lease.token;
  }

  get trace(): string | undefined {
    return this.#attempt.lease.trace;
  }

  /**
   * Creates a new function each time the property is read, so that the function also works when destructured from the
   * context. Handlers that don't read the property don't pay for the function.
   */
  get charge(): (cost: number) => void {
    return (cost) => {
      if (!Number.isFinite(cost)) throw invalidArgument("charge", "cost", "must be a finite number", cost);
      if (hasEnded(this.#attempt)) throw argumentError("charge", "the attempt has ended", Error);
      this.#attempt.worker.permit?.charge(cost);
    };
  }
}
