/**
 * Discipline that divides the work between groups of items.
 *
 * Order: groups take turns by weight, however many items each has.
 *
 * Choose it when one tenant, host or kind of item must not hold up the others.
 *
 * ```json
 * {
 *   "type": "fair",
 *   "separator": "/",
 *   "weights": { "gold": 3 },
 *   "maxPerGroup": 2,
 *   "within": { "type": "priority", "maxHeadStart": "1m" }
 * }
 * ```
 *
 * @module
 */

import type { QueueDiscipline } from "../lib/contracts/discipline.ts";
import type { OptionsInCode } from "../registry/fields.ts";
import { createGroupedInCode, groupBySeparator } from "../registry/grouping.ts";
import { enumKind, integerKind, rateKind, stringKind, weightsKind } from "../registry/option_kinds.ts";
import { partTemplate } from "../registry/options_in_code.ts";
import { type DisciplineDefinition, type DisciplineFields, disciplineKind } from "./definition.ts";
import { FairDiscipline } from "./fair_discipline.ts";

export type * from "./types.ts";

/** Options of a fair discipline. */
export const fairOptions = {
  separator: {
    kind: "string",
    minLength: 1,
    description: 'Text that ends the name of the group in a key: with "/", the key "shop/42" is in the group "shop".',
  },
  weights: {
    kind: "weights",
    required: false,
    description: "Weight of each listed group: the number of items it gets while a group that isn't listed gets one.",
  },
  maxPerGroup: {
    kind: "integer",
    min: 1,
    required: false,
    description: "Maximum number of items of one group that are processing at once. No limit if omitted.",
  },
  ratePerGroup: {
    kind: "rate",
    required: false,
    description:
      "Maximum rate at which items of one group are handed out: 'rate' items per second on average, 'burst' " +
      "at once. No limit if omitted.",
  },
  by: {
    kind: "enum",
    values: ["items", "time"],
    required: false,
    description: 'Share of a group: of the items, or of the time that the items take. "items" if omitted.',
  },
  within: {
    kind: "discipline",
    template: true,
    required: false,
    description: "Order within each group. First in, first out if omitted.",
  },
} as const satisfies DisciplineFields;

/** Definition of `{ "type": "fair" }`. */
export const fair: DisciplineDefinition<"fair", typeof fairOptions> = {
  type: "fair",
  description: "Lets groups of items take turns, by weight.",
  options: fairOptions,
  create: ({ separator, ...options }) => new FairDiscipline(groupBySeparator(separator), options),
};

/**
 * Options of {@linkcode createFairDiscipline}: the options of a config, with `groupOf` as an alternative to
 * `separator`.
 */
export type FairOptions<T> =
  & OptionsInCode<Omit<typeof fairOptions, "separator">, { discipline: QueueDiscipline<unknown> }>
  & (
    | { groupOf: (item: T) => unknown; separator?: undefined }
    | { separator: string; groupOf?: undefined }
  );

/**
 * Creates a discipline that divides the work between groups of items, such as the items of each tenant. The groups take
 * turns, so a group with a hundred thousand items doesn't hold up a group with ten.
 *
 * The algorithm is start-time fair queuing (Goyal, Vin, Cheng: "Start-time Fair Queuing: A Scheduling Algorithm for
 * Integrated Services Packet Switching Networks", SIGCOMM 1996), with one item as the unit of work. A group with a
 * weight of 3 gets three items for each item of a group with a weight of 1, as long as both groups have ready items. An
 * idle group doesn't accumulate credit. A group that was served more than its share, for example because no other group
 * was ready, is delayed afterwards by at most one turn. A group that becomes ready waits for about one item from each
 * of the other groups.
 *
 * `maxPerGroup` limits how many items of one group are processing at once, and `ratePerGroup` limits how many are
 * handed out per second. Once a group reaches a limit, its other items are blocked, while other groups continue. A
 * group can also be paused: see `pauseGroup` of queues, and `RetryAfterError`. Nobody has to poll: the queue sets a
 * timer for the time at which the next item becomes ready.
 *
 * `by: "time"` shares the time of the workers instead of the number of items. When an item is handed out, its group is
 * charged with the mean duration of the group's items, which is corrected once the item is done. So a group whose items
 * take ten times as long gets a tenth as many items.
 *
 * A group is forgotten when its last turn is over, so groups may come and go indefinitely. At most 10,000 groups
 * without items are remembered. A group that is paused, or that has used some of its rate, is not forgotten before its
 * pause is over and its whole burst is available again.
 *
 * @example Usage
 * ```ts
 * import { createFairDiscipline, createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const discipline = createFairDiscipline({ groupOf: (key: string) => key[0], weights: { b: 2 } });
 * const queue = createWorkQueue({ discipline });
 * for (const key of ["a1", "a2", "a3", "b1", "b2", "b3"]) queue.add(key);
 * const order = Array.from({ length: 6 }, () => queue.tryGet()?.item);
 * assertEquals(order, ["a1", "b1", "b2", "a2", "b3", "a3"]);
 * ```
 *
 * @example Priorities within each group
 * ```ts
 * import { createFairDiscipline, createPriorityDiscipline, createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<string>({
 *   discipline: createFairDiscipline({ separator: "/", within: () => createPriorityDiscipline() }),
 * });
 * queue.add("shop/1");
 * queue.add("shop/2", { priority: 100 });
 * queue.add("blog/1");
 * assertEquals([1, 2, 3].map(() => queue.tryGet()?.item), ["shop/2", "blog/1", "shop/1"]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options Either `groupOf`, which returns the group of an item and is called whenever an item becomes ready, or
 * `separator`: the group is then the text before the first separator in the key, and every key must be a string.
 * `weights`: weights of groups by name, from 0.001 to 1,000; other groups have a weight of 1. `maxPerGroup`: maximum
 * number of items of one group that are processing at once; by default, no limit. `ratePerGroup`: `rate` items of one
 * group per second on average, `burst` at once; by default, no limit. `by`: what groups share, `"items"` (default) or
 * `"time"`. `within`: creates the discipline within a group; by default, first in, first out. If `groupOf` throws,
 * `add` throws the same error. If `groupOf` throws for an item that came back from a worker or from a delay, the item
 * is ready anyway: it goes first, and does not count toward `maxPerGroup`.
 * @returns The discipline, to use in one queue. With a `separator`, the discipline's `push` throws a `TypeError` for
 * keys that are not strings.
 * @throws {RangeError} If an option is a number out of range.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createFairDiscipline<T = unknown>(options: FairOptions<T>): QueueDiscipline<T> {
  return createGroupedInCode(
    "discipline",
    fair,
    {
      string: stringKind,
      weights: weightsKind,
      integer: integerKind,
      rate: rateKind,
      enum: enumKind,
      discipline: partTemplate(disciplineKind),
    },
    options,
    (groupOf, options) => new FairDiscipline(groupOf, options),
  ) as QueueDiscipline<T>;
}
