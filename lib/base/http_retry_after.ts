/** As much of a `Response` as {@linkcode RetryAfterError.from} reads. */
export interface RetryAfterResponse {
  /** The status code. */
  readonly status: number;
  /** The text beside it, which HTTP/2 does not have. */
  readonly statusText?: string | undefined;
  /** The headers. */
  readonly headers: { get(name: string): string | null };
}

/** In milliseconds: 2^31 seconds, which RFC 9111 takes for any larger number of seconds. */
const LONGEST = 2 ** 31 * 1000;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * The three forms of a date that RFC 9110 (5.6.7) wants read. `Date.parse` reads much that is no date, such as `try 5`.
 */
const DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

/**
 * How long a `Retry-After` header says to wait, in milliseconds: 0 for a date that has passed, and `undefined` if the
 * header is missing or not valid (RFC 9110, 10.2.3). A date counts from the response's own `Date`, if it has one, so
 * that it does not matter whether the two clocks agree.
 */
export function retryAfter({ headers }: Pick<RetryAfterResponse, "headers">): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, LONGEST);
  const now = Date.now();
  const date = parseHttpDate(text, now);
  if (date === undefined) return undefined;
  const sent = parseHttpDate(headers.get("date")?.trim() ?? "", now) ?? now;
  return Math.min(Math.max(date - sent, 0), LONGEST);
}

function parseHttpDate(text: string, now: number): number | undefined {
  const match = DATES.map((date) => date.exec(text)).find((match) => match !== null);
  if (match === undefined) return undefined;
  const { day, month, year, time } = match.groups as Record<"day" | "month" | "year" | "time", string>;
  const [hours, minutes, seconds] = time.split(":").map(Number) as [number, number, number];
  const midnight = new Date(Date.UTC(fullYear(year, now), MONTHS.indexOf(month), Number(day)));
  const isDay = MONTHS.includes(month) && midnight.getUTCDate() === Number(day);
  const isTime = hours < 24 && minutes < 60 && seconds <= 60; // 60 is a leap second
  return isDay && isTime ? midnight.getTime() + (hours * 3600 + minutes * 60 + seconds) * 1000 : undefined;
}

/** A year of two digits is never more than 50 years ahead. */
function fullYear(year: string, now: number): number {
  if (year.length === 4) return Number(year);
  const thisYear = new Date(now).getUTCFullYear();
  const ahead = (Number(year) - thisYear % 100 + 100) % 100;
  return thisYear + (ahead > 50 ? ahead - 100 : ahead);
}
