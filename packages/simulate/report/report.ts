import type { Times } from "../run/distribution.ts";
import type { OutageReport } from "../run/outages.ts";
import type { Counts } from "../run/simulation.ts";

/** Times of a class of items, in milliseconds. */
export interface ClassReport {
  /** Times from the moment at which an item is ready until an attempt begins. */
  readonly waits: Times;
  /** Times from the arrival of an item until its success. */
  readonly totals: Times;
}

/** A value, and the time at which it was measured. */
export interface Moment {
  /** Time in milliseconds from the start. */
  readonly at: number;
  /** The value. */
  readonly value: number;
}

/** Result of a simulation. All times are in milliseconds; those named `at` count from the start. */
export interface SimulationReport extends Counts, ClassReport {
  /** Name of the queue. */
  readonly queue: string;
  /** Seed of the random numbers. */
  readonly seed: number;
  /** Virtual time that the simulation took. */
  readonly duration: number;
  /** Number of items that had not ended when the simulation was stopped, usually at twice the duration of the load. */
  readonly unfinished: number;
  /** Number of failed attempts, by reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** Times of each group's items. */
  readonly byGroup: Readonly<Record<string, ClassReport>>;
  /** Times of the items of each priority. */
  readonly byPriority: Readonly<Record<string, ClassReport>>;
  /** Share of the workers' time that was spent on attempts. */
  readonly utilization: number;
  /** Attempts per second at the backend: on average, and in the busiest second. */
  readonly requests: { readonly mean: number; readonly max: Moment };
  /** Outages of the load, in the order of the document. */
  readonly outages: readonly OutageReport[];
  /** Largest number of items that had arrived and had not ended, and the longest wait. */
  readonly worst: { readonly backlog: Moment; readonly wait: Moment };
  /** Numbers over time, one per step. */
  readonly timeline: {
    /** Length of a step. */
    readonly step: number;
    readonly arrivals: readonly number[];
    readonly attempts: readonly number[];
    readonly retries: readonly number[];
    readonly failures: readonly number[];
    readonly successes: readonly number[];
    readonly backlog: readonly number[];
    readonly waits: readonly number[];
  };
  /** Remarkable facts, each as a sentence. */
  readonly facts: readonly string[];
}
