/** Results other than the times of the works. */
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
 * Gzipped bytes of a program that imports nothing else: the whole module, one function, or a typical controller's
 * imports.
 */
export interface SizeFacts {
  readonly everything: number;
  readonly workQueue: number;
  readonly controller: number;
}

/** Bytes per key in a full queue, and after all keys were taken. */
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

/** Milliseconds until an answer, and the part of the time that the work got; by the work that keeps the CPU busy. */
export type LatencyFacts = Readonly<
  Record<string, { readonly median: number; readonly p99: number; readonly worst: number; readonly busy: number }>
>;
