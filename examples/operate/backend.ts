import { setTimeout as sleep } from "node:timers/promises";

/** What goes wrong: see docs/operate.md. */
export type Trouble = "none" | "slow" | "poison" | "flood" | "down" | "gone";

/** What the backend answers to an order, as a server does. */
export interface Answer {
  readonly status: number;
  readonly reason?: string;
  /** In seconds. */
  readonly retryAfter?: number;
}

/** Orders that change, named `tenant/number`, and a backend that takes them. Nothing of it is real but the trouble. */
export class Backend {
  readonly #trouble: Trouble;
  readonly #downUntil: number;
  #orders = 0;

  /** The trouble begins at once; what is down comes back after so many milliseconds. */
  constructor(trouble: Trouble, downFor = 30_000) {
    this.#trouble = trouble;
    this.#downUntil = trouble === "down" ? Date.now() + downFor : 0;
  }

  /** The orders that have changed since it was asked last, a tenth of a second ago. */
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
