import type { Finish, FinishAnswer } from "./engine.ts";
import type { HeldLease } from "./lease.ts";

/** Request to finish a lease, not yet answered by the engine. */
export interface PendingFinish<T> {
  readonly lease: HeldLease<T>;
  readonly finish: Finish;
  resolve(answer: FinishAnswer): void;
  reject(error: unknown): void;
}

/** Queue of finish requests, in the order in which they will be sent to the engine. */
export class Finishes<T> {
  #pending: PendingFinish<T>[] = [];

  get size(): number {
    return this.#pending.length;
  }

  /** Adds a finish. Resolves to the engine's answer. */
  add(lease: HeldLease<T>, finish: Finish): Promise<FinishAnswer> {
    return new Promise((resolve, reject) => this.#pending.push({ lease, finish, resolve, reject }));
  }

  /**
   * Removes and returns up to `max` finish requests for the next call. Each call to the engine has the rules of only
   * one limiter, so requests with other rules (after a reload) are sent in a later call.
   */
  next(max: number): readonly PendingFinish<T>[] {
    let rules: string | undefined;
    let count = 0;
    for (const { finish } of this.#pending) {
      if (count === max || (rules !== undefined && finish.rules !== undefined && finish.rules !== rules)) break;
      rules ??= finish.rules;
      count++;
    }
    return this.#pending.splice(0, count);
  }
}
