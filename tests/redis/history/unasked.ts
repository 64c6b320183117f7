/** Check that each hand-out has a cause: an add, a retry, or the loss of the previous owner. */

import { type Arrival, type HandOut, type History, isBefore, mayComeAfter, SLACK } from "./history.ts";

/** Returns violations: keys that were handed out after their last finish although nobody added them, or too early. */
export function unasked(history: History): string[] {
  const wrong: string[] = [];
  for (const [key, handOuts] of history.handOutsOf) {
    const arrivals = history.arrivals.get(key) ?? [];
    const isPromoted = history.promoted.has(key);
    for (const [i, handOut] of handOuts.entries()) {
      const previous = handOuts[i - 1];
      if (previous !== undefined && !previous.finishes.some(({ counts }) => counts)) continue; // lost, or maybe
      if (arrivals.some((each) => isCause(each, previous, handOut, isPromoted))) continue;
      wrong.push(`${key} was handed out with the token ${handOut.token}, without an add since ${previous?.token}`);
    }
  }
  return wrong;
}

/** Reports whether an arrival may have made a key ready after a hand-out and before the next one. */
function isCause(arrival: Arrival, previous: HandOut | undefined, next: HandOut, isPromoted: boolean): boolean {
  const { period, minDelay } = arrival;
  if (isBefore(next.to, period.from)) return false;
  if (!isPromoted && minDelay > 0 && period.from.at + minDelay > next.token / 1000 + SLACK) return false;
  return previous === undefined || mayComeAfter(arrival, previous);
}
