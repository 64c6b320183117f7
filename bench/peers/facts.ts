/** What was found out beside the times. */
export interface Facts {
  readonly machine: string;
  readonly versions: readonly string[];
  readonly rounds: number;
  readonly memory: Readonly<Record<string, MemoryFacts>>;
  readonly lateness: Readonly<Record<string, LatenessFacts>>;
  readonly latency: Readonly<Record<string, LatencyFacts>>;
  readonly size: SizeFacts;
}

/** Bytes of a program that imports nothing else: the whole module, one function, or what a typical controller needs. */
export interface SizeFacts {
  readonly everything: number;
  readonly workQueue: number;
  readonly controller: number;
}

/** Bytes a key, full and drained. */
export interface MemoryFacts {
  readonly ready: { readonly full: number; readonly drained: number };
  readonly delayed: { readonly full: number; readonly drained: number };
}

/** Milliseconds. */
export interface LatenessFacts {
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
  readonly timers: number;
}

/** By what keeps the CPU busy: milliseconds until an answer, and the part of the time that the work has got. */
export type LatencyFacts = Readonly<
  Record<string, { readonly median: number; readonly p99: number; readonly worst: number; readonly busy: number }>
>;
