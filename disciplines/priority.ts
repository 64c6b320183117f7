/**
 * Discipline that gives urgent items a head start.
 *
 * Order: a higher priority is worth a head start, so urgent items go first and no item waits forever.
 *
 * Choose it when some items are more urgent than others, and every item must be worked on eventually.
 *
 * ```json
 * { "type": "priority", "min": 0, "max": 10, "maxHeadStart": "5m" }
 * ```
 *
 * @module
 */

import type { QueueDiscipline } from "../lib/contracts/discipline.ts";
import type { Fields, OptionsInCode } from "../registry/fields.ts";
import { durationKind, numberKind } from "../registry/option_kinds.ts";
import { createDiscipline, type DisciplineDefinition } from "./definition.ts";
import { PriorityOrder } from "./priority_order.ts";
import { OrderedDiscipline } from "./ordered_discipline.ts";

export type * from "./types.ts";

/** Smallest allowed difference between `min` and `max`, so that the head start of one point of priority is finite. */
const MIN_RANGE = 1e-6;

/**
 * Longest finite head start, in milliseconds: 100 years. Longer head starts are shortened to this value. Up to this
 * value, floating-point numbers can distinguish times that are a microsecond apart.
 */
const MAX_HEAD_START = 3_155_760_000_000;

/** Options of a priority discipline. */
export const priorityOptions = {
  min: {
    kind: "number",
    min: -1e9,
    max: 1e9,
    default: -100,
    description: "Lowest priority; lower values count as the minimum.",
  },
  max: {
    kind: "number",
    min: -1e9,
    max: 1e9,
    default: 100,
    description:
      "Highest priority; higher values count as the maximum. Must be greater than `min` by at least 0.000001.",
  },
  maxHeadStart: {
    kind: "duration",
    infinite: true,
    default: "1m",
    description:
      "An item of the highest priority goes first if it becomes ready at most this long after an item of the lowest priority.",
  },
} as const satisfies Fields;

/** Definition of `{ "type": "priority" }`. */
export const priority: DisciplineDefinition<"priority", typeof priorityOptions> = {
  type: "priority",
  description: "Gives items of a higher priority a head start.",
  options: priorityOptions,
  check: ({ min, max }) =>
    max - min >= MIN_RANGE ? undefined : { option: "max", rule: `must be greater than 'min' by at least ${MIN_RANGE}` },
  create: ({ min, max, maxHeadStart }) => {
    const headStart = maxHeadStart === Infinity ? Infinity : Math.min(maxHeadStart, MAX_HEAD_START) / (max - min);
    return new OrderedDiscipline((records) => new PriorityOrder(records, min, max, headStart));
  },
};

/**
 * Creates a discipline that hands out items with a higher priority earlier.
 *
 * Each point of priority is worth the same head start, `maxHeadStart / (max - min)`. The item with the smallest
 * `readyAt - priority * maxHeadStart / (max - min)` is next. So a more urgent item goes first if it became ready
 * earlier, or later by less than its head start. Every item is handed out eventually, even with the lowest priority in
 * an overloaded queue. Items with the same priority are handed out in the order in which they became ready.
 *
 * If a ready item is added again with a higher priority, the item gets the head start of that priority. The item keeps
 * the time at which it became ready. If a ready item is added again with a lower priority, nothing changes.
 *
 * With a `maxHeadStart` of `Infinity` or `"unlimited"`, priorities are strict: an item with the highest priority always
 * goes first, and items with a low priority may never be handed out. An item whose priority is raised goes behind the
 * ready items that already have that priority.
 *
 * @example Usage
 * ```ts
 * import { createPriorityDiscipline, createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<string>({ discipline: createPriorityDiscipline() });
 * queue.add("report");
 * queue.add("cleanup", { priority: -50 });
 * queue.add("alert", { priority: 100 });
 * assertEquals([1, 2, 3].map(() => queue.tryGet()?.item), ["alert", "report", "cleanup"]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options `min` and `max`: the lowest and the highest priority, by default -100 and 100. A priority outside this
 * range is treated as the nearer bound. Both bounds are from -1,000,000,000 to 1,000,000,000, and at least 0.000001
 * apart. `maxHeadStart`: how much later an item with the highest priority may become ready and still go before an item
 * with the lowest priority; by default, one minute. 0 means first in, first out. More than 100 years is treated as 100
 * years.
 * @returns The discipline, to use in one queue.
 * @throws {RangeError} If an option is a number out of range, or `max - min` is less than 0.000001.
 * @throws {TypeError} If an option is unknown or has the wrong type.
 */
export function createPriorityDiscipline<T = unknown>(
  options: OptionsInCode<typeof priorityOptions> = {},
): QueueDiscipline<T> {
  return createDiscipline(
    priority,
    { number: numberKind, duration: durationKind },
    options,
  ) as QueueDiscipline<T>;
}
