/** Functions that format the server's data for the page. */

import { formatDuration, formatNumber } from "@workqueue/core/internal";
import type { Bucket } from "../api.ts";
import { many } from "../watch/texts.ts";

export { many };

/** Text for an unknown value. */
export const UNKNOWN = "–";

export function count(number: number | null | undefined): string {
  return number === null || number === undefined ? UNKNOWN : formatNumber(number);
}

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Formats a count for a narrow column. Shortens large numbers: `1.2M`. */
export function shortCount(number: number | null): string {
  return number === null || number < 100_000 ? count(number) : SHORT.format(number);
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

/** Formats the local time of day. `ms` is a time as returned by `Date.now()`. */
export function timeOfDay(ms: number, seconds = true): string {
  const date = new Date(ms);
  const parts = [date.getHours(), date.getMinutes(), ...(seconds ? [date.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/** Formats a time like {@linkcode timeOfDay}, with the date if it is not the day of `now`. */
export function moment(ms: number, now: number): string {
  const date = new Date(ms);
  if (date.toDateString() === new Date(now).toDateString()) return timeOfDay(ms);
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return `${parts.map((part) => String(part).padStart(2, "0")).join("-")} ${timeOfDay(ms)}`;
}

/**
 * Makes all characters of a text visible. Replaces invisible characters, spaces other than U+0020, half surrogate
 * pairs, and characters that change the direction of text, with their code points, such as `⟨U+202E⟩`.
 */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/**
 * Formats a key or another name, so that an empty or blank name can be seen, and names that differ only in spaces look
 * different. Spaces at the beginning and at the end are written in words, such as `⟨2 spaces⟩`.
 */
export function shownName(name: string): string {
  if (name === "") return "⟨empty⟩";
  return visible(name).replace(/^ +| +$/g, (spaces) => `⟨${many(spaces.length, "space")}⟩`);
}

/** Describes a token bucket: its rate, its tokens and its pause. */
export function bucketText({ rate, burst, tokens, resumesInMs }: Bucket): string {
  const pace = rate === "unlimited" ? "Unlimited" : `${count(rate)} a second, ${count(burst)} at once`;
  const next = rate === "unlimited" || rate === 0 ? "" : `, repaid in ${duration(-tokens! / rate * 1000)}`;
  const left = tokens === null
    ? ""
    : tokens < 0
    ? `, ${many(Math.ceil(-tokens), "token")} owed${next}`
    : `, ${many(Math.floor(tokens), "token")} left`;
  return `${pace}${rate === "unlimited" ? "" : left}.${
    resumesInMs > 0 ? ` Paused: no tokens for ${duration(resumesInMs)}.` : ""
  }`;
}
