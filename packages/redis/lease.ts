import type { Outcome } from "@workqueue/core";
import { inspect } from "@workqueue/core/arguments";
import type { RedisLease } from "./contract.ts";
import type { TakenKey } from "./engine.ts";
import { INSPECT } from "./inspection.ts";
import { type LeaseEnding, readOutcome } from "./outcome.ts";

/** What a lease asks of its queue. */
export interface LeaseEvents<T> {
  /** Tells the server how the work has ended. Resolves to whether that counts. */
  carryOut(lease: HeldLease<T>, ending: LeaseEnding): Promise<boolean>;
  /** Is told of what nobody else may hear of. */
  onError(error: unknown): void;
}

/** What was taken and is not finished: an item, the token that shows the right to it, and what tells of its loss. */
export class HeldLease<T> implements RedisLease<T> {
  readonly shutdown = false;
  readonly item: T;
  readonly key: string;
  readonly attempt: number;
  readonly token: bigint;
  /** Whose token it was taken with, if any. */
  bucket: string | undefined = undefined;
  readonly #events: LeaseEvents<T>;
  #answer: Promise<boolean> | undefined = undefined;
  #loss: Error | undefined = undefined;
  /** Made when it is needed, as most handlers never read their signal. */
  #controller: AbortController | undefined = undefined;

  constructor(item: T, { key, token, failures }: TakenKey, events: LeaseEvents<T>) {
    this.item = item;
    this.key = key;
    this.token = BigInt(token);
    this.attempt = failures + 1;
    this.#events = events;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#loss !== undefined) this.#controller.abort(this.#loss);
    }
    return this.#controller.signal;
  }

  /** Whether the right to the item may be gone. */
  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  /** The right to the item may be gone. */
  lose(reason: Error): void {
    if (this.#loss !== undefined) return;
    this.#loss = reason;
    this.#controller?.abort(reason);
  }

  /** Ends the work, for who reports itself what comes of that. Only the first end counts. Throws if the limiter does: no end then. */
  end(ending: LeaseEnding): Promise<boolean> {
    return this.#answer ??= this.#events.carryOut(this, ending);
  }

  /** Nobody has worked on the item, nor will. */
  giveBack(): void {
    if (this.#answer === undefined) this.end({ kind: "handedBack" }).catch(this.#events.onError);
  }

  /** Nobody here can work on the item, for that reason. */
  refuse(reason: unknown): void {
    let answer: Promise<boolean>;
    try {
      answer = this.end({ kind: "retry", atLeast: 0, error: reason });
    } catch (error) { // of the limiter
      this.#events.onError(error);
      answer = this.end({ kind: "givenUp", error });
    }
    answer.catch(this.#events.onError);
  }

  finish(outcome?: Outcome | { giveUp: unknown }): Promise<boolean> {
    if (this.#answer !== undefined) return this.#answer;
    try {
      return this.#endAndReport(readOutcome(outcome));
    } catch (error) {
      this.#events.onError(error);
      return handled(Promise.reject(error));
    }
  }

  /** For who prints the lease. */
  [INSPECT](): string {
    const state = this.isLost ? "lost" : this.#answer === undefined ? "held" : "finished";
    return `RedisLease ${inspect(this.key)}: attempt ${this.attempt}, ${state}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#answer === undefined) await this.#endAndReport({ kind: "done" });
  }

  #endAndReport(ending: LeaseEnding): Promise<boolean> {
    const answer = this.end(ending);
    answer.then((counts) => {
      if (!counts) {
        this.#events.onError(
          new Error(`The outcome of ${JSON.stringify(this.key)} does not count as its lease was lost`),
        );
      }
    }, this.#events.onError);
    return answer;
  }
}

/** A promise whose rejection is reported elsewhere. */
export function handled<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => {});
  return promise;
}
