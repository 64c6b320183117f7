/** States of runs, for testing the progress display. */

import { Recent } from "../../packages/cli/view/recent.ts";
import type { Tally } from "../../packages/cli/run/tally.ts";

/** Returns the state of a run without failures, with the given changes. */
export function tallyOf(changes: Partial<Tally> = {}): Tally {
  return {
    items: 1000,
    isDistinct: true,
    folded: 0,
    refused: 0,
    doneBefore: 0,
    isReading: false,
    partRead: undefined,
    running: 8,
    queued: 380,
    failing: 0,
    succeeded: 612,
    givenUp: 0,
    retries: 0,
    failures: 0,
    lastFailure: undefined,
    nextDueInMs: undefined,
    maxRate: undefined,
    isPaused: false,
    isStopping: false,
    hasBegun: true,
    seconds: 10,
    ...changes,
  };
}

/** Returns the state of a run in which some items fail. */
export function failingTally(changes: Partial<Tally> = {}): Tally {
  return tallyOf({
    succeeded: 609,
    givenUp: 3,
    failing: 12,
    failures: 40,
    lastFailure: { item: "db/users", attempt: 3, reason: "psql: could not connect to server: db down" },
    nextDueInMs: 2400,
    ...changes,
  });
}

/** Returns the recent history of a run that went through these states. */
export function recentOf(...tallies: Tally[]): Recent {
  const recent = new Recent();
  for (const tally of tallies) recent.add(tally);
  return recent;
}
