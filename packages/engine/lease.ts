import type { Outcome } from "@workqueue/core";
import { inspect, setInspection, withCode } from "@workqueue/core/internal";
import { classNameOf } from "./class_name.ts";
import type { HeldNews, RetryLimits } from "@workqueue/core/hooks";
import type { RemoteLease } from "./contract.ts";
import type { TakenKey } from "./engine.ts";
import { readReason } from "./cancel_reason.ts";
import { type EndAnswer, type LeaseEnding, readOutcome } from "./outcome.ts";

/** Callbacks of a lease, implemented by its queue. */
export interface LeaseEvents<T> {
  /** Name of the product, for messages. */
  readonly product: string;
  /** Reports the outcome of the work to the engine. Throws if the limiter throws. */
  carryOut(lease: HeldLease<T>, ending: LeaseEnding): Promise<EndAnswer>;
  /** Called when something has happened to an item on which an attempt of a pool works. */
  onNews(news: HeldNews): void;
  /** Reports an error that no caller would see. */
  onError(error: unknown): void;
  /** Returns a promise that doesn't have to be awaited, for a call by the user. */
  call<R>(promise: Promise<R>): Promise<R>;
}

/** Lease on a taken item. Has a fencing token, and records whether the lease may have been lost. */
export class HeldLease<T> implements RemoteLease<T> {
  readonly shutdown = false;
  readonly item: T;
  readonly key: string;
  readonly attempt: number;
  readonly priority: number;
  readonly trace: string | undefined;
  readonly token: bigint;
  /** Whether this process could read the item. */
  readonly isReadable: boolean;
  /** Whether the result of the work is awaited. */
  readonly isAwaited: boolean;
  /** Time at which the work began, in milliseconds by the clock of this process, if a limiter needs it. */
  startedAt: number | undefined = undefined;
  /** Whether an attempt of a pool has begun. */
  hasBegun = false;
  /** Limits on retries; `undefined` unless the pool gives the item up because of them. */
  limits: RetryLimits | undefined = undefined;
  /** Name of the throttle bucket from which a token was taken for this lease, if any. */
  bucket: string | undefined = undefined;
  readonly #events: LeaseEvents<T>;
  #answer: Promise<EndAnswer> | undefined = undefined;
  /** Whether the lease may have been lost. */
  isLost = false;
  /** Whether the item was cancelled. */
  isCancelled = false;
  /** Whether the item was added again, as far as this process is told. */
  isAddedAgain = false;
  /** Reason of the signal, if the lease may have been lost or the item was cancelled. */
  #reason: unknown = undefined;
  /** Created on first use, because most handlers never read their signal. */
  #controller: AbortController | undefined = undefined;

  constructor(
    item: T,
    { key, token, failures, priority = 0, trace, isAwaited = false }: TakenKey,
    events: LeaseEvents<T>,
    isReadable = true,
  ) {
    this.item = item;
    this.isReadable = isReadable;
    this.key = key;
    this.token = BigInt(token);
    this.attempt = failures + 1;
    this.priority = priority;
    this.trace = trace;
    this.isAwaited = isAwaited;
    this.#events = events;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isLost || this.isCancelled) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Marks the lease as possibly lost, and aborts its signal. */
  lose(reason: Error): void {
    if (this.isLost) return;
    this.isLost = true;
    this.#abort(reason);
  }

  /** Marks the item as cancelled, and aborts the signal. */
  cancel(text: string): void {
    if (this.isCancelled || this.#answer !== undefined) return;
    this.isCancelled = true;
    const reason = readReason(text);
    this.#abort(reason);
    if (this.hasBegun) this.#events.onNews({ key: this.key, kind: "cancelled", reason });
  }

  /** Notes that the item was added again. */
  addAgain(): void {
    if (this.isAddedAgain || this.#answer !== undefined) return;
    this.isAddedAgain = true;
    if (this.hasBegun) this.#events.onNews({ key: this.key, kind: "addedAgain" });
  }

  /** Aborts the signal, if it has not aborted yet. */
  #abort(reason: unknown): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }

  /**
   * Ends the work. If the promise rejects, the caller must report the error. Later calls return the first call's
   * result.
   *
   * @throws The limiter's error, if the limiter throws. In that case, the lease stays active.
   */
  end(ending: LeaseEnding): Promise<EndAnswer> {
    return this.#answer ??= this.#events.carryOut(this, ending);
  }

  /** Hands the item back without counting an attempt. Does nothing if the work has ended. */
  giveBack(): void {
    if (this.#answer === undefined) this.end({ kind: "handedBack" }).catch(this.#events.onError);
  }

  /**
   * Ends the lease on an item that this process can't read. `reason` is the error that occurred when the item was read.
   */
  refuse(reason: unknown): void {
    let answer: Promise<EndAnswer>;
    try {
      answer = this.end({ kind: "failed", minDelay: 0, error: reason });
    } catch (error) { // the limiter's error
      this.#events.onError(error);
      answer = this.end({ kind: "givenUp", error, reason: "limiter" });
    }
    asOutcome(answer).catch(this.#events.onError);
  }

  finish(outcome?: Outcome | { giveUp: unknown }): Promise<boolean> {
    if (this.#answer !== undefined) return asOutcome(this.#answer);
    try {
      return this.#endAndReport(readOutcome(outcome));
    } catch (error) {
      return this.#events.call(Promise.reject(error));
    }
  }

  static {
    const title = (lease: HeldLease<unknown>) => `${classNameOf(lease.#events.product, "Lease")} ${inspect(lease.key)}`;
    setInspection<HeldLease<unknown>>(HeldLease.prototype, title, (lease) => {
      const isOver = lease.#answer !== undefined;
      const state = lease.isLost ? "lost" : isOver ? "finished" : lease.isCancelled ? "cancelled" : "processing";
      return `attempt ${lease.attempt}, ${state}`;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#answer === undefined) await this.#endAndReport({ kind: "done" });
  }

  #endAndReport(ending: LeaseEnding): Promise<boolean> {
    return this.#events.call(
      asOutcome(this.end(ending)).then((counts) => {
        if (!counts) {
          this.#events.onError(
            withCode(
              "WQ_LEASE_LOST",
              new Error(`The outcome of ${JSON.stringify(this.key)} does not count because its lease was lost`),
            ),
          );
        }
        return counts;
      }),
    );
  }
}

/**
 * Resolves to `true` if the ending was applied, and to `false` if it was not. Rejects if the limiter threw, in which
 * case the item was given up. Callers don't have to handle the rejection.
 */
function asOutcome(answer: Promise<EndAnswer>): Promise<boolean> {
  return handled(answer.then((ended) => {
    if (typeof ended === "boolean") return ended;
    if (ended.kind === "cancelled") return true;
    throw ended.error;
  }));
}

/**
 * Returns the promise and marks its rejection as handled. Use it only for promises whose rejections are reported
 * elsewhere.
 */
export function handled<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => {});
  return promise;
}
