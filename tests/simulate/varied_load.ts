/** Config and load that use most parts of the simulation. */

import type { LoadDocument } from "@workqueue/simulate";

export const VARIED_CONFIG: object = {
  queues: {
    jobs: {
      limiter: { type: "jitter", spread: 0.5, limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1m" } },
      concurrency: 8,
      timeout: "5s",
      discipline: { type: "fair", separator: "/" },
    },
  },
};

export const VARIED_LOAD: LoadDocument = {
  duration: "10m",
  arrivals: [{ type: "poisson", rate: 5 }, { type: "daily", lowest: 0, highest: 10, day: "5m", peakAt: "1m" }],
  keys: { type: "repeated", count: 500, skew: 1.1 },
  groups: [{ name: "a", share: 3 }, { name: "b", slowness: 2 }],
  priorities: { "0": 9, "10": 1 },
  work: { type: "lognormal", median: 100, p99: 1000 },
  failures: [{ type: "random", probability: 0.1, retryAfter: "5s" }, { type: "hang", probability: 0.001 }],
  eventsWhileFailing: "10s",
  backend: { capacity: 4, limit: 20 },
};
