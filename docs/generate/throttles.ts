import { type ThrottleConfig, throttles } from "@workqueue/core";
import { type LoadDocument, simulate, svgOf } from "@workqueue/simulate";

/** Throttles to draw, by their types, and no throttle. */
const TRIED: Readonly<Record<string, ThrottleConfig | undefined>> = {
  none: undefined,
  bucket: { type: "bucket", rate: 40, burst: 10 },
  concurrency: { type: "concurrency", limit: 10 },
  aimd: { type: "aimd", max: 100 },
  gradient: { type: "gradient", max: 100 },
  breaker: { type: "breaker", window: "10s", openFor: "10s", probes: 2, rampUp: "1m" },
  "all-of": {
    type: "all-of",
    throttles: [
      { type: "breaker", window: "10s", openFor: "10s", probes: 2 },
      { type: "concurrency", limit: 10 },
    ],
  },
};

/** A backend that is down for a minute, and later works at half its capacity for two minutes. */
const LOAD: LoadDocument = {
  duration: "12m",
  arrivals: [{ type: "poisson", rate: 30 }],
  work: { type: "exponential", mean: "200ms" },
  backend: { capacity: 10 },
  failures: [{ type: "outage", from: "2m", for: "1m", after: "50ms" }],
  changes: [
    { type: "capacity", at: "5m", capacity: 5 },
    { type: "capacity", at: "7m", capacity: 10 },
  ],
};

async function plotThrottle(throttle: ThrottleConfig | undefined): Promise<string> {
  const limiter = { type: "exponential", baseDelay: "1s", maxDelay: "30s" } as const;
  const jobs = { concurrency: 100, timeout: "2s", limiter, throttle };
  return svgOf(await simulate({ queues: { jobs } }, LOAD));
}

/** Returns functions that draw each type of throttle in the simulator, keyed by the path of the image. */
export function throttlePlots(): Record<string, () => Promise<string>> {
  const missing = throttles.types().filter((type) => !(type in TRIED));
  if (missing.length > 0) throw new Error(`Cannot draw throttles: missing ${missing}`);
  const plots = Object.entries(TRIED).map(([type, throttle]) =>
    [`docs/throttle-${type}.svg`, () => plotThrottle(throttle)] as const
  );
  return Object.fromEntries(plots);
}
