/** Check that no acknowledged add is lost. */

import { type Arrival, type History, isBefore } from "./history.ts";

/**
 * Returns violations in a history at whose end the queue was idle: a key that was not handed out after its last
 * acknowledged add, and a key whose last hand-out never ended.
 */
export function lostAdds(history: History): string[] {
  const wrong: string[] = [];
  for (const [key, arrivals] of history.arrivals) {
    const handOuts = history.handOutsOf.get(key) ?? [];
    const ends = [...handOuts.map(({ to }) => to), ...history.dropped.get(key) ?? []];
    const lost = arrivals.findLast(({ period }) =>
      period.to !== undefined && ends.every((end) => isBefore(end, period.from))
    );
    if (lost !== undefined) wrong.push(`${key} ${verb(lost)} at ${lost.period.from.at} ms, and never handed out`);
    const last = handOuts.at(-1);
    if (last === undefined || last.finishes.some(({ counts }) => counts !== false)) continue;
    if (!history.dropped.get(key)?.some((point) => isBefore(last.to, point))) {
      wrong.push(`${key} was handed out with the token ${last.token}, never finished, and never handed out again`);
    }
  }
  return wrong;
}

function verb({ byFinish }: Arrival): string {
  return byFinish ? "was to be retried" : "was added";
}
