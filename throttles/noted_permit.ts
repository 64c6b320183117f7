import type { AttemptResult, Permit } from "../lib/contracts/throttle.ts";

/** Throttle that is told of the end of each permit, with the note that it made when it granted the permit. */
interface NotingThrottle {
  ended(result: AttemptResult, note: number): void;
}

/** Permit without a cost, whose throttle remembers something from the time of the grant. */
export class NotedPermit implements Permit {
  readonly #throttle: NotingThrottle;
  readonly #note: number;

  constructor(throttle: NotingThrottle, note: number) {
    this.#throttle = throttle;
    this.#note = note;
  }

  begin(): void {}

  charge(): void {}

  end(result: AttemptResult): void {
    this.#throttle.ended(result, this.#note);
  }
}
