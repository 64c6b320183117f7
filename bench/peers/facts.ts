/** Facts about a run of the benchmark, and results other than the times of the workloads. */
export interface Facts {
  readonly machine: string;
  readonly versions: readonly string[];
  readonly rounds: number;
  readonly memory: Readonly<Record<string, MemoryFacts>>;
  readonly lateness: Readonly<Record<string, LatenessFacts>>;
  readonly latency: Readonly<Record<string, LatencyFacts>>;
  readonly size: SizeFacts;
}

/**
 * Gzipped size, in bytes, of a program that only imports the whole module, one function, or a typical controller's
 * imports.
 */
export interface SizeFacts {
  readonly everything: number;
  readonly workQueue: number;
  readonly controller: number;
}

/** Memory use in bytes per key, for a full queue and after all keys were taken. */
export interface MemoryFacts {
  readonly ready: { readonly full: number; readonly drained: number };
  readonly delayed: { readonly full: number; readonly drained: number };
}

/** Lateness in milliseconds. */
export interface LatenessFacts {
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
  readonly timers: number;
}

/**
 * Time until an answer, in milliseconds, and the fraction of the time that the work received. The keys are the kinds of
 * work that keep the CPU busy.
 */
export type LatencyFacts = Readonly<
  Record<string, { readonly median: number; readonly p99: number; readonly worst: number; readonly busy: number }>
>;
