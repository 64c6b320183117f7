import { adaptMetrics, type MetricsProvider } from "@workqueue/core";
import type { Trace } from "./trace.ts";

/** Converts seconds to nanoseconds. All times in the tests are whole nanoseconds, but sums of seconds are inexact. */
function toNs(seconds: number): number {
  return Math.round(seconds * 1e9);
}

/** Metrics of one queue, for comparison with the recorded values. */
export class Metrics implements MetricsProvider {
  readonly values = {
    depth: 0,
    adds: 0,
    retries: 0,
    unfinished: 0,
    longest: 0,
  };
  readonly latencies: number[] = [];
  readonly durations: number[] = [];

  depth = () => this.#counter("depth");
  adds = () => this.#counter("adds");
  retries = () => this.#counter("retries");
  unfinishedWork = () => this.#gauge("unfinished");
  longestRunningProcessor = () => this.#gauge("longest");
  queueLatency = () => ({
    observe: (seconds: number) => void this.latencies.push(seconds),
  });
  workDuration = () => ({
    observe: (seconds: number) => void this.durations.push(seconds),
  });

  constructor() {
    adaptMetrics(this);
  }

  /** Compares all values, and the observations since the last operation. */
  compare(trace: Trace): void {
    const { depth, adds, retries, unfinished, longest } = this.values;
    trace.same("depth", depth);
    trace.same("adds", adds);
    trace.same("retries", retries);
    trace.same("unfinished work in ns", toNs(unfinished));
    trace.same("longest running processor in ns", toNs(longest));
    compareObservations(trace, "queue latency", this.latencies);
    compareObservations(trace, "work duration", this.durations);
  }

  #counter(name: "depth" | "adds" | "retries") {
    return {
      inc: () => void this.values[name]++,
      dec: () => void this.values[name]--,
    };
  }

  #gauge(name: "unfinished" | "longest") {
    return { set: (seconds: number) => void (this.values[name] = seconds) };
  }
}

/**
 * Compares the observations since the last operation. The trace contains the number of observations, then each
 * observation in nanoseconds.
 */
function compareObservations(trace: Trace, what: string, observed: number[]): void {
  trace.same(`observations of ${what}`, observed.length);
  for (const seconds of observed.splice(0)) {
    trace.same(`${what} in ns`, toNs(seconds));
  }
}
