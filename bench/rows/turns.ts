/** Order of the measurements of a row. */

/**
 * Returns the order in which contenders take turns in a round. Each round begins with another contender, and every
 * other round is in reverse, so that no contender always follows the same one.
 *
 * @param round Number of the round, starting at 0.
 */
export function inTurns<T>(contenders: readonly T[], round: number): T[] {
  const first = (round >> 1) % Math.max(contenders.length, 1);
  const rotated = [...contenders.slice(first), ...contenders.slice(0, first)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}
