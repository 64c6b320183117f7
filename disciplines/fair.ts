/**
 * A discipline that divides the work between groups of items.
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

import { argumentError } from "../lib/base/errors.ts";
import type { QueueDiscipline, ReadyEntry } from "../lib/contracts/discipline.ts";
import { NumberHeap } from "../lib/structures/number_heap.ts";
import type { OptionsInCode } from "../registry/fields.ts";
import { createGroupedInCode, groupBySeparator, type GroupOf } from "../registry/grouping.ts";
import {
  type DisciplineDefinition,
  type DisciplineFields,
  disciplineKind,
  type DisciplineOptions,
} from "./definition.ts";
import { FifoDiscipline } from "./fifo.ts";

export type * from "./types.ts";

/** The options of a fair discipline. */
export const fairOptions = {
  separator: {
    kind: "string",
    minLength: 1,
    description: 'Ends the name of the group in a key: with "/", the key "shop/42" is in the group "shop".',
  },
  weights: {
    kind: "weights",
    required: false,
    description: "How many items each named group gets for one item of a group that is not named.",
  },
  maxPerGroup: {
    kind: "integer",
    min: 1,
    required: false,
    description: "How many items of one group may be processing at once. No limit if omitted.",
  },
  within: {
    kind: "discipline",
    template: true,
    required: false,
    description: "The order within each group. First in, first out if omitted.",
  },
} as const satisfies DisciplineFields;

/** The definition of `{ "type": "fair" }`. */
export const fairDiscipline: DisciplineDefinition<"fair", typeof fairOptions> = {
  type: "fair",
  description: "Lets groups of items take turns, by weight.",
  options: fairOptions,
  create: ({ separator, ...options }) => new FairDiscipline(groupBySeparator(separator), options),
};

/** The options of {@linkcode createFairDiscipline}: those of a config, and a function in place of the separator. */
export type FairOptions<T> =
  & OptionsInCode<Omit<typeof fairOptions, "separator">, { discipline: QueueDiscipline<unknown> }>
  & (
    | { groupOf: (item: T) => unknown; separator?: undefined }
    | { separator: string; groupOf?: undefined }
  );

/**
 * Makes a discipline that divides the work between groups of items, such as the items of each tenant: the groups take
 * turns, so that one with a hundred thousand items does not hold up one with ten.
 *
 * This is start-time fair queuing (Goyal, Vin, Cheng: "Start-time Fair Queuing: A Scheduling Algorithm for Integrated
 * Services Packet Switching Networks", SIGCOMM 1996), with one item as the unit of work. A group with a weight of 3
 * gets three items for each one of a group with a weight of 1, as long as both have any. A group that had nothing to do
 * saves nothing up, and one that was too quick pays nothing back but its last turn: a group that becomes ready waits
 * for about one item of each other one.
 *
 * `maxPerGroup` bounds how many items of one group are held at once. Others of the group are blocked meanwhile, and
 * other groups go on.
 *
 * What is known of a group is dropped when its last turn is over, so groups may come and go without end. No more than
 * 10,000 groups that have no items are known at once.
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
 * @example Priorities inside of each group
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
 * @param options One of `groupOf`, which tells the group of an item and is asked whenever an item becomes ready, and
 * `separator`, which ends the name of the group in a key that is a text; `weights`: numbers from 0.001 to 1,000 by
 * group, 1 for others; `maxPerGroup`: how many items of one group may be held at once, any number by default; `within`:
 * makes the discipline inside of a group, first in, first out by default. If `groupOf` throws, so does `add`. An item
 * that was accepted before is ready all the same: it goes first, and does not count for `maxPerGroup`.
 * @returns The discipline, for one queue. With a `separator`, it refuses keys that are no strings with a `TypeError`.
 * @throws {RangeError} If an option is out of its bounds.
 * @throws {TypeError} If an option is of the wrong type, unknown or missing.
 */
export function createFairDiscipline<T = unknown>(options: FairOptions<T>): QueueDiscipline<T> {
  return createGroupedInCode(
    disciplineKind,
    fairDiscipline,
    options,
    (groupOf, options) => new FairDiscipline(groupOf, options),
  ) as QueueDiscipline<T>;
}

/** In the place of a slot: not in that heap. */
const NONE = -1;

