/** Check that no key is lost that was given up. */

import { type History, isBefore, type Period } from "./history.ts";

/** Returns violations: keys whose work ended with giving them up, and which are not given up at the end. */
export function lostGiveUps(history: History, givenUp: ReadonlySet<string>): string[] {
  const wrong: string[] = [];
  for (const [key, handOuts] of history.handOutsOf) {
    const last = handOuts.at(-1)!;
    const end = last.finishes.find(({ kind, counts }) => kind === "givenUp" && counts === true);
    if (end === undefined || givenUp.has(key)) continue;
    const { period: { from, to } } = end;
    const mayFollow = (call: Period) => call.to === undefined || !isBefore(call.to, from);
    if ([...history.redrives, ...history.discards].some(mayFollow)) continue;
    // A key that is delayed is not given up, and its delay may have been canceled.
    if (history.dropped.get(key)!.some((point) => point !== to && !isBefore(point, last.from))) continue;
    wrong.push(`${key} was given up with the token ${last.token}, and is not listed`);
  }
  return wrong;
}
