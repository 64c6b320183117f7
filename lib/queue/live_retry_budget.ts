import type { RetryBudgetOptions } from "../contracts/delaying_queue.ts";
import { Watchers } from "../structures/watchers.ts";

/** Options of a retry budget that can be changed. Queues with blocked retries watch them. */
export class LiveRetryBudget implements RetryBudgetOptions {
  #options: RetryBudgetOptions;
  readonly #watchers = new Watchers();

  constructor(options: RetryBudgetOptions) {
    this.#options = options;
  }

  get ratio(): number {
    return this.#options.ratio;
  }

  get minRate(): number {
    return this.#options.minRate;
  }

  change(options: RetryBudgetOptions): void {
    this.#options = options;
    this.#watchers.tell();
  }

  /** Calls `callback` when the options change. Returns an unsubscribe function. */
  watch(callback: () => void): () => void {
    return this.#watchers.add(callback);
  }
}
