/** Facts about one run of the benchmark, and all results that are not in `Figures`. */
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
 * Gzipped sizes, in bytes, of three bundles: the whole module, only `createWorkQueue`, and only the functions that a
 * typical controller uses.
 */
export interface SizeFacts {
  readonly everything: number;
  readonly workQueue: number;
  readonly controller: number;
}

/** Memory use in bytes per key, for a full queue and for the same queue after all keys were taken. */
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
 * Times until a request is answered, in milliseconds, and the fraction of the elapsed time that was spent on work, by
 * the kind of work that keeps the CPU busy.
 */
export type LatencyFacts = Readonly<
  Record<string, { readonly median: number; readonly p99: number; readonly worst: number; readonly busy: number }>
>;
