import { stripVTControlCharacters } from "node:util";
import type { Failure, Tally } from "../run/tally.ts";
import { formatLength, printable } from "../system/text.ts";
import { cut, cutMiddle, type Places, widthOf } from "./columns.ts";
import { pauseOf, type Recent, retriesWaiting, secondsLeft, waitingOf } from "./recent.ts";
import type { Style } from "./style.ts";

/** Area of the terminal for the rows. */
export interface Screen {
  /** Largest width of a row, in columns. */
  readonly columns: number;
  /** Largest number of rows, at least 1. */
  readonly rows: number;
  /** Colors of the text. */
  readonly style: Style;
  /** Widths of the strings shown earlier, for padding. */
  readonly places: Places;
}

const MAX_ITEM = 24;
/**
 * Minimum number of available rows at which the first row is left empty. The cursor is in the empty row, so that typed
 * text covers nothing.
 */
const ROOMY = 4;
/** Layouts, each with the width of the bar and the names of the omitted fields. The first layout that fits is used. */
const LAYOUTS: readonly { readonly bar: number; readonly leftOut: readonly string[] }[] = [
  { bar: 20, leftOut: [] },
  { bar: 10, leftOut: [] },
  { bar: 10, leftOut: ["running"] },
  { bar: 10, leftOut: ["running", "rate"] },
  { bar: 0, leftOut: ["running", "rate"] },
  { bar: 0, leftOut: ["running", "rate", "left"] },
  { bar: 0, leftOut: ["running", "rate", "left", "waiting"] },
];
const SEPARATOR = " · ";
const MARK = "✗ ";

/**
 * Formats the rows that show the progress of a run. The first row shows the reason for a failure, because a failure
 * needs attention. The next row counts failures; it is empty when an earlier failure is over, so that the other rows
 * don't move. The last row has a bar and the progress.
 *
 * @param tally The progress of the run.
 * @param recent The statistics of the last few seconds of the run.
 * @param screen The part of the terminal for the rows.
 * @param kept A line to show above the other rows if the whole line fits; `undefined` if there is none.
 * @returns The rows.
 */
export function liveText(tally: Tally, recent: Recent, screen: Screen, kept?: string): string[] {
  const { failure, nothingSucceeds } = recent;
  const reason = failure && describeFailure(failure, nothingSucceeds, screen);
  const troubles = failure || tally.refused > 0 ? describeTroubles(tally, nothingSucceeds, screen) : undefined;
  const progress = describeProgress(tally, recent, screen);
  const above = kept !== undefined && widthOf(kept) <= screen.columns ? kept : undefined;
  const isThere = (row: string | undefined) => row !== undefined;
  const first = nothingSucceeds ? [reason, progress] : [progress, reason];
  const isRoomy = screen.rows >= ROOMY;
  const shown = new Set([...first, troubles, above].filter(isThere).slice(0, screen.rows - (isRoomy ? 1 : 0)));
  const rows = [above, reason, troubles, progress].filter((row) => isThere(row) && shown.has(row)) as string[];
  return [...(isRoomy ? [""] : []), ...rows.map((row) => cut(row, screen.columns))];
}

/**
 * Describes a failed attempt. The reason comes before the item because the reason often stays the same while the item
 * changes.
 */
function describeFailure({ item, attempt, reason }: Failure, isUrgent: boolean, { columns, style }: Screen): string {
  const which = columns < 60 ? "" : ` (${cutMiddle(harmless(item), MAX_ITEM)}, attempt ${attempt})`;
  const why = cutMiddle(harmless(reason), columns - widthOf(MARK + which));
  return style("red", MARK) + (isUrgent ? style("bold", style("red", why)) : why) + style("dim", which);
}

