import type { MetricsProvider } from "@workqueue/core";

const nothing = { inc() {}, dec() {}, set() {}, observe() {} };
const make = () => nothing;

/** A provider that drops every measurement: what is left is the cost of taking them. */
export const noMetrics: MetricsProvider = {
  depth: make,
  adds: make,
  queueLatency: make,
  workDuration: make,
  unfinishedWork: make,
  longestRunningProcessor: make,
  retries: make,
};
