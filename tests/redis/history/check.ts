/** All checks of a history. */

import { buckets, type GroupRate, groupRates } from "./bucket.ts";
import type { Line } from "./event.ts";
import { exclusion } from "./exclusion.ts";
import { groupLimit, type Groups } from "./group_limit.ts";
import { History } from "./history.ts";
import { lostAdds } from "./lost_adds.ts";
import { lostGiveUps } from "./lost_give_ups.ts";
import { type Order, order } from "./order.ts";
import { paused } from "./paused.ts";
import { type Turns, turns } from "./turns.ts";
import { unasked } from "./unasked.ts";

/** Rules of a history beyond those that hold for every queue. */
export interface Rules {
  /** Whether the queue was idle at the end, so that a missing hand-out is a loss. */
  readonly isComplete?: boolean;
  /** Keys that are given up at the end. */
  readonly givenUp?: ReadonlySet<string> | undefined;
  readonly order?: Order | undefined;
  /** Returns the group of a key, in a queue whose groups are paused. */
  readonly groupOf?: (key: string) => string;
  readonly groups?: Groups | undefined;
  readonly groupRate?: GroupRate | undefined;
  readonly turns?: Turns | undefined;
}

/** Name of a check. */
export type Check =
  | "exclusion"
  | "lost adds"
  | "lost give-ups"
  | "unasked"
  | "order"
  | "group limit"
  | "group rate"
  | "buckets"
  | "paused"
  | "turns";

/** Result of the checks. */
export interface Verdict {
  /** Number of hand-outs. */
  readonly handOuts: number;
  /** Violations, each with the check that found it. */
  readonly wrong: readonly (readonly [Check, string])[];
}

/** Checks a history, given the lines of each process that wrote it. */
export function check(files: readonly (readonly Line[])[], rules: Rules): Verdict {
  const history = new History(files);
  const found: Record<Check, string[]> = {
    "exclusion": exclusion(history),
    "unasked": unasked(history),
    "buckets": buckets(history),
    "paused": paused(history, rules.groupOf),
    "lost adds": rules.isComplete ? lostAdds(history) : [],
    "lost give-ups": rules.givenUp === undefined ? [] : lostGiveUps(history, rules.givenUp),
    "order": rules.order === undefined ? [] : order(history, rules.order),
    "group limit": rules.groups === undefined ? [] : groupLimit(history, rules.groups),
    "group rate": rules.groupRate === undefined ? [] : groupRates(history, rules.groupRate),
    "turns": rules.turns === undefined ? [] : turns(history, rules.turns),
  };
  const wrong = Object.entries(found).flatMap(([name, each]) => each.map((text) => [name as Check, text] as const));
  return { handOuts: history.handOuts.length, wrong };
}
