/**
 * Rows of the table `items`: see `database/schema.ts`.
 *
 * @module
 */

import type { RetryKind } from "@workqueue/engine";

/**
 * Lines in which keys are while they are ready or blocked. Other lines, from `FIRST` on, are those of the orders that
 * were in force one after the other: `state.line` is that of the order in force, whose keys are ready, or blocked by
 * their groups. In earlier ones are keys that have not been moved to the order in force yet.
 */
export const Line = {
  /** Number of keys in earlier lines, in `state.lines`. */
  EARLIER: 0,
  /** Stalled once. A process may have only a few of these keys at a time. */
  STALLED: 1,
  /** Stalled more than once. These keys are handed out alone. */
  SUSPECT: 2,
  /** A retry without budget. */
  BLOCKED_RETRY: 3,
  /** Line of the first order of a queue. */
  FIRST: 4,
} as const;

/** Kind of a retry that goes before other ready keys. */
export const FIRST: RetryKind = 2;

/** Row of a key. Names are those of the columns. A flag is 0 or 1. */
export interface Item {
  /** Row id; 0 if the key has no row. */
  id: number;
  readonly key: string;
  payload: string | null;
  trace: string | null;
  stalls: number;
  priority: number;
  is_retry: RetryKind;
  line: number | null;
  place: number | null;
  grp: string | null;
  score: number | null;
  turn: number | null;
  due: number | null;
  due_turn: number | null;
  due_priority: number;
  due_is_retry: RetryKind;
  is_folding: number;
  token: number | null;
  owner: number | null;
  cancelled: string | null;
  is_added_again: number;
  held_priority: number;
  held_place: number | null;
  note: string | null;
}

/** Returns the row of a key that is in no state. */
export function newItem(key: string): Item {
  return {
    id: 0,
    key,
    payload: null,
    trace: null,
    stalls: 0,
    priority: 0,
    is_retry: 0,
    line: null,
    place: null,
    grp: null,
    score: null,
    turn: null,
    due: null,
    due_turn: null,
    due_priority: 0,
    due_is_retry: 0,
    is_folding: 0,
    token: null,
    owner: null,
    cancelled: null,
    is_added_again: 0,
    held_priority: 0,
    held_place: null,
    note: null,
  };
}

/**
 * Returns a copy of a row, as an object that is fast to use. On Deno and Node, a row of SQLite is a slow object, also
 * to spread, so the members are named.
 */
export function copyOf(row: Item): Item {
  const {
    id,
    key,
    payload,
    trace,
    stalls,
    priority,
    is_retry,
    line,
    place,
    grp,
    score,
    turn,
    due,
    due_turn,
    due_priority,
    due_is_retry,
    is_folding,
    token,
    owner,
    cancelled,
    is_added_again,
    held_priority,
    held_place,
    note,
  } = row;
  return {
    id,
    key,
    payload,
    trace,
    stalls,
    priority,
    is_retry,
    line,
    place,
    grp,
    score,
    turn,
    due,
    due_turn,
    due_priority,
    due_is_retry,
    is_folding,
    token,
    owner,
    cancelled,
    is_added_again,
    held_priority,
    held_place,
    note,
  };
}

/** Reports whether a key is in no state, so that it needs no row. */
export function isGone({ line, due, token }: Item): boolean {
  return line === null && due === null && token === null;
}

/** Returns the place for a key that comes back: before all keys that were never handed out. */
export function placeBefore(token: number): number {
  return token - 2 ** 53;
}

/** Reverts {@linkcode placeBefore}. Returns other places as they are. */
export function placeInTurn(place: number): number {
  return place < 0 ? place + 2 ** 53 : place;
}

/** Returns the place for a key that becomes ready at `place`, by its kind of retry. */
export function placeOfRetry(place: number, retry: RetryKind): number {
  return retry === FIRST && place >= 0 ? placeBefore(place) : place;
}

/** Removes a key from its line. */
export function leaveLine(item: Item): void {
  item.line =
    item.place =
    item.grp =
    item.score =
    item.turn =
      null;
}

/** Ends the delay of a key. */
export function endDelay(item: Item): void {
  item.due = item.due_turn = null;
  item.due_priority = item.due_is_retry = item.is_folding = 0;
}

/** Removes the holder of a key. */
export function release(item: Item): void {
  item.token =
    item.owner =
    item.cancelled =
    item.held_place =
    item.note =
      null;
  item.is_added_again = item.held_priority = 0;
}

/** Columns that change together. An update writes only the parts that have changed, as each has its own indexes. */
export const PARTS = [
  ["payload", "trace", "stalls"],
  ["priority", "is_retry", "line", "place", "grp", "score", "turn"],
  ["due", "due_turn", "due_priority", "due_is_retry", "is_folding"],
  ["token", "owner", "cancelled", "is_added_again", "held_priority", "held_place", "note"],
] as const satisfies readonly (readonly (keyof Item)[])[];