/**
 * How many idle groups are known. Where new groups come as fast as items are handed out, virtual time stands still, and
 * no last turn would ever be over. The group that is forgotten early is the one whose turn would be over first; if it
 * comes back before the others have caught up with it, it may get one item sooner than its share.
 */
const MAX_IDLE = 10_000;

/** What is known of a group, from its first entry until its last turn is over. */
class Group {
  readonly name: unknown;
  readonly within: QueueDiscipline<unknown>;
  /** How much a turn costs: one divided by the group's weight. */
  readonly cost: number;
  /** Whether it matters how many entries are held: to this discipline, or to the one inside. */
  readonly countsHeld: boolean;
  /** When its next turn starts, in virtual time, and when its last one was over. */
  start = 0;
  finish = 0;
  processing = 0;
  /** How many entries may be handed out, and how many there are. */
  ready = 0;
  size = 0;
  /** Where it is among the groups that are ready, and among those that are idle. */
  readySlot = NONE;
  idleSlot = NONE;

  constructor(name: unknown, within: QueueDiscipline<unknown>, weight: number, isBounded: boolean) {
    this.name = name;
    this.within = within;
    this.cost = 1 / weight;
    this.countsHeld = isBounded || within.done !== undefined;
  }
}

/**
 * Start-time fair queuing. Each group has a clock of its own, which runs on by the cost of each item that is handed
 * out; virtual time is where the group is that was served last. The group that is the furthest behind is next.
 */
class FairDiscipline implements QueueDiscipline<unknown> {
  readonly #groupOf: GroupOf;
  readonly #weights: ReadonlyMap<unknown, number> | undefined;
  readonly #maxPerGroup: number;
  readonly #makeWithin: (() => QueueDiscipline<unknown>) | undefined;
  readonly #groups = new Map<unknown, Group>();
  /** The groups that have an entry to hand out, by the start of their next turn. */
  readonly #ready = new NumberHeap<Group>();
  /** The groups that have no entry, and none that is held and counts, by the end of their last turn. */
  readonly #idle = new NumberHeap<Group>();
  /**
   * The groups of entries, as far as they will be needed: for `touch` where there is something inside, and for `done`.
   */
  readonly #homes = new Map<ReadyEntry<unknown>, Group>();
  /** Virtual time. */
  #now = 0;
  #latestFinish = 0;
  #length = 0;
  #size = 0;

  constructor(
    groupOf: GroupOf,
    { weights, maxPerGroup = Infinity, within }: Omit<DisciplineOptions<typeof fairOptions>, "separator">,
  ) {
    this.#groupOf = groupOf;
    this.#weights = weights;
    this.#maxPerGroup = maxPerGroup;
    this.#makeWithin = within;
  }

  get length(): number {
    return this.#length;
  }

  get blocked(): number {
    return this.#size - this.#length;
  }

