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
 * Formats the summary of a run.
 *
 * @param tally The progress of the run.
 * @param metrics The metrics of the run's queue.
 * @param givenUp The given-up items.
 * @param refused The refused lines.
 * @returns The summary, which has several lines.
 */
export function summarize(tally: Tally, metrics: RunMetrics, givenUp: GivenUpItems, refused: RefusedLines): string {
  const unfinished = tally.items - tally.doneBefore - tally.succeeded - tally.givenUp;
  const rows: [string, string | number][] = [
    ...(tally.isDistinct
      ? [["Distinct items", tally.items], ["Duplicates folded", tally.folded]] satisfies [string, number][]
      : [["Items", tally.items]] satisfies [string, number][]),
    ...(tally.doneBefore > 0 ? [["Already done", tally.doneBefore] satisfies [string, number]] : []),
    ...(tally.refused > 0 ? [["Lines refused", tally.refused] satisfies [string, number]] : []),
    ["Succeeded", tally.succeeded],
    ["Given up", tally.givenUp],
    ...(unfinished > 0 ? [["Unfinished", unfinished] satisfies [string, number]] : []),
    ["Retries", tally.retries],
    ["Wall time", formatSeconds(tally.seconds)],
    ["Queue wait", describeSamples(metrics.queueWait)],
    ["Work time", describeSamples(metrics.workTime)],
  ];
  const table = rows.map(([label, value]) => `${label.padEnd(18)} ${value}`);
  return [...table, ...refused.describe(), ...givenUp.describe(tally.givenUp)].map((line) => line + "\n").join("");
}

function describeSamples(samples: Samples): string {
  const median = samples.percentile(0.5);
  const high = samples.percentile(0.99);
  if (median === undefined || high === undefined) return "none";
  return `${formatSeconds(median)} median, ${formatSeconds(high)} 99th percentile`;
}

function describeFailure(item: ItemReport): string {
  const reason = lastLine(item.stderr);
  const often = item.attempts === 1 ? "1 attempt" : `${item.attempts} attempts`;
  return `${describeEnd(item)} after ${often}${reason === "" ? "" : `: ${printable(reason)}`}`;
}
