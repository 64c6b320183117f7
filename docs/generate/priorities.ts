import { createPriorityDiscipline, createWorkQueue } from "@workqueue/core";
import { BLUE, draw, GREY, RED } from "./draw.ts";
import { VirtualClock, Workers } from "./simulation.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/**
 * End of the overload, in milliseconds. Ten items can be finished per second. Twelve urgent items are added per second
 * until the end of the overload, and six afterwards.
 */
const OVERLOAD = 10 * MINUTE;
const END = 18 * MINUTE;

/** Interval at which ordinary items are added and points are plotted, in milliseconds. */
const STEP = 5 * SECOND;

/**
 * Returns the points of a line in the plot: for each moment, how long the oldest ready ordinary item has been ready.
 */
function waits(maxHeadStart: number | string): { minute: number; wait: number }[] {
  const clock = new VirtualClock();
  const queue = createWorkQueue<string>({ clock, discipline: createPriorityDiscipline({ maxHeadStart }) });
  const readySince = new Map<string, number>(); // times at which ordinary items became ready, earliest first
  const workers = new Workers(queue, clock, 10, SECOND, (item) => readySince.delete(item));
  const add = (item: string, priority: number) => {
    queue.add(item, { priority });
    workers.look();
  };
  const addUrgent = (perSecond: number, duration: number) =>
    clock.repeat(SECOND / perSecond, perSecond * duration / SECOND, (time) => add(`urgent ${time}`, 100));
  addUrgent(12, OVERLOAD);
  clock.setTimeout(() => addUrgent(6, END - OVERLOAD), OVERLOAD);

  const points = [{ minute: 0, wait: 0 }];
  clock.repeat(STEP, END / STEP, (time) => {
    readySince.set(`ordinary ${time}`, time);
    add(`ordinary ${time}`, -100);
    const [oldest = time] = readySince.values();
    points.push({ minute: time / MINUTE, wait: (time - oldest) / MINUTE });
  });
  clock.run();
  return points;
}

/** Lines of the plot, with their colors and the positions of their labels. */
const orders = [
  { name: "strict priorities", maxHeadStart: Infinity, color: RED, minute: 8, wait: 9 },
  { name: 'maxHeadStart: "1m"', maxHeadStart: "1m", color: BLUE, minute: 8, wait: 3.1 },
  { name: "first in, first out", maxHeadStart: 0, color: GREY, minute: 9.8, wait: 0.6 },
];

/** Returns the plot as SVG. */
export function plotPriorities(): Promise<string> {
  const color = {
    field: "name",
    type: "nominal",
    scale: { domain: orders.map(({ name }) => name), range: orders.map(({ color }) => color) },
    legend: null,
  } as const;
  const x = {
    field: "minute",
    type: "quantitative",
    scale: { domain: [0, END / MINUTE] as number[], nice: false },
    axis: { title: "minutes", tickCount: 10 },
  } as const;
  const y = {
    field: "wait",
    type: "quantitative",
    axis: { title: "minutes waited", titleFontWeight: "normal" },
  } as const;
  return draw({
    title: {
      text: "How long the oldest item of the lowest priority has been waiting",
      subtitle: "beside items of the highest priority: more than there is time for, and then fewer",
    },
    width: 640,
    height: 240,
    layer: [
      {
        data: { values: [{ minute: 0, until: OVERLOAD / MINUTE }] },
        mark: { type: "rect", color: GREY, opacity: 0.15 },
        encoding: { x, x2: { field: "until" } },
      },
      {
        data: {
          values: [
            { minute: 0.2, wait: 15.3, text: "120 % load of urgent items" },
            { minute: 10.2, wait: 15.3, text: "60 %" },
          ],
        },
        mark: { type: "text", align: "left" },
        encoding: { x, y, text: { field: "text" } },
      },
      {
        data: {
          values: orders.flatMap(({ name, maxHeadStart }) => waits(maxHeadStart).map((point) => ({ ...point, name }))),
        },
        mark: { type: "line", strokeWidth: 2 },
        encoding: { x, y, color },
      },
      {
        data: { values: orders },
        mark: { type: "text", align: "right", fontSize: 13, fontWeight: "bold" },
        encoding: { x, y, color, text: { field: "name" } },
      },
    ],
  });
}
