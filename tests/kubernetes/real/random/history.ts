/** History of a random run. */

import type { Stored } from "../admin.ts";
import type { ControllerEvent } from "../controller_process.ts";

/** Something that somebody else did to an object. */
export interface Action {
  readonly at: number;
  readonly name: string;
  readonly key: string;
  /** Object that was deleted, if it had the controller's finalizer. */
  readonly cleanedUp?: string;
}

/** Process of a controller. */
export interface ProcessHistory {
  readonly events: readonly ControllerEvent[];
  /** Whether the process stood still for a while, as after SIGSTOP. */
  readonly wasFrozen: boolean;
}

/** Whole history of a run, whose faults have ended. */
export interface History {
  readonly actions: readonly Action[];
  readonly processes: readonly ProcessHistory[];
  /** Names of the faults, in order. */
  readonly faults: readonly string[];
  /** Objects at the end: config maps and secrets. */
  readonly end: readonly [Stored[], Stored[]];
  /** The same some time later. */
  readonly later: readonly [Stored[], Stored[]];
  /** Versions in the caches of each process that still runs, by `KIND/KEY`. */
  readonly cached: readonly Readonly<Record<string, string>>[];
}
