/** Check that a paused queue hands out nothing, and that a queue hands out no key of a paused group. */

import { type HandOut, type History, isBefore, type Pause, SLACK } from "./history.ts";

/** Returns violations: hand-outs that were certainly made during a pause. */
export function paused(history: History, groupOf: ((key: string) => string) | undefined): string[] {
  return history.handOuts.filter((handOut) =>
    history.pauses.some((pause) => isDuring(history, handOut, pause, groupOf))
  )
    .map(({ key, token }) => `${key} was handed out by ${token} during a pause`);
}

function isDuring(
  { resumes }: History,
  { key, token, from, to }: HandOut,
  { group, period, until }: Pause,
  groupOf: ((key: string) => string) | undefined,
): boolean {
  if (group !== undefined && group !== groupOf?.(key)) return false;
  if (period.to === undefined || !isBefore(period.to, from) || token / 1000 + SLACK > until) return false;
  return !resumes.some((resume) =>
    resume.group === group && isBefore(resume.period.from, to) &&
    !(resume.period.to !== undefined && isBefore(resume.period.to, period.from))
  );
}
