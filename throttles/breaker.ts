/**
 * Throttle that stops all attempts while a backend is down.
 *
 * Effect: starts no attempts for a while after too many have failed, and then tries a few.
 *
 * Choose it when a backend fails as a whole, and attempts during an outage are a waste or do harm.
 *
 * ```json
 * { "type": "breaker", "failureRatio": 0.5, "window": "30s", "openFor": "10s", "probes": 2, "rampUp": "1m" }
 * ```
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import { formatDuration } from "../lib/base/inspection.ts";
import type { AttemptResult, OwnThrottle, Permit, Throttle, ThrottleSnapshot } from "../lib/contracts/throttle.ts";
import { Watchers } from "../lib/structures/waiters.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput, OptionsOf } from "../registry/fields.ts";
import { durationKind, integerKind, numberKind } from "../registry/option_kinds.ts";
import { createThrottle, type ThrottleDefinition } from "./definition.ts";
import { NotedPermit } from "./limited_throttle.ts";
import { RecentResults } from "./recent_results.ts";

export type * from "./types.ts";

/** Options of a breaker throttle. */
export const breakerOptions = {
  failureRatio: {
    kind: "number",
    min: 0.001,
    max: 1,
    default: 0.5,
    description: "Share of attempts in the window that must fail for the breaker to open.",
  },
  window: { kind: "duration", min: 1, default: "30s", description: "Time in which attempts are counted." },
  minAttempts: {
    kind: "integer",
    min: 1,
    default: 20,
    description: "Number of attempts in the window from which on the breaker may open.",
  },
  openFor: { kind: "duration", min: 1, default: "10s", description: "Time for which no attempt starts." },
  probes: {
    kind: "integer",
    min: 1,
    default: 1,
    description: "Number of attempts that must succeed after `openFor` for the breaker to close.",
  },
  rampUp: {
    kind: "duration",
    default: 0,
    description:
      "Time after closing in which the limit of attempts at once grows to the number before the outage. Default: there is no limit.",
  },
} as const satisfies Fields;

/** Definition of `{ "type": "breaker" }`. */
export const breaker: ThrottleDefinition<"breaker", typeof breakerOptions> = {
  type: "breaker",
  description: "Starts no attempts for a while after too many have failed, and then tries a few.",
  options: breakerOptions,
  create: (options, { clock }) => new BreakerThrottle(options, clock),
  update: /* @__PURE__ */ builtIn(1, (throttle: BreakerThrottle, options) => throttle.change(options)),
};

/**
 * Creates a circuit breaker: Nygard, *Release It!* (2007).
 *
 * The breaker is closed at first, and counts the attempts that end. If at least `minAttempts` ended within `window`,
 * and the share that failed is at least `failureRatio`, the breaker opens: no attempt starts for `openFor`. Then
 * `probes` attempts may start. If all of them succeed, the breaker closes; if one fails, it opens again. With `rampUp`,
 * the number of attempts at once then grows evenly from `probes` to what it was when the breaker opened, so that the
 * backlog doesn't bring the backend down again. Results of attempts that began before the breaker opened are ignored.
 *
 * Failures of all kinds count, overloads and timeouts included.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { createBreakerThrottle } from "@workqueue/core/throttles";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const throttle = createBreakerThrottle({ minAttempts: 3, openFor: "10s" });
 * const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 100, maxDelay: 100 }));
 * let attempts = 0;
 * const pool = runWorkers(queue, () => {
 *   if (++attempts <= 3) throw new Error("the backend is down");
 * }, { throttle, onError() {} });
 * queue.add(1);
 * for (let i = 0; i < 10; i++) await time.tickAsync(100);
 * assertEquals([attempts, throttle.snapshot!().state], [3, "open for 9.2 s: 3 of 3 attempts failed"]);
 * await time.tickAsync(10_000);
 * assertEquals([attempts, throttle.snapshot!().state], [4, "closed"]);
 * await pool.stop();
 * ```
 *
 * @param options `failureRatio`: from 0.001 to 1, by default 0.5; `window`: by default 30 s; `minAttempts`: by default
 * 20; `openFor`: by default 10 s; `probes`: by default 1; `rampUp`: by default 0; `clock`: the clock.
 * @returns The throttle.
 * @throws {RangeError} If an option is a number out of range.
 * @throws {TypeError} If an option is unknown or has the wrong type.
 */
export function createBreakerThrottle(
  options: OptionsInput<typeof breakerOptions> & { clock?: Clock | undefined } = {},
): Throttle {
  return createThrottle(breaker, { number: numberKind, integer: integerKind, duration: durationKind }, options);
}

type Options = OptionsOf<typeof breakerOptions>;

