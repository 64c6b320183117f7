/** Check of mutual exclusion: one owner per key, by token. */

import { type History, isBefore } from "./history.ts";

/**
 * Returns violations: a token that was handed out twice, a key that was handed out while another owner certainly had
 * it, and a finish that counted after the key had been handed out again.
 */
export function exclusion(history: History): string[] {
  const wrong: string[] = [];
  for (const [i, { key, token }] of history.handOuts.entries()) {
    const next = history.handOuts[i + 1];
    if (next?.token === token) wrong.push(`Token ${token} was handed out for ${key} and ${next.key}`);
  }
  for (const [key, handOuts] of history.handOutsOf) {
    for (const [i, one] of handOuts.entries()) {
      const ended = one.finishes.filter(({ counts }) => counts);
      if (ended.length > 1) wrong.push(`${key} was finished ${ended.length} times with the token ${one.token}`);
      const next = handOuts[i + 1];
      if (next === undefined) continue;
      for (const { period } of ended) {
        if (isBefore(next.to, period.from)) {
          wrong.push(`The finish of ${key} counted with the token ${one.token}, after ${next.token} was handed out`);
        }
      }
      if (history.isHeldAt(one, next)) {
        wrong.push(`${key} was handed out with the token ${next.token} while another owner had it by ${one.token}`);
      }
    }
  }
  return wrong;
}
