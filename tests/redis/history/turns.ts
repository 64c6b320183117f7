/** Check of fairness: groups that have ready keys take turns. */

import type { History } from "./history.ts";

/** Groups of a fair queue without limits, and their weights. */
export interface Turns {
  readonly groupOf: (key: string) => string;
  readonly weightOf: (group: string) => number;
}

/**
 * Returns violations in a history in which all keys were added before the first one was taken: periods in which two
 * groups had ready keys, and in which their hand-outs by weight differ by more than start-time fair queuing allows.
 */
export function turns({ handOuts }: History, { groupOf, weightOf }: Turns): string[] {
  const wrong: string[] = [];
  const groups = [...new Set(handOuts.map(({ key }) => groupOf(key)))];
  for (const [i, one] of groups.entries()) {
    for (const other of groups.slice(i + 1)) {
      const both = handOuts.filter(({ key }) => [one, other].includes(groupOf(key)));
      const end = Math.min(...[one, other].map((group) => both.findLastIndex(({ key }) => groupOf(key) === group)));
      const [a, b] = [1 / weightOf(one), 1 / weightOf(other)];
      let [ahead, most, least] = [0, 0, 0];
      for (const { key, token } of both.slice(0, end)) {
        ahead += groupOf(key) === one ? a : -b;
        [most, least] = [Math.max(most, ahead), Math.min(least, ahead)];
        if (most - least > a + b + 1e-9) wrong.push(`${key} was handed out by ${token}, ${most - least} turns off`);
      }
    }
  }
  return wrong;
}
