/** Functions that format the server's data for the page. */

import { formatDuration, formatNumber } from "@workqueue/core/internal";

/** Text for an unknown value. */
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

/** Formats the time until an item is due. `ms` is in milliseconds. */
export function due(ms: number | null): string {
  return ms === null ? UNKNOWN : ms <= 0 ? "now" : `in ${formatDuration(ms)}`;
}

/** Formats a count with its noun: `1 item`, `4,820 items`. */
export function many(number: number, one: string): string {
  return `${formatNumber(number)} ${one}${number === 1 ? "" : "s"}`;
}

/** Formats the local time of day. `ms` is a time as returned by `Date.now()`. */
export function timeOfDay(ms: number, seconds = true): string {
  const date = new Date(ms);
  const parts = [date.getHours(), date.getMinutes(), ...(seconds ? [date.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/**
 * Makes all characters of a text visible. Replaces invisible characters, and characters that change the direction of
 * text, with their code points, such as `⟨U+202E⟩`.
 */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}
