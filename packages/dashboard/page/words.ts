/** How the page words what the server says. */

import { formatDuration, formatNumber } from "@workqueue/core/internal";

/** What stands where nothing is known. */
export const UNKNOWN = "–";

export function count(number: number | null | undefined): string {
  return number === null || number === undefined ? UNKNOWN : formatNumber(number);
}

export function rate(perSecond: number | null): string {
  return perSecond === null ? UNKNOWN : `${formatNumber(perSecond)}/s`;
}

export function duration(ms: number | null): string {
  return ms === null ? UNKNOWN : formatDuration(Math.max(0, ms));
}

/** When something is due. */
export function due(ms: number | null): string {
  return ms === null ? UNKNOWN : ms <= 0 ? "now" : `in ${formatDuration(ms)}`;
}

/** `1 item`, `4,820 items`. */
export function many(number: number, one: string): string {
  return `${formatNumber(number)} ${one}${number === 1 ? "" : "s"}`;
}

/** The time of day where the reader is. */
export function timeOfDay(ms: number, seconds = true): string {
  const date = new Date(ms);
  const parts = [date.getHours(), date.getMinutes(), ...(seconds ? [date.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/** A text whose characters all show: those that are invisible, or turn the direction, as `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}
