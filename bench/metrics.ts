import { adaptMetrics, type MetricsProvider } from "@workqueue/core";

const nothing = { inc() {}, dec() {}, set() {}, observe() {} };
const make = () => nothing;

/**
 * Metrics provider that drops every measurement. With this provider, a benchmark shows only the cost of taking the
 * measurements.
 */
export const noMetrics: MetricsProvider = adaptMetrics({
  depth: make,
  adds: make,
  queueLatency: make,
  workDuration: make,
  unfinishedWork: make,
  longestRunningProcessor: make,
  retries: make,
});
