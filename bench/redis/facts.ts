import type { MillionFacts } from "./million.ts";
import type { Throughput } from "./processes.ts";
import type { Reaction } from "./reaction.ts";

/** What was found out beside the times of the works. */
export interface Facts {
  readonly machine: string;
  readonly versions: readonly string[];
  readonly runtimes: readonly string[];
  readonly rounds: number;
  /** The minutes that the whole run took. */
  readonly minutes: number;
  readonly throughput: readonly Throughput[];
  /** Calls of an empty script a second, by the server's own benchmark. */
  readonly emptyScript: readonly { readonly connections: number; readonly pipeline: number; readonly rate: number }[];
  readonly reactions: readonly Reaction[];
  readonly million: MillionFacts;
}

/** The payloads that are measured, in characters beside the key. */
export const PAYLOADS: readonly number[] = [0, 1000];

/** The work as the figures know it. */
export function figureName(work: string, payload: number): string {
  return `${work}/${payload}`;
}

/** A call that does nothing, as the figures know it. */
export const EMPTY_CALL = { work: "empty call", contender: "nobody" };
