import type { Finish, FinishAnswer } from "./engine.ts";
import type { HeldLease } from "./lease.ts";

/** A finish that the server has not answered. */
export interface PendingFinish<T> {
  readonly lease: HeldLease<T>;
  readonly finish: Finish;
  resolve(answer: FinishAnswer): void;
  reject(error: unknown): void;
}

/** The finishes that are to be told to the server, in their order. */
export class Finishes<T> {
  #pending: PendingFinish<T>[] = [];

  get size(): number {
    return this.#pending.length;
  }

  /** Takes one in. Resolves to the server's answer. */
  add(lease: HeldLease<T>, finish: Finish): Promise<FinishAnswer> {
    return new Promise((resolve, reject) => this.#pending.push({ lease, finish, resolve, reject }));
  }

  /**
   * Takes out those for the next call, `max` at most. A call brings one limiter: those of another, after a reload, come
   * next.
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
