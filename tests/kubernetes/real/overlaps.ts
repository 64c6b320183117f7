/** Check of what leaders did at the same time. */

import type { ControllerEvent } from "./controller_process.ts";

/** Milliseconds by which the times of two processes may differ from what happened: a busy machine writes lines late. */
const SLACK = 1000;

/**
 * Returns a line for each attempt that a process began after another process had begun attempts as the next leader. A
 * leader that loses its lease may end attempts that it began before, but must not begin others.
 */
export function overlaps(histories: readonly (readonly ControllerEvent[])[]): string[] {
  const begun = histories.map((events) => events.filter(({ event }) => event === "begin").map(({ at }) => at));
  const faults: string[] = [];
  begun.forEach((times, i) => {
    begun.forEach((others, j) => {
      if (i === j || times.length === 0 || others.length === 0 || times[0]! > others[0]!) return;
      const late = times.filter((at) => at > others[0]! + SLACK);
      if (late.length > 0) faults.push(`process ${i} began ${late.length} attempts after process ${j} had begun some`);
    });
  });
  return faults;
}
