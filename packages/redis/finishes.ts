import type { Finish, FinishAnswer } from "./engine.ts";
import type { HeldLease } from "./lease.ts";

/** Finish that the server has not answered yet. */
export interface PendingFinish<T> {
  readonly lease: HeldLease<T>;
  readonly finish: Finish;
  resolve(answer: FinishAnswer): void;
  reject(error: unknown): void;
}

/** Queue of finishes that will be sent to the server, in order. */
export class Finishes<T> {
  #pending: PendingFinish<T>[] = [];

  get size(): number {
    return this.#pending.length;
  }

  /** Adds a finish. Resolves to the server's answer. */
  add(lease: HeldLease<T>, finish: Finish): Promise<FinishAnswer> {
    return new Promise((resolve, reject) => this.#pending.push({ lease, finish, resolve, reject }));
  }

  /**
   * Removes and returns up to `max` finishes for the next call. A call has only one limiter plan. Finishes with another
   * plan (after a reload) go into a later call.
   */
  next(max: number): readonly PendingFinish<T>[] {
    let plan: string | undefined;
    let count = 0;
    for (const { finish } of this.#pending) {
      if (count === max || (plan !== undefined && finish.plan !== undefined && finish.plan !== plan)) break;
      plan ??= finish.plan;
      count++;
    }
    return this.#pending.splice(0, count);
  }
}
