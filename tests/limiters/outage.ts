import { createRateLimitingQueue, type LimiterConfig, limiters, runWorkers } from "@workqueue/core";
import { randomNumbers } from "../queue_helpers.ts";
import { VirtualClock } from "../../packages/simulate/time/virtual_clock.ts";

/** Limiters to wrap: each built-in limiter that delays an item longer when it fails again, and others. */
export const OUTAGE_LIMITERS: readonly LimiterConfig[] = [
  { type: "exponential", baseDelay: "5ms", maxDelay: "1000s" },
  { type: "exponential", baseDelay: "1s", maxDelay: "1m" },
  { type: "fast-slow", fastDelay: "1s", slowDelay: "1m", maxFastAttempts: 3 },
  { type: "steps", delays: ["5s", "5m", "30m", "2h"] },
  { type: "jitter", spread: 0.2, limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1m" } },
  { type: "bucket", rate: 0.5, burst: 3 },
  { type: "max-wait", maxDelay: "30s", limiter: { type: "exponential", baseDelay: "5ms", maxDelay: "1000s" } },
  { type: "per-group", separator: "/", limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1h" } },
  {
    type: "max-of",
    limiters: [
      { type: "exponential", baseDelay: "5ms", maxDelay: "1000s" },
      { type: "bucket", rate: 10, burst: 100 },
    ],
  },
];

/** Outage during which events arrive for the one key that is failing. All times are in milliseconds. */
export interface Outage {
  readonly limiter: LimiterConfig;
  readonly addWhileDelayed: "keep" | "replace" | "fold";
  readonly duration: number;
  /** Time between events; `Infinity` for none. */
  readonly interval: number;
  /** Whether events also arrive after the outage. */
  readonly hasLaterEvents: boolean;
  /** Time that each attempt takes. */
  readonly lasts: number;
  readonly maxRetries?: number;
}

/** Course of an outage. */
export interface Course {
  /** Times at which the attempts began. */
  readonly attempts: readonly number[];
  /** Time of the success; `undefined` if the key was given up. */
  readonly endedAt: number | undefined;
  /** Highest number of an attempt. */
  readonly highest: number;
}

/** Runs a queue through an outage that begins at time 0, when the key is added. */
export async function courseOf(
  { limiter, addWhileDelayed, duration, interval, hasLaterEvents, lasts, maxRetries }: Outage,
): Promise<Course> {
  const clock = new VirtualClock();
  const built = limiters.build(limiter, { clock, random: randomNumbers(1) });
  const queue = createRateLimitingQueue<string>(built, { addWhileDelayed, clock });
  const attempts: number[] = [];
  let [endedAt, highest, isOver] = [undefined as number | undefined, 0, false];
  const pool = runWorkers(queue, async (_key, { attempt }) => {
    if (!isOver) attempts.push(clock.now());
    highest = Math.max(highest, attempt);
    const isDown = clock.now() < duration;
    if (lasts > 0) await new Promise<void>((resolve) => void clock.setTimeout(resolve, lasts));
    if (isDown) throw new Error("down");
    endedAt ??= clock.now();
    isOver = true;
  }, { clock, maxRetries, onError() {}, onGiveUp: () => isOver = true });
  queue.add("a");
  const nextEvent = () => {
    if (isOver || clock.now() >= duration && !hasLaterEvents) return;
    queue.add("a");
    clock.setTimeout(nextEvent, interval);
  };
  if (interval < Infinity) clock.setTimeout(nextEvent, interval);
  await clock.run(1e9, () => isOver);
  queue.shutDown();
  void pool.stop();
  await clock.run(2e9, () => pool.active === 0); // an event may have started another attempt
  return { attempts, endedAt, highest };
}
