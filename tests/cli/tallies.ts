/** How far runs have come, for tests of what is shown of them. */

import { Recent } from "../../packages/cli/view/recent.ts";
import type { Tally } from "../../packages/cli/run/tally.ts";

/** A run in which all goes well, unless something else is said. */
export function tallyOf(changes: Partial<Tally> = {}): Tally {
  return {
    items: 1000,
    isDistinct: true,
    folded: 0,
    refused: 0,
    doneBefore: 0,
    isReading: false,
    partRead: undefined,
    inFlight: 8,
    waiting: 380,
    failing: 0,
    succeeded: 612,
    givenUp: 0,
    retries: 0,
    failures: 0,
    lastFailure: undefined,
    nextDueIn: undefined,
    maxRate: undefined,
    isPaused: false,
    isStopping: false,
    hasBegun: true,
    seconds: 10,
    ...changes,
  };
}

/** One of which a part fails. */
export function failingTally(changes: Partial<Tally> = {}): Tally {
  return tallyOf({
    succeeded: 609,
    givenUp: 3,
    failing: 12,
    failures: 40,
    lastFailure: { item: "db/users", attempt: 3, reason: "psql: could not connect to server: db down" },
    nextDueIn: 2400,
    ...changes,
  });
}

/** What has happened in a run that has come that far. */
export function recentOf(...tallies: Tally[]): Recent {
  const recent = new Recent();
  for (const tally of tallies) recent.add(tally);
  return recent;
}
