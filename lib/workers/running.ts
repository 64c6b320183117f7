import type { Attempt } from "./attempt.ts";

/** What handles items one after the other. */
export interface Worker<T> {
  /** The one that it is at. */
  attempt: Attempt<T> | undefined;
}

/** The workers of a pool. To note an attempt of one takes no longer than to set a property: there are many of these. */
export class Running<T> {
  readonly #workers = new Set<Worker<T>>();

  get size(): number {
    return this.#workers.size;
  }

  begin(): Worker<T> {
    const worker: Worker<T> = { attempt: undefined };
    this.#workers.add(worker);
    return worker;
  }

  end(worker: Worker<T>): void {
    this.#workers.delete(worker);
  }

  /** The attempts that began first. */
  oldest(limit: number): Attempt<T>[] {
    const attempts: Attempt<T>[] = [];
    for (const { attempt } of this.#workers) if (attempt !== undefined) attempts.push(attempt);
    return attempts.sort((a, b) => beganAt(a) - beganAt(b)).slice(0, limit);
  }
}

/** Later than any other, of a handler that has not returned yet. A large number, as infinities have no difference. */
function beganAt({ began }: Attempt<unknown>): number {
  return began?.time ?? Number.MAX_VALUE;
}
