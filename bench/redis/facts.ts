import type { MillionFacts } from "./million.ts";
import type { Throughput } from "./processes.ts";
import type { Reaction } from "./reaction.ts";

/** Facts about one run of the benchmark, and all results that are not in `Figures`. */
export interface Facts {
  readonly machine: string;
  readonly versions: readonly string[];
  readonly runtimes: readonly string[];
  readonly rounds: number;
  /** Duration of the whole run, in minutes. */
  readonly minutes: number;
  readonly throughput: readonly Throughput[];
  /** Number of calls per second to an empty script, measured by the server's own benchmark. */
  readonly emptyScript: readonly { readonly connections: number; readonly pipeline: number; readonly rate: number }[];
  readonly reactions: readonly Reaction[];
  readonly million: MillionFacts;
}

/** Sizes of the payload that items have in addition to their keys, in characters. */
export const PAYLOADS: readonly number[] = [0, 1000];

/** Returns the name that a workload has in `Figures`. */
export function figureName(work: string, payload: number): string {
  return `${work}/${payload}`;
}

/** Names that the empty call has in `Figures`. */
export const EMPTY_CALL = { work: "empty call", contender: "nobody" };
