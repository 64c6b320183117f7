import { formatCount, formatShare, formatTime } from "./format.ts";
import type { ClassReport, SimulationReport } from "./report.ts";

/** A figure of a report, such as `p99 wait`. Smaller is better. */
export interface Figure {
  /** Name, as in conditions and comparisons. */
  readonly name: string;
  /** Words for the figure in a sentence. Default: the name. */
  readonly words?: string;
  /** Unit of the figure. Times are in milliseconds, and 1 is a share of 100 %. */
  readonly unit: "time" | "count" | "share";
  /** Part of the load without which there is no figure. Default: none. */
  readonly needs?: "items" | "outages";
  /** Returns the figure: `Infinity` for something that never happens, and `NaN` if there is none. */
  of(report: SimulationReport): number;
}

const PERCENTILES = ["mean", "p50", "p90", "p99", "max"] as const;

/** Figures of all items. */
export const figures: readonly Figure[] = [
  ...timesOf("", (report) => report),
  { name: "recovery", unit: "time", needs: "outages", of: recoveryOf },
  { name: "backlog", unit: "count", of: ({ worst }) => worst.backlog.value },
  { name: "attempts", words: "number of attempts", unit: "count", of: ({ attempts }) => attempts },
  { name: "retries", words: "number of retries", unit: "count", of: ({ retries }) => retries },
  { name: "given up", words: "number of items given up", unit: "count", of: ({ givenUp }) => givenUp },
  { name: "lost", words: "number of lost items", unit: "count", of: ({ lost }) => lost },
  { name: "unfinished", words: "number of unfinished items", unit: "count", of: ({ unfinished }) => unfinished },
  {
    name: "requests",
    words: "largest number of requests per second",
    unit: "count",
    of: ({ requests }) => requests.max.value,
  },
  { name: "utilization", unit: "share", of: ({ utilization }) => utilization },
];

/** Returns the figures of one group or of one priority, such as `p99 wait of group eu`. */
export function figuresOfClass(by: "group" | "priority", name: string): Figure[] {
  return timesOf(` of ${by} ${name}`, ({ byGroup, byPriority }) => (by === "group" ? byGroup : byPriority)[name]);
}

/** Formats the value of a figure. */
export function formatFigure({ unit }: Pick<Figure, "unit">, value: number): string {
  if (Number.isNaN(value)) return "–";
  if (value === Infinity) return "never";
  return unit === "time" ? formatTime(value) : unit === "share" ? formatShare(value) : formatCount(value);
}

function timesOf(suffix: string, classOf: (report: SimulationReport) => ClassReport | undefined): Figure[] {
  const kinds = [["wait", "waits"], ["total", "totals"]] as const;
  return kinds.flatMap(([word, member]) =>
    PERCENTILES.map((percentile): Figure => ({
      name: `${percentile} ${word}${suffix}`,
      unit: "time",
      needs: "items",
      of: (report) => {
        const times = classOf(report)?.[member];
        return times === undefined || times.count === 0 ? NaN : times[percentile];
      },
    }))
  );
}

/** Returns the longest time from the end of an outage until its backlog is gone; `NaN` if no outage began. */
function recoveryOf({ outages }: SimulationReport): number {
  const times = outages.filter(({ state }) => state !== "not begun").map(({ to, goneAt = Infinity }) => goneAt - to);
  return times.length === 0 ? NaN : Math.max(...times);
}
