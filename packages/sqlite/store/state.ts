/**
 * State of a queue, which the table `queues` has as JSON.
 *
 * @module
 */

import type { GiveUpReason, RetryBudgetOptions } from "@workqueue/core";
import type { CreditNumbers, FairNumbers } from "@workqueue/core/internal/policy";
import { Line } from "./item.ts";

/** Numbers of all groups of a queue. */
export interface GroupState extends FairNumbers {
  ready: number;
  /** Number of groups that have a turn. */
  turning: number;
  /** Number of turns so far. */
  turns: number;
  /** Number of idle groups, and of all groups. */
  idle: number;
  total: number;
}

/** Job that runs, or the last one. Times are in microseconds. */
export interface RedriveState {
  readonly search: string;
  /** Whether only keys in the table `redrive_keys` are added. */
  readonly isListed: boolean;
  /** Keys per second. */
  readonly rate?: number;
  /** Time when the job began. */
  readonly until: number;
  /** Time at which the last checked key was given up. */
  position: number;
  /** Earliest time of the next add. */
  next: number;
  redriven: number;
  /** Number of keys that the job has not checked. */
  left: number;
  /** Time of the next step; missing if the job has ended. */
  stepAt?: number;
}

/** Options and numbers of a retry budget. Times are in microseconds. */
export interface BudgetState extends RetryBudgetOptions, CreditNumbers {}

/** Permits of a process, its latest call, and the reply to this call. */
export interface PermitHolder {
  readonly count: number;
  readonly nth: number;
  readonly granted: number;
  ends: number;
  /** Whether the end includes the grace of a gap. */
  hasGrace: boolean;
}

/** State of a throttle that processes share, by process. Times are in microseconds. */
export interface ThrottleState {
  readonly holders: Record<string, PermitHolder>;
  /** Processes that wait for a permit, and since when. */
  readonly line: Record<string, number>;
  /** Processes for which a permit is reserved, and since when. */
  readonly called: Record<string, number>;
  /** Processes that wait for a token, since when, and the time at which they lose their places. */
  readonly takers: Record<string, { readonly since: number; readonly until: number }>;
}

/** Numbers of the waits of processes for keys. */
export interface WaitsState {
  /** Number of waits, and of outcomes that are kept. */
  waiting: number;
  kept: number;
  /** Time before which no wait and no outcome ends. */
  ends: number;
}

/** Given-up keys by reason, before any key was given up. */
export const NONE_GIVEN_UP: Readonly<Record<GiveUpReason, number>> = {
  maxRetries: 0,
  terminal: 0,
  shutdown: 0,
  stalled: 0,
  limiter: 0,
};

/** State of a queue. Times are in microseconds. Missing members are those that the queue does not need. */
export interface State {
  /** Time of the latest use. */
  last: number;
  /** Difference between the time of the queue and the clock. */
  offset: number;
  /** Time when any owner was last heard from. */
  heard: number;
  /** Time of the last check for expired leases; 0 if keys of expired leases have not been taken away yet. */
  checked: number;
  /** Number of pauses so far. */
  pauses: number;
  /** Whether the queue is paused until it is resumed. */
  paused?: boolean;
  /** End of a pause with an end. */
  pausedUntil?: number;
  /** Owner that has the duty to try suspects (keys that stalled more than once), and the end of the duty. */
  duty?: { owner: string; ends: number; isAlone: boolean };
  /** Whether items were ever added with payloads. */
  hasPayloads?: boolean;
  /** Whether any key was ever added with a priority. */
  isRanked?: boolean;
  /** Discipline, as JSON. */
  discipline?: string;
  /** Numbers of the groups of a fair discipline. */
  groups?: GroupState;
  /** Line of the order in force, the first line that has keys of an earlier order, and the number of its keys. */
  line: number;
  firstLine: number;
  ready: number;
  /** Numbers of keys in the other lines: see `item.ts`. */
  lines: [number, number, number, number];
  delayed: number;
  processing: number;
  failing: number;
  kept: number;
  handedOut: number;
  failed: number;
  givenUp: number;
  givenUpFor: Partial<Record<GiveUpReason, number>>;
  /** Number of given-up keys that were dropped. */
  dropped: number;
  /** Limits on given-up keys. */
  retention?: { max: number; maxAge?: number };
  redrive?: RedriveState;
  /** State of a shared throttle. Missing for queues. */
  throttle?: ThrottleState;
  budget?: BudgetState;
  /** Whether any owner ever wanted to be told of adds of its keys. */
  tellsAdds?: boolean;
  /** Missing if no process waits for a key. */
  waits?: WaitsState;
}

/** Returns the state of a new queue. */
export function newState(): State {
  return {
    last: 0,
    offset: 0,
    heard: 0,
    checked: 0,
    pauses: 0,
    line: Line.FIRST,
    firstLine: Line.FIRST,
    ready: 0,
    lines: [0, 0, 0, 0],
    delayed: 0,
    processing: 0,
    failing: 0,
    kept: 0,
    handedOut: 0,
    failed: 0,
    givenUp: 0,
    givenUpFor: {},
    dropped: 0,
  };
}
