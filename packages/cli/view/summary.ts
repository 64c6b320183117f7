import { describeEnd, type ItemReport } from "../report/records.ts";
import type { RefusedLines } from "../items/refused_lines.ts";
import type { Tally } from "../run/tally.ts";
import type { RunMetrics, Samples } from "../run/statistics.ts";
import { formatSeconds, lastLine, printable } from "../system/text.ts";

const MAX_LISTED = 10;

/** Up to ten given-up items, which the summary lists. */
export class GivenUpItems {
  readonly #listed: ItemReport[] = [];

  /** Adds an item if it was given up. */
  add(item: ItemReport): void {
    if (item.outcome === "given-up" && this.#listed.length < MAX_LISTED) this.#listed.push(item);
  }

  /** Returns lines of text that list the items. `count` is the total number of given-up items, listed or not. */
  describe(count: number): string[] {
    if (count === 0) return [];
    const lines = this.#listed.map((item) => `  ${printable(item.item)}: ${describeFailure(item)}`);
    if (count > lines.length) lines.push(`  … and ${count - lines.length} more`);
    return ["Given up:", ...lines];
  }
}

/**
 * Formats the summary of a run. Leaves out rows whose number is zero.
 *
 * @param tally The progress of the run.
 * @param metrics The metrics of the run's queue.
 * @param givenUp The given-up items.
 * @param refused The refused lines.
 * @returns The summary, which has several lines.
 */
export function summarize(tally: Tally, metrics: RunMetrics, givenUp: GivenUpItems, refused: RefusedLines): string {
  const counts: [string, number][] = [
    ["Duplicates folded", tally.folded],
    ["Already done", tally.doneBefore],
    ["Lines refused", tally.refused],
    ["Succeeded", tally.succeeded],
    ["Given up", tally.givenUp],
    ["Unfinished", unfinishedItems(tally)],
    ["Retries", tally.retries],
  ];
  const rows: [string, string | number | undefined][] = [
    [tally.isDistinct ? "Distinct items" : "Items", tally.items],
    ...counts.filter(([, count]) => count > 0),
    ["Wall time", formatSeconds(tally.seconds)],
    ["Queue wait", describeSamples(metrics.queueWait)],
    ["Work time", describeSamples(metrics.workTime)],
  ];
  const table = rows.filter(([, value]) => value !== undefined).map(([label, value]) => `${label.padEnd(18)} ${value}`);
  return [...table, ...refused.describe(), ...givenUp.describe(tally.givenUp)].map((line) => line + "\n").join("");
}

/** Returns the number of items that the run has neither completed nor given up. */
export function unfinishedItems({ items, doneBefore, succeeded, givenUp }: Tally): number {
  return items - doneBefore - succeeded - givenUp;
}

/** Describes durations; `undefined` if there are none. */
function describeSamples(samples: Samples): string | undefined {
  const median = samples.percentile(0.5);
  const high = samples.percentile(0.99);
  if (median === undefined || high === undefined) return undefined;
  return `${formatSeconds(median)} median, ${formatSeconds(high)} 99th percentile`;
}

function describeFailure(item: ItemReport): string {
  const reason = lastLine(item.stderr);
  const often = item.attempts === 1 ? "1 attempt" : `${item.attempts} attempts`;
  return `${describeEnd(item)} after ${often}${reason === "" ? "" : `: ${printable(reason)}`}`;
}
