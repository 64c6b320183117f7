import {
  type Clock,
  createBucketLimiter,
  createDefaultControllerLimiter,
  createDefaultItemLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  type RateLimiter,
  type Reservation,
  TokenBucket,
} from "@workqueue/core";
import { StepClock } from "./step_clock.ts";
import type { LimiterSpec, Trace } from "./trace.ts";

/** Delay that a limiter returns when no token will ever arrive: Go's longest duration, in milliseconds. */
export const LONGEST_DELAY = 2 ** 63 / 1e6;

/** Result of an overflowing conversion to int64 in Go, on most processors. */
const OVERFLOW = -(2 ** 63);

/** Builds the limiter that is specified at the start of a trace. */
export function buildLimiter(
  [kind, ...made]: LimiterSpec,
  clock: Clock,
): RateLimiter<number> {
  const ms = (index: number) => made[index] as number / 1e6;
  const count = (index: number) => made[index] as number;
  const limiter = (value: unknown) => buildLimiter(value as LimiterSpec, clock);
  switch (kind) {
    case "exponential":
      return createExponentialLimiter({ baseDelay: ms(0), maxDelay: ms(1) });
    case "fast-slow":
      return createFastSlowLimiter({
        fastDelay: ms(0),
        slowDelay: ms(1),
        maxFastAttempts: count(2),
      });
    case "bucket":
      return createBucketLimiter({
        rate: rateOf(count(0)),
        burst: count(1),
        clock,
      });
    case "max-of":
      return createMaxOfLimiter(...made.map(limiter));
    case "max-wait":
      return createMaxWaitLimiter(limiter(made[0]), ms(1));
    case "default-controller":
      return createDefaultControllerLimiter({ clock });
    case "default-item":
      return createDefaultItemLimiter();
    default:
      throw new Error(`Cannot build a limiter of kind ${kind}`);
  }
}

/** Converts a rate. Go writes an infinite rate as the largest double. */
function rateOf(rate: number): number {
  return rate === Number.MAX_VALUE ? Infinity : rate;
}

/** Replays a trace of a single limiter. */
export function replayLimiter(trace: Trace): void {
  const clock = new StepClock();
  const limiter = buildLimiter(trace.limiter(), clock);
  for (
    let operation = trace.operation();
    operation !== undefined;
    operation = trace.operation()
  ) {
    switch (operation) {
      case "when":
        trace.delay(limiter.when(trace.next()), LONGEST_DELAY);
        break;
      case "forget":
        limiter.forget(trace.next());
        break;
      case "numRequeues":
        trace.same("requeues", limiter.numRequeues(trace.next()));
        break;
      case "wait":
        clock.step(trace.next());
        break;
      default:
        throw new Error(`Cannot replay ${operation}`);
    }
  }
}

/**
 * Replays exponential backoff in two cases where Go's arithmetic overflows. In the first case, the base is 0 and there
 * are 1024 failures. In the second case, a base of 2^n nanoseconds has doubled to 2^63. In Go, the delay is negative in
 * both cases. In this package, the delay is 0 in the first case and the maximum in the second.
 */
export function replayBackoffOverflow(trace: Trace): void {
  const spec = trace.limiter();
  const [, base, max] = spec as [string, number, number];
  const limiter = buildLimiter(spec, new StepClock());
  for (
    let operation = trace.operation();
    operation !== undefined;
    operation = trace.operation()
  ) {
    const item = trace.next();
    if (operation === "forget") {
      limiter.forget(item);
      continue;
    }
    let delay = 0;
    for (let times = trace.next(); times > 0; times--) {
      delay = limiter.when(item);
    }
    const failuresBefore = limiter.numRequeues(item) - 1;
    const overflows = base === 0 ? failuresBefore >= 1024 : base * 2 ** failuresBefore === 2 ** 63;
    if (!overflows) {
      trace.delay(delay, LONGEST_DELAY);
      continue;
    }
    const expected = base === 0 ? 0 : max;
    trace.equal("delay in ns", delay * 1e6, expected);
    const recorded = trace.next();
    if (recorded === OVERFLOW) trace.except("backoff-overflow");
    else if (recorded !== expected) {
      trace.fail("delay of client-go", recorded, `${OVERFLOW} or ${expected}`); // on arm64
    }
  }
}

/** Replays a trace of a token bucket, at the recorded times. */
export function replayTokenBucket(trace: Trace): void {
  const clock = new StepClock();
  const bucket = new TokenBucket(rateOf(trace.next()), trace.next(), { clock });
  const reservations: Reservation[] = [];
  for (
    let operation = trace.operation();
    operation !== undefined;
    operation = trace.operation()
  ) {
    clock.step(trace.next());
    switch (operation) {
      case "allow":
        trace.same("allowed", bucket.allow(trace.next()));
        break;
      case "reserve": {
        const reservation = bucket.reserve(trace.next());
        reservations.push(reservation);
        trace.same("ok", reservation.ok);
        trace.delay(reservation.delay, Infinity);
        break;
      }
      case "delay":
        trace.delay(reservations[trace.next()]!.delay, Infinity);
        break;
      case "cancel":
        reservations[trace.next()]!.cancel();
        break;
      case "setRate":
        bucket.setRate(rateOf(trace.next()));
        break;
      case "setBurst":
        bucket.setBurst(trace.next());
        break;
      case "tokens":
        trace.close("tokens", bucket.tokens);
        break;
      default:
        throw new Error(`Cannot replay ${operation}`);
    }
  }
}