class BreakerThrottle implements OwnThrottle {
  readonly ignoresDurations = true;
  #options: Options;
  readonly #clock: Clock;
  readonly #watchers = new Watchers();
  readonly #results: RecentResults;
  #state: "closed" | "open" | "halfOpen" = "closed";
  /** Number of changes of the state. Results of attempts that began in an earlier state are ignored. */
  #era = 0;
  /** Time at which the breaker opened, or at which it closed. */
  #changedAt = -Infinity;
  /** Why the breaker opened. */
  #reason = "";
  /** Number of probes that are running or have succeeded. */
  #probes = 0;
  #probesSucceeded = 0;
  #inUse = 0;
  /** Largest number of permits at once since the breaker closed, for the next `rampUp`. */
  #most = 0;
  /** Number of permits at once at which the `rampUp` ends. */
  #rampTo = 0;

  constructor(options: Options, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#results = new RecentResults(options.window);
  }

  change(options: Options): void {
    this.#options = options;
    this.#results.window = options.window;
    if (this.#state === "halfOpen") this.#closeIfProbed(this.#clock.now());
    this.#watchers.tell();
  }

  acquire(): Permit | number {
    const now = this.#clock.now();
    const { openFor, probes } = this.#options;
    if (this.#state === "open") {
      const wait = this.#changedAt + openFor - now;
      if (wait > 0) return wait;
      this.#enter("halfOpen", now);
    }
    if (this.#state === "halfOpen") {
      if (this.#probes >= probes) return Infinity;
      this.#probes++;
      return this.adopt();
    }
    const wait = this.#untilRampAllows(now);
    if (wait > 0) return wait;
    return this.adopt();
  }

  adopt(): Permit {
    this.#most = Math.max(this.#most, ++this.#inUse);
    return new NotedPermit(this, this.#era);
  }

  get free(): number {
    return this.snapshot().limit - this.#inUse;
  }

  onChange(callback: () => void): () => void {
    return this.#watchers.add(callback);
  }

  snapshot(): ThrottleSnapshot {
    const now = this.#clock.now();
    const { openFor, probes, rampUp } = this.#options;
    const inUse = this.#inUse;
    const wait = this.#changedAt + openFor - now;
    if (this.#state === "open" && wait > 0) {
      return { limit: 0, inUse, state: `open for ${formatDuration(wait)}: ${this.#reason}` };
    }
    if (this.#state !== "closed") return { limit: probes, inUse, state: `probing: ${this.#reason}` };
    const limit = this.#rampLimit(now);
    if (limit === Infinity) return { limit, inUse, state: "closed" };
    return { limit, inUse, state: `closed, and ramping up for ${formatDuration(this.#changedAt + rampUp - now)}` };
  }

  ended({ outcome }: AttemptResult, era: number): void {
    this.#inUse--;
    const isProbe = era === this.#era && this.#state === "halfOpen";
    if (outcome === "unused") {
      if (isProbe) this.#probes--;
      return;
    }
    if (era === this.#era) this.#learn(outcome === "succeeded");
    this.#watchers.tell();
  }

  #learn(hasSucceeded: boolean): void {
    const now = this.#clock.now();
    const { failureRatio, minAttempts } = this.#options;
    if (this.#state === "halfOpen") {
      if (!hasSucceeded) this.#enter("open", now);
      else {
        this.#probesSucceeded++;
        this.#closeIfProbed(now);
      }
      return;
    }
    this.#results.add(now, hasSucceeded);
    const { attempts, failures } = this.#results.at(now);
    if (attempts < minAttempts || failures / attempts < failureRatio) return;
    this.#reason = `${failures} of ${attempts} attempts failed`;
    this.#rampTo = this.#most;
    this.#enter("open", now);
  }

  #closeIfProbed(now: number): void {
    if (this.#probesSucceeded >= this.#options.probes) this.#enter("closed", now);
  }

  #enter(state: "closed" | "open" | "halfOpen", now: number): void {
    this.#state = state;
    this.#era++;
    this.#changedAt = now;
    this.#probes = this.#probesSucceeded = 0;
    if (state !== "closed") return;
    this.#results.clear();
    this.#most = this.#inUse;
  }

  /** Returns the largest number of attempts at once during the `rampUp`, and `Infinity` after it. */
  #rampLimit(now: number): number {
    const { probes, rampUp } = this.#options;
    const passed = (now - this.#changedAt) / rampUp;
    if (!(passed < 1)) return Infinity;
    return Math.floor(probes + Math.max(this.#rampTo - probes, 0) * passed);
  }

  /** Returns the time until the `rampUp` allows one more attempt, in milliseconds. */
  #untilRampAllows(now: number): number {
    if (this.#inUse < this.#rampLimit(now)) return 0;
    const { probes, rampUp } = this.#options;
    const needed = (this.#inUse + 1 - probes) / (this.#rampTo - probes);
    return this.#changedAt + (needed < 1 && needed >= 0 ? needed : 1) * rampUp - now || 1;
  }
}
