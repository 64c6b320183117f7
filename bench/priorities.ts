import type { AddOptions } from "@workqueue/core";

const LEVELS: readonly AddOptions[] = Array.from({ length: 201 }, (_, i) => ({ priority: i - 100 }));

/**
 * Returns options for `count` calls to `add`, with pseudorandom priorities from -100 to 100. The priorities are the
 * same in each run.
 */
export function randomPriorities(count: number): AddOptions[] {
  let random = 1;
  return Array.from({ length: count }, () => {
    random = random * 48_271 % 0x7fff_ffff; // Park-Miller random number generator
    return LEVELS[random % LEVELS.length]!;
  });
}
