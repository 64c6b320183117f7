import type { Clock } from "../lib/base/clock.ts";
import type { AttemptResult } from "../lib/contracts/throttle.ts";
import { LimitedThrottle } from "./limited_throttle.ts";
import { MeanDuration } from "./mean_duration.ts";

/** Bounds of a limit that adapts. */
export interface AdaptiveOptions {
  readonly min: number;
  readonly max: number;
  readonly initial: number | undefined;
}

/** Throttle whose limit grows with successes, and shrinks when attempts are overloaded. Plain failures are neutral. */
export abstract class AdaptiveThrottle<Options extends AdaptiveOptions> extends LimitedThrottle {
  protected options: Options;
  readonly #clock: Clock;
  readonly #mean = new MeanDuration();
  #shrunkAt = -Infinity;

  constructor(options: Options, clock: Clock) {
    super(options.initial ?? options.min);
    this.options = options;
    this.#clock = clock;
  }

  change(options: Options): void {
    this.options = options;
    this.moveTo(this.limit);
  }

  /** Factor by which the limit shrinks. */
  protected abstract get decrease(): number;

  /** Adapts the limit to a success. `inUse` is the number of permits when the attempt began, itself included. */
  protected abstract succeeded(durationMs: number, inUse: number): void;

  /** Sets the limit, within its bounds. */
  protected moveTo(limit: number): void {
    this.limit = Math.min(Math.max(limit, this.options.min), this.options.max);
  }

  protected override learn({ outcome, durationMs }: AttemptResult, inUse: number): void {
    if (outcome === "succeeded") {
      this.#mean.add(durationMs);
      this.succeeded(durationMs, inUse);
    } else if (outcome === "overloaded") this.#shrinkOnce(this.#mean.value ?? durationMs);
  }

  /** Shrinks the limit, unless it has shrunk in the last `pause` milliseconds. */
  #shrinkOnce(pause: number): void {
    const now = this.#clock.now();
    if (now - this.#shrunkAt < pause) return;
    this.#shrunkAt = now;
    this.shrink();
  }

  /** Multiplies the limit by the factor by which it shrinks. */
  protected shrink(): void {
    this.moveTo(this.limit * this.decrease);
  }
}
