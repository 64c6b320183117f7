import { createFairDiscipline, createWorkQueue, type QueueDiscipline } from "@workqueue/core";
import type { TopLevelSpec } from "vega-lite";
import { draw, GREY } from "./draw.ts";
import { VirtualClock, Workers } from "./simulation.ts";

type Plot = Extract<TopLevelSpec, { vconcat: unknown }>["vconcat"][number];

const LARGE = 100_000;
const SMALL = 10;
const SMALL_TENANTS = 9;

/** Time to process an item, in milliseconds. At this speed, ten workers finish a hundred items per second. */
const TAKES = 100;

/** Finished item. */
interface Point {
  /** Number of the tenant; 0 is the large one. */
  readonly tenant: number;
  /** Milliseconds from the time when all items were added to the time when this item was done. */
  readonly doneAfter: number;
}

/** Text at a point in the plot. */
interface Note extends Point {
  readonly text: string;
  readonly align: "left" | "right";
}

/** Runs all items. Returns the items of the small tenants, and the last item of the large tenant. */
function run(discipline: QueueDiscipline<string> | undefined): Point[] {
  const clock = new VirtualClock();
  const queue = createWorkQueue<string>({ clock, discipline });
  const add = (tenant: number, count: number) => {
    for (let i = 1; i <= count; i++) queue.add(`${tenant}/${i}`);
  };
  add(0, LARGE);
  for (let tenant = 1; tenant <= SMALL_TENANTS; tenant++) add(tenant, SMALL);

  const points: Point[] = [];
  const workers = new Workers(queue, clock, 10, TAKES, (item) => {
    const tenant = Number(item.split("/")[0]);
    if (tenant > 0 || item === `0/${LARGE}`) points.push({ tenant, doneAfter: clock.now() + TAKES });
  });
  workers.look();
  clock.run();
  return points;
}

/** Labels of the time axis, by time in milliseconds. */
const TICKS: Readonly<Record<number, string>> = {
  100: "0.1 s",
  1000: "1 s",
  10_000: "10 s",
  60_000: "1 min",
  600_000: "10 min",
  3_600_000: "1 h",
};

/** Plots a row of points for each tenant, with the large tenant at the bottom and notes beside the points. */
function plotRun(
  name: string,
  points: Point[],
  notes: Note[],
  isLast: boolean,
): Plot {
  const x = {
    field: "doneAfter",
    type: "quantitative",
    scale: { type: "log", domain: [80, 3_600_000] as number[], nice: false },
    axis: {
      title: isLast ? "done after" : null,
      values: Object.keys(TICKS).map(Number),
      labels: isLast,
      labelExpr: `${JSON.stringify(TICKS)}[datum.value]`,
      tickCount: Object.keys(TICKS).length,
      grid: true,
    },
  } as const;
  const y = {
    field: "tenant",
    type: "quantitative",
    scale: { domain: [-1, SMALL_TENANTS + 1] as number[], nice: false },
    axis: null,
  } as const;
  return {
    title: { text: name, fontSize: 13 },
    width: 640,
    height: 90,
    layer: [
      {
        data: { values: points.filter(({ tenant }) => tenant > 0) },
        mark: { type: "point", filled: true, size: 20, opacity: 0.8 },
        encoding: { x, y },
      },
      {
        data: { values: points.filter(({ tenant }) => tenant === 0) },
        mark: { type: "point", filled: true, shape: "diamond", size: 80, opacity: 1, color: GREY },
        encoding: { x, y },
      },
      {
        data: { values: notes },
        mark: { type: "text", fontSize: 12, align: { expr: "datum.align" } },
        encoding: { x, y, text: { field: "text" } },
      },
    ],
  };
}

/** Returns the plot as SVG. */
export function plotFairness(): Promise<string> {
  const large: Note = { tenant: 0, doneAfter: 850_000, text: "last item of the large tenant", align: "right" };
  return draw({
    title: {
      text: "When the items of nine small tenants are done",
      subtitle: "Each has ten, which come after the hundred thousand of a large one. 100 items are done each second.",
      offset: 16,
    },
    spacing: 14,
    vconcat: [
      plotRun("First in, first out", run(undefined), [
        {
          tenant: 5,
          doneAfter: 850_000,
          text: "items of the small tenants: after more than a quarter of an hour",
          align: "right",
        },
        large,
      ], false),
      plotRun("Fair", run(createFairDiscipline({ separator: "/" })), [
        { tenant: 5, doneAfter: 1250, text: "items of the small tenants: within a second", align: "left" },
        large,
      ], true),
    ],
  });
}
