import type { MillionFacts } from "./million.ts";
import type { Throughput } from "./processes.ts";
import type { Reaction } from "./reaction.ts";

/** Results other than the times of the works. */
export interface Facts {
  readonly machine: string;
  readonly versions: readonly string[];
  readonly runtimes: readonly string[];
  readonly rounds: number;
  /** Duration of the whole run, in minutes. */
  readonly minutes: number;
  readonly throughput: readonly Throughput[];
  /** Calls of an empty script per second, measured by the server's own benchmark. */
  readonly emptyScript: readonly { readonly connections: number; readonly pipeline: number; readonly rate: number }[];
  readonly reactions: readonly Reaction[];
  readonly million: MillionFacts;
}

/** Payload sizes, in characters in addition to the key. */
export const PAYLOADS: readonly number[] = [0, 1000];

/** Returns the name of a work in `Figures`. */
export function figureName(work: string, payload: number): string {
  return `${work}/${payload}`;
}

/** Name of an empty call in `Figures`. */
export const EMPTY_CALL = { work: "empty call", contender: "nobody" };
