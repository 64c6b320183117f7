/** Config and load that the page shows at first. */

export const CONFIG = `queues:
  images:
    concurrency: 8
    maxRetries: 20
    timeout: 10s
    limiter: { type: exponential, baseDelay: 1s, maxDelay: 5m }
    discipline: { type: fair, separator: / }
`;

export const LOAD = `duration: 1h
arrivals:
  - { type: poisson, rate: 20 }
  - { type: bursts, size: 2000, from: 40m, group: videos }
groups:
  - { name: photos, share: 3 }
  - { name: videos, share: 1, slowness: 2 }
work: { type: lognormal, median: 100ms, p99: 1s }
failures:
  - { type: outage, from: 10m, for: 5m, after: 50ms }
  - { type: random, probability: 0.01 }
`;
