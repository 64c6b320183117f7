import type { MillionFacts } from "./million.ts";
import type { Throughput } from "./processes.ts";
import type { Reaction } from "./reaction.ts";

/** Facts about a run of the benchmark, and results other than the times of the workloads. */
export interface Facts {
  readonly machine: string;
  readonly versions: readonly string[];
  readonly runtimes: readonly string[];
  readonly rounds: number;
  /** Duration of the whole run, in minutes. */
  readonly minutes: number;
  readonly throughput: readonly Throughput[];
  /** Number of calls to an empty script per second, measured by the server's own benchmark. */
  readonly emptyScript: readonly { readonly connections: number; readonly pipeline: number; readonly rate: number }[];
  readonly reactions: readonly Reaction[];
  readonly million: MillionFacts;
}

/** Sizes of the payload that items have in addition to their keys, in characters. */
export const PAYLOADS: readonly number[] = [0, 1000];

/** Returns the name under which `Figures` contains a workload. */
export function figureName(work: string, payload: number): string {
  return `${work}/${payload}`;
}

/** Names under which `Figures` contains the empty call. */
export const EMPTY_CALL = { work: "empty call", contender: "nobody" };
