import type { MetricsProvider } from "@workqueue/core";

const nothing = { inc() {}, dec() {}, set() {}, observe() {} };
const make = () => nothing;

/** Provider that drops every measurement. It shows the cost of taking the measurements alone. */
export const noMetrics: MetricsProvider = {
  depth: make,
  adds: make,
  queueLatency: make,
  workDuration: make,
  unfinishedWork: make,
  longestRunningProcessor: make,
  retries: make,
};
