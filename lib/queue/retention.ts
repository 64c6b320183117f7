import type { Duration } from "../base/duration.ts";
import type { GivenUpRetention } from "../contracts/given_up.ts";

/** Retention that can be changed. Queues read it at each use. */
export class LiveRetention implements GivenUpRetention {
  #retention: number | GivenUpRetention;

  constructor(retention: number | GivenUpRetention) {
    this.#retention = retention;
  }

  get max(): number {
    return typeof this.#retention === "number" ? this.#retention : this.#retention.max;
  }

  get maxAge(): Duration | undefined {
    return typeof this.#retention === "number" ? undefined : this.#retention.maxAge;
  }

  change(retention: number | GivenUpRetention): void {
    this.#retention = retention;
  }
}