/** Formats the row of failures. */
function describeTroubles(tally: Tally, nothingSucceeds: boolean, { style, places }: Screen): string {
  const { failing, givenUp, refused, nextDueInMs, isStopping } = tally;
  const fields: string[] = [];
  if (failing > 0) fields.push(style("red", places.fill("failing", `${count(failing)} failing now`)));
  if (givenUp > 0) fields.push(style("red", places.fill("given up", `${count(givenUp)} given up`)));
  if (refused > 0) fields.push(style("red", places.fill("refused", `${count(refused)} refused`)));
  if (nothingSucceeds) fields.push(style("red", "nothing is succeeding"));
  const waiting = retriesWaiting(tally);
  if (waiting !== undefined) fields.push(waiting);
  if (failing > 0 && nextDueInMs !== undefined && !isStopping) {
    fields.push(style("dim", `next retry in ${formatLength(nextDueInMs / 1000)}`));
  }
  return fields.join(style("dim", SEPARATOR));
}

/** Formats the row with the bar and the progress. */
function describeProgress(tally: Tally, recent: Recent, { columns, style, places }: Screen): string {
  const { items, isReading, isStopping, running, waiting } = tally;
  const done = tally.doneBefore + tally.succeeded + tally.givenUp;
  const expected = waiting === undefined ? expectedItems(tally) : undefined; // others add to a shared queue
  const total = isReading ? `${count(items)}+` : count(items);
  const percentage = expected === undefined ? "" : `${percentOf(done, expected, isReading)}  `;
  const progress = waiting === undefined ? `${count(done).padStart(total.length)} of ${total}` : `${count(done)} done`;
  const fields: [name: string, text: string][] = [["done", percentage + places.fill("done", progress)]];
  if (isStopping) fields.push(["stopping", `stopping, ${running} still running`]);
  else {
    fields.push(["running", places.fill("running", `${running} running`)]);
    const pause = pauseOf(tally);
    if (pause !== undefined) fields.push(["paused", style("bold", pause)]);
    else if (recent.rate !== undefined) fields.push(["rate", places.fill("rate", `${formatRate(recent.rate)}/s`)]);
    if (pause === undefined && tally.throttleState !== undefined) {
      fields.push(["throttle", style("bold", `throttle ${tally.throttleState}`)]);
    }
    const inQueue = waitingOf(tally);
    if (inQueue !== undefined) fields.push(["waiting", inQueue]);
    if (recent.rate && expected !== undefined && pause === undefined) {
      const left = secondsLeft(tally, expected - done, recent.rate);
      fields.push(["left", places.fill("left", `${isReading ? "~" : ""}${formatLength(left)} left`)]);
    }
  }
  const rows = LAYOUTS.map(({ bar, leftOut }) => {
    const texts = fields.filter(([name]) => !leftOut.includes(name)).map(([, text]) => text).join(
      style("dim", SEPARATOR),
    );
    return expected === undefined || bar === 0 ? texts : `${describeBar(tally, expected, bar, style)} ${texts}`;
  });
  return (rows.find((row) => widthOf(row) <= columns) ?? rows.at(-1)!).trimEnd();
}

/** Returns the expected number of items; `undefined` if it can't be estimated yet. */
function expectedItems({ items, isReading, partRead }: Tally): number | undefined {
  if (!isReading) return items > 0 ? items : undefined;
  return items > 0 && partRead !== undefined && partRead > 0 ? items / partRead : undefined;
}

/** Draws the bar. Given-up items look different from succeeded items even without colors. */
function describeBar(tally: Tally, expected: number, width: number, style: Style): string {
  const { doneBefore, succeeded, givenUp } = tally;
  const done = Math.floor(width * (doneBefore + succeeded + givenUp) / expected);
  const bad = Math.min(done, Math.ceil(width * givenUp / expected));
  return style("green", "█".repeat(done - bad)) + style("red", "▓".repeat(bad)) +
    style("dim", "░".repeat(width - done));
}

/** Formats a fraction as a percentage. The percentage is 100 only when all items are done. */
function percentOf(done: number, expected: number, isReading: boolean): string {
  return `${Math.min(Math.floor(100 * done / expected), isReading ? 99 : 100)}`.padStart(3) + " %";
}

/** Formats a number with thousands separators. */
function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

function formatRate(rate: number): string {
  return rate < 100 ? rate.toFixed(1) : count(Math.round(rate));
}

/** Removes the colors of error output and replaces other control characters. */
function harmless(text: string): string {
  return printable(stripVTControlCharacters(text));
}
