import type { AddOptions } from "@workqueue/core";

const LEVELS: readonly AddOptions[] = Array.from({ length: 201 }, (_, i) => ({ priority: i - 100 }));

/** Options of so many adds, with priorities from -100 to 100 that look random and are the same each time. */
export function randomPriorities(count: number): AddOptions[] {
  let random = 1;
  return Array.from({ length: count }, () => {
    random = random * 48_271 % 0x7fff_ffff; // Park and Miller
    return LEVELS[random % LEVELS.length]!;
  });
}
