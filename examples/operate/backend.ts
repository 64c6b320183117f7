import { setTimeout as sleep } from "node:timers/promises";

/** Kinds of trouble that docs/operate.md describes. */
export type Trouble = "none" | "slow" | "poison" | "flood" | "down" | "gone";

/** Answer from the backend to an order, similar to an HTTP response. */
export interface Answer {
  readonly status: number;
  readonly reason?: string;
  /** Time until the order should be retried, in seconds. */
  readonly retryAfter?: number;
}

/**
 * Source of orders named `tenant/number`, and a simulated backend that processes them. The backend can simulate each
 * kind of trouble.
 */
export class Backend {
  readonly #trouble: Trouble;
  readonly #downUntil: number;
  #orders = 0;

  /**
   * Creates a backend that simulates the given trouble from the start. A backend that is down recovers after `downFor`
   * milliseconds.
   */
  constructor(trouble: Trouble, downFor = 30_000) {
    this.#trouble = trouble;
    this.#downUntil = trouble === "down" ? Date.now() + downFor : 0;
  }

  /** Returns the orders that have changed since the previous call. Call this method ten times per second. */
  changes(): string[] {
    const tenants = ["acme", "globex", ...Array(this.#trouble === "flood" ? 60 : 1).fill("initech")];
    return tenants.map((tenant) => `${tenant}/${this.#orders++}`);
  }

  async take(order: string, signal: AbortSignal): Promise<Answer> {
    await sleep(this.#trouble === "slow" ? 500 : 20, undefined, { signal });
    if (Date.now() < this.#downUntil) return { status: 503, reason: "the database is starting", retryAfter: 3 };
    if (this.#trouble === "poison" && order === "acme/12") return { status: 422, reason: "there is no address" };
    if (this.#trouble === "gone") return { status: 404, reason: "there is no such order" };
    return { status: 200 };
  }
}