  push(entry: ReadyEntry<unknown>): void {
    const group = this.#groupNamed(this.#groupOf(entry.item as never, entry.key));
    try {
      group.within.push(entry);
      if (this.#makeWithin !== undefined) this.#homes.set(entry, group);
    } finally {
      this.#settle(group);
    }
  }

  pop(): ReadyEntry<unknown> | undefined {
    const group = this.#ready.pop();
    if (group === undefined) return undefined;
    group.readySlot = NONE;
    try {
      const entry = group.within.pop();
      if (entry !== undefined) this.#handOut(entry, group);
      return entry;
    } finally {
      this.#settle(group);
      if (this.#ready.length === 0) this.#moveTo(this.#latestFinish);
    }
  }

  touch(entry: ReadyEntry<unknown>): void {
    const group = this.#homes.get(entry);
    if (group === undefined) return;
    try {
      group.within.touch(entry);
    } finally {
      this.#settle(group);
    }
  }

  done(entry: ReadyEntry<unknown>): void {
    const group = this.#homes.get(entry);
    if (group === undefined) return;
    this.#homes.delete(entry);
    group.processing--;
    try {
      group.within.done?.(entry);
    } finally {
      this.#settle(group);
    }
  }

  /** Goes through the turns to come. A group whose discipline cannot tell its order ends what can be told. */
  peek(limit: number): ReadyEntry<unknown>[] {
    const entries: ReadyEntry<unknown>[] = [];
    const again = new NumberHeap<Preview>(); // groups that had a turn
    const groups = this.#ready.first(limit);
    let next = 0;
    while (entries.length < limit) {
      const group = groups[next];
      const isFirst = group !== undefined && group.start <= again.smallest;
      if (isFirst) next++;
      const preview = isFirst ? new Preview(group) : again.pop();
      const entry = preview?.next(limit);
      if (preview === undefined || entry === undefined) break;
      entries.push(entry);
      if (!preview.isOver) again.push(preview, preview.start);
    }
    return entries;
  }

  #groupNamed(name: unknown): Group {
    const group = this.#groups.get(name);
    if (group !== undefined) return group;
    const weight = this.#weights?.get(typeof name === "number" ? String(name) : name) ?? 1;
    const made = new Group(name, this.#newWithin(), weight, this.#maxPerGroup < Infinity);
    const other = this.#groups.get(name); // what made the discipline inside may have called the queue
    if (other !== undefined) return other;
    this.#groups.set(name, made);
    return made;
  }

  #newWithin(): QueueDiscipline<unknown> {
    if (this.#makeWithin === undefined) return new FifoDiscipline();
    const made: unknown = this.#makeWithin();
    if (disciplineKind.is(made)) return made;
    throw argumentError("add item", "'within' made something that is no queue discipline");
  }

  #handOut(entry: ReadyEntry<unknown>, group: Group): void {
    if (group.countsHeld) {
      group.processing++;
      this.#homes.set(entry, group);
    } else if (this.#makeWithin !== undefined) this.#homes.delete(entry);
    group.finish = group.start + group.cost;
    this.#latestFinish = Math.max(this.#latestFinish, group.finish);
    this.#moveTo(group.start);
  }

  #moveTo(time: number): void {
    this.#now = time;
    this.#forgetIdle();
  }

  /** Forgets the idle groups whose last turn is over, and those that are too many. */
  #forgetIdle(): void {
    while (this.#idle.smallest <= this.#now || this.#idle.length > MAX_IDLE) {
      this.#forget(this.#idle.pop()!);
    }
  }

  #forget(group: Group): void {
    group.idleSlot = NONE;
    this.#groups.delete(group.name);
    if (this.#groups.size === 0) this.#now = this.#latestFinish = 0; // so that virtual time stays exact
  }

  /** Puts a group where it belongs, after anything that may have changed it. */
  #settle(group: Group): void {
    const { within } = group;
    const ready = Math.max(0, Math.min(within.length, this.#maxPerGroup - group.processing));
    const size = within.length + (within.blocked ?? 0);
    this.#length += ready - group.ready;
    this.#size += size - group.size;
    group.ready = ready;
    group.size = size;

    if (ready > 0 && group.readySlot === NONE) {
      group.start = Math.max(this.#now, group.finish);
      group.readySlot = this.#ready.push(group, group.start);
    } else if (ready === 0 && group.readySlot !== NONE) {
      this.#ready.remove(group.readySlot);
      group.readySlot = NONE;
    }

    const isIdle = size === 0 && group.processing === 0;
    if (!isIdle && group.idleSlot !== NONE) {
      this.#idle.remove(group.idleSlot);
      group.idleSlot = NONE;
    } else if (isIdle && group.idleSlot === NONE) {
      group.idleSlot = this.#idle.push(group, group.finish);
      this.#forgetIdle();
    }
  }
}

/** The turns that a group will have, as things are. */
class Preview {
  start: number;
  readonly #group: Group;
  #given = 0;
  #known: readonly ReadyEntry<unknown>[] = [];

  constructor(group: Group) {
    this.#group = group;
    this.start = group.start;
  }

  get isOver(): boolean {
    return this.#given === this.#group.ready;
  }

  /**
   * The entry of the next turn, unless there is no telling. Asks for more and more entries, as most groups get few
   * turns.
   */
  next(limit: number): ReadyEntry<unknown> | undefined {
    if (this.#given === this.#known.length) {
      const { within, ready } = this.#group;
      this.#known = within.peek?.(Math.min(2 * this.#given + 1, ready, limit)) ?? [];
    }
    this.start += this.#group.cost;
    return this.#known[this.#given++];
  }
}
