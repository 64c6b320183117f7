/** Check that no group has more processing keys than `maxPerGroup`. */

import { type HandOut, type History, listIn } from "./history.ts";

/** Groups of a queue. */
export interface Groups {
  readonly groupOf: (key: string) => string;
  readonly maxPerGroup: number;
}

/** Returns violations: hand-outs at which a group certainly had more than `maxPerGroup` processing keys. */
export function groupLimit(history: History, { groupOf, maxPerGroup }: Groups): string[] {
  const wrong: string[] = [];
  const held = new Map<string, HandOut[]>();
  for (const next of history.handOuts) {
    const group = groupOf(next.key);
    // A later hand-out of the same key shows that the earlier one was over.
    const still = listIn(held, group).filter((one) => one.key !== next.key && history.isHeldAt(one, next));
    held.set(group, [...still, next]);
    if (still.length < maxPerGroup) continue;
    const others = still.map(({ key, token }) => `${key} by ${token}`).join(", ");
    wrong.push(`${next.key} was handed out by ${next.token} while its group had ${others}`);
  }
  return wrong;
}
