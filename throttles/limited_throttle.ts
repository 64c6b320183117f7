import type { AttemptResult, OwnThrottle, Permit, ThrottleSnapshot } from "../lib/contracts/throttle.ts";
import { Watchers } from "../lib/structures/waiters.ts";

/** Throttle that is called at the end of each permit, with the note that it made when it granted the permit. */
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

/** Throttle with a limit on the number of attempts that run at once. The limit may change at any time. */
export abstract class LimitedThrottle implements OwnThrottle {
  readonly #watchers = new Watchers();
  #limit: number;
  #inUse = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Limit on the number of attempts that run at once, possibly with a fraction. */
  get limit(): number {
    return this.#limit;
  }

  /** Sets the limit. If it is lower than before, no attempt starts until fewer are running. */
  protected set limit(limit: number) {
    const isRaised = Math.floor(limit) > Math.floor(this.#limit);
    this.#limit = limit;
    if (isRaised) this.#watchers.tell();
  }

  get free(): number {
    return Math.floor(this.#limit) - this.#inUse;
  }

  get inUse(): number {
    return this.#inUse;
  }

  acquire(): Permit | number {
    return this.#inUse < Math.floor(this.#limit) ? this.adopt() : Infinity;
  }

  adopt(): Permit {
    return new NotedPermit(this, ++this.#inUse);
  }

  /** Called when a permit ends. `inUse` is the number of permits at the time when this one was acquired. */
  ended(result: AttemptResult, inUse: number): void {
    this.#inUse--;
    if (result.outcome === "unused") return; // the pool that gave the permit back asks the next pool itself
    this.learn(result, inUse);
    this.#watchers.tell();
  }

  onChange(callback: () => void): () => void {
    return this.#watchers.add(callback);
  }

  snapshot(): ThrottleSnapshot {
    const limit = Math.floor(this.#limit);
    return { limit, inUse: this.#inUse, state: `${this.#inUse} of ${limit} running` };
  }

  /**
   * Adapts the limit to the result of an attempt. `inUse` is the number of permits when it began, itself included. By
   * default, the limit stays the same.
   */
  protected learn(_result: AttemptResult, _inUse: number): void {}
}
