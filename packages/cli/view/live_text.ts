import { stripVTControlCharacters } from "node:util";
import type { Failure, Tally } from "../run/tally.ts";
import { formatSeconds, printable } from "../system/text.ts";
import { cut, cutMiddle, type Places, widthOf } from "./columns.ts";
import { type Recent, secondsLeft } from "./recent.ts";
import type { Style } from "./style.ts";

/** What rows are written for. */
export interface Screen {
  /** How many columns a row may take. */
  readonly columns: number;
  /** How many rows there may be, at least one. */
  readonly rows: number;
  /** Colors. */
  readonly style: Style;
  /** How wide texts have been on it. */
  readonly places: Places;
}

const MAX_ITEM = 24;
/** From so many rows on, an empty one sets off what is above. The cursor is there, so that nothing typed is in the way. */
const ROOMY = 4;
/** How wide the bar is and what is left out beside it: the first of these with which the row is narrow enough. */
const LAYOUTS: readonly { readonly bar: number; readonly leftOut: readonly string[] }[] = [
  { bar: 20, leftOut: [] },
  { bar: 10, leftOut: [] },
  { bar: 10, leftOut: ["running"] },
  { bar: 10, leftOut: ["running", "rate"] },
  { bar: 0, leftOut: ["running", "rate"] },
  { bar: 0, leftOut: ["running", "rate", "left"] },
];
const SEPARATOR = " · ";
const MARK = "✗ ";

/**
 * Words how far a run has come, for a terminal: at the top why items fail, as that is what to look into, then how many
 * do, and below these a bar and what goes well.
 *
 * @param tally How far the run has come.
 * @param recent What has happened lately.
 * @param screen What it is written for.
 * @returns The rows.
 */
export function liveText(tally: Tally, recent: Recent, screen: Screen): string[] {
  const { failure, nothingSucceeds } = recent;
  const reason = failure && describeFailure(failure, nothingSucceeds, screen);
  const troubles = failure || tally.refused > 0 ? describeTroubles(tally, nothingSucceeds, screen) : undefined;
  const progress = describeProgress(tally, recent, screen);
  const isThere = (row: string | undefined) => row !== undefined;
  const byImportance = (nothingSucceeds ? [reason, progress, troubles] : [progress, reason, troubles]).filter(isThere);
  const shown = new Set(byImportance.slice(0, screen.rows));
  const rows = [reason, troubles, progress].filter((row) => row !== undefined && shown.has(row)) as string[];
  return [...(screen.rows >= ROOMY ? [""] : []), ...rows.map((row) => cut(row, screen.columns))];
}

/** Why an attempt failed, and which. The reason comes first, as it often stays the same while the item changes. */
function describeFailure({ item, attempt, reason }: Failure, isUrgent: boolean, { columns, style }: Screen): string {
  const which = columns < 60 ? "" : ` (${cutMiddle(harmless(item), MAX_ITEM)}, attempt ${attempt})`;
  const why = cutMiddle(harmless(reason), columns - widthOf(MARK + which));
  return style("red", MARK) + (isUrgent ? style("bold", style("red", why)) : why) + style("dim", which);
}

/** What does not go well. */
function describeTroubles(tally: Tally, nothingSucceeds: boolean, { style, places }: Screen): string {
  const { failing, givenUp, refused, nextDueIn, isStopping } = tally;
  const fields = [style(failing === 0 ? "dim" : "red", places.fill("failing", `${count(failing)} failing now`))];
  if (givenUp > 0) fields.push(style("red", places.fill("given up", `${count(givenUp)} given up`)));
  if (refused > 0) fields.push(style("red", places.fill("refused", `${count(refused)} refused`)));
  if (nothingSucceeds) fields.push(style("red", "nothing succeeds"));
  if (failing > 0 && nextDueIn !== undefined && !isStopping) {
    fields.push(style("dim", `next try in ${formatLength(nextDueIn / 1000)}`));
  }
  return fields.join(style("dim", SEPARATOR));
}

/** A bar and what goes well. */
function describeProgress(tally: Tally, recent: Recent, { columns, style, places }: Screen): string {
  const { items, isReading, isStopping, inFlight } = tally;
  const done = tally.doneBefore + tally.succeeded + tally.givenUp;
  const expected = expectedItems(tally);
  const total = isReading ? `${count(items)}+` : count(items);
  const percentage = expected === undefined ? "" : `${percentOf(done, expected, isReading)}  `;
  const fields: [name: string, text: string][] = [
    ["done", `${percentage}${places.fill("done", `${count(done).padStart(total.length)} of ${total}`)}`],
  ];
  if (isStopping) fields.push(["stopping", `stopping, ${inFlight} still ${inFlight === 1 ? "runs" : "run"}`]);
  else {
    fields.push(["running", places.fill("running", `${inFlight} running`)]);
    if (tally.isPaused) fields.push(["paused", style("bold", "paused")]);
    else if (recent.rate !== undefined) fields.push(["rate", places.fill("rate", `${formatRate(recent.rate)}/s`)]);
    if (recent.rate && expected !== undefined && !tally.isPaused) {
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

/** How many items there will be; `undefined` if that cannot be told yet. */
function expectedItems({ items, isReading, partRead }: Tally): number | undefined {
  if (!isReading) return items > 0 ? items : undefined;
  return items > 0 && partRead !== undefined && partRead > 0 ? items / partRead : undefined;
}

/** Items that were given up are told from those that succeeded without colors too. */
function describeBar(tally: Tally, expected: number, width: number, style: Style): string {
  const { doneBefore, succeeded, givenUp } = tally;
  const done = Math.floor(width * (doneBefore + succeeded + givenUp) / expected);
  const bad = Math.min(done, Math.ceil(width * givenUp / expected));
  return style("green", "█".repeat(done - bad)) + style("red", "▓".repeat(bad)) +
    style("dim", "░".repeat(width - done));
}

/** 100 only when all are done. */
function percentOf(done: number, expected: number, isReading: boolean): string {
  return `${Math.min(Math.floor(100 * done / expected), isReading ? 99 : 100)}`.padStart(3) + " %";
}

/** With separators, as numbers of six digits cannot be read without. */
function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

function formatRate(rate: number): string {
  return rate < 100 ? rate.toFixed(1) : count(Math.round(rate));
}

/** Whole seconds, so that it does not change more often than one can read. */
function formatLength(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : formatSeconds(whole);
}

/** Programs color what they write to their standard error: that is left out, rather than shown as control characters. */
function harmless(text: string): string {
  return printable(stripVTControlCharacters(text));
}
