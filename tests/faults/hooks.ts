/** Collaborators of a queue, with hooks that let a test run code in the middle of a call. */

import {
  adaptDiscipline,
  adaptMetrics,
  type Counter,
  type Gauge,
  type Histogram,
  type MetricsProvider,
  type QueueDiscipline,
  type ReadyEntry,
  type SettableGauge,
} from "@workqueue/core";

/** Actions that a test runs in the middle of calls, by the call's name. */
export class Hooks<Call extends string> {
  readonly #actions = new Map<Call, () => void>();

  /** Runs `action` in every call of this kind from now on. */
  always(call: Call, action: () => void): void {
    this.#actions.set(call, action);
  }

  /** Runs `action` only in the next call of this kind. */
  once(call: Call, action: () => void): void {
    this.always(call, () => {
      this.#actions.delete(call);
      action();
    });
  }

  throwOnce(call: Call): void {
    this.once(call, () => {
      throw new Error(`${call} is broken`);
    });
  }

  run(call: Call): void {
    this.#actions.get(call)?.();
  }
}

/** Calls that a queue without priority levels makes to its metrics. */
export const METRIC_CALLS = [
  "adds.inc",
  "depth.inc",
  "depth.dec",
  "queueLatency.observe",
  "workDuration.observe",
  "unfinishedWork.set",
  "longestRunningProcessor.set",
  "retries.inc",
  "delayed.set",
  "oldestReady.set",
] as const;
export type MetricCall = (typeof METRIC_CALLS)[number];

/** Metrics provider that measures nothing. */
export class HookedMetrics implements MetricsProvider {
  readonly hooks = new Hooks<MetricCall>();

  depth = () => this.make("depth");
  adds = () => this.make("adds");
  queueLatency = () => this.make("queueLatency");
  workDuration = () => this.make("workDuration");
  unfinishedWork = () => this.make("unfinishedWork");
  longestRunningProcessor = () => this.make("longestRunningProcessor");
  retries = () => this.make("retries");
  delayed = () => this.make("delayed");

  constructor() {
    adaptMetrics(this);
  }

  protected make(metric: keyof MetricsProvider): Gauge & Counter & Histogram & SettableGauge {
    const call = (method: string) => () => this.hooks.run(`${metric}.${method}` as MetricCall);
    return { inc: call("inc"), dec: call("dec"), observe: call("observe"), set: call("set") };
  }
}

/**
 * Metrics provider that measures nothing, but that also offers a gauge for the age of the oldest ready item. For this
 * gauge, the queue sets a timer even while no item is processing.
 */
export class HookedAges extends HookedMetrics {
  oldestReady = () => this.make("oldestReady");
}

/** First-in, first-out discipline. */
export class HookedDiscipline<T> implements QueueDiscipline<T> {
  readonly hooks = new Hooks<"push" | "pop" | "touch" | "done">();
  readonly entries: ReadyEntry<T>[] = [];
  /** If set, `pop` returns this entry, which is not in the discipline. */
  stranger: { entry: ReadyEntry<T> | undefined } | undefined = undefined;
  /** All pushed entries, in order. */
  readonly pushed: ReadyEntry<T>[] = [];
  /** Items that were passed to `done`, in order. */
  readonly ended: T[] = [];

  constructor() {
    adaptDiscipline(this);
  }

  push(entry: ReadyEntry<T>): void {
    this.hooks.run("push");
    this.entries.push(entry);
    this.pushed.push(entry);
  }

  pop(): ReadyEntry<T> | undefined {
    this.hooks.run("pop");
    return this.stranger === undefined ? this.entries.shift() : this.stranger.entry;
  }

  touch(): void {
    this.hooks.run("touch");
  }

  done(entry: ReadyEntry<T>): void {
    this.hooks.run("done");
    this.ended.push(entry.item);
  }

  get length(): number {
    return this.entries.length;
  }
}

/** `keyOf` function with hooks, for items that contain their own key. */
export class HookedKeys {
  readonly hooks = new Hooks<"keyOf">();
  calls = 0;

  readonly keyOf = ({ key }: Keyed): string => {
    this.calls++;
    this.hooks.run("keyOf");
    return key;
  };
}

export interface Keyed {
  readonly key: string;
}
