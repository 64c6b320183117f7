/** The part of a `Response` that {@linkcode RetryAfterError.from} reads. */
export interface RetryAfterResponse {
  /** HTTP status code, such as 429. */
  readonly status: number;
  /** Reason phrase of the status. HTTP/2 responses have no reason phrase. */
  readonly statusText?: string | undefined;
  /** Response headers. Only the headers `Retry-After` and `Date` are read. */
  readonly headers: { get(name: string): string | null };
}

/**
 * Longest delay: 2^31 seconds, in milliseconds. Longer delays are reduced to this maximum, as in RFC 9111.
 * A literal, because bundlers keep computed constants that nothing uses.
 */
const LONGEST = 2_147_483_648_000;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * The three date formats that RFC 9110 (5.6.7) requires recipients to accept. `Date.parse` also accepts strings that
 * are not dates, such as `try 5`.
 */
const DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

/**
 * Returns the delay that a `Retry-After` header asks for, in milliseconds: 0 for a date that has passed, and
 * `undefined` if the header is missing or not valid (RFC 9110, 10.2.3). A date is compared with the response's `Date`
 * header, if there is one, so the clocks of the client and the server need not agree.
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
  const isTime = hours < 24 && minutes < 60 && seconds <= 60; // second 60 is a leap second
  return isDay && isTime ? midnight.getTime() + (hours * 3600 + minutes * 60 + seconds) * 1000 : undefined;
}

/** Returns the year with four digits. A two-digit year is taken to be at most 50 years in the future. */
function fullYear(year: string, now: number): number {
  if (year.length === 4) return Number(year);
  const thisYear = new Date(now).getUTCFullYear();
  const ahead = (Number(year) - thisYear % 100 + 100) % 100;
  return thisYear + (ahead > 50 ? ahead - 100 : ahead);
}
