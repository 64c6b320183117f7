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
  within: {
    kind: "discipline",
    template: true,
    required: false,
    description: "Order within each group. First in, first out if omitted.",
  },
} as const satisfies DisciplineFields;

/** Definition of `{ "type": "fair" }`. */
export const fairDiscipline: DisciplineDefinition<"fair", typeof fairOptions> = {
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
 * `maxPerGroup` limits how many items of one group are processing at once. Once a group reaches this limit, its other
 * items are blocked, while other groups continue.
 *
 * A group is forgotten when its last turn is over, so groups may come and go indefinitely. At most 10,000 groups
 * without items are remembered.
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
 * number of items of one group that are processing at once; by default, no limit. `within`: creates the discipline
 * within a group; by default, first in, first out. If `groupOf` throws, `add` throws the same error. If `groupOf`
 * throws for an item that came back from a worker or from a delay, the item is ready anyway: it goes first, and does
 * not count toward `maxPerGroup`.
 * @returns The discipline, to use in one queue. With a `separator`, the discipline's `push` throws a `TypeError` for
 * keys that are not strings.
 * @throws {RangeError} If an option is a number out of range.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createFairDiscipline<T = unknown>(options: FairOptions<T>): QueueDiscipline<T> {
  return createGroupedInCode(
    disciplineKind,
    fairDiscipline,
    options,
    (groupOf, options) => new FairDiscipline(groupOf, options),
  ) as QueueDiscipline<T>;
}

/** Slot number of a group that is not in the heap. */
const NONE = -1;

/**
 * Maximum number of idle groups to remember. If new groups appear as fast as items are handed out, virtual time stands
 * still, and no group's last turn is ever over. Therefore, the idle group whose last turn would be over first is
 * forgotten early. If a group that was forgotten early gets new items before the other groups have caught up with it,
 * the group may be served one item too early.
 */
const MAX_IDLE = 10_000;

/** A group of items. A group exists from its first entry until its last turn is over. */
class Group {
  readonly name: unknown;
  readonly within: QueueDiscipline<unknown>;
  /** Cost of a turn: one divided by the group's weight. */
  readonly cost: number;
  /** Whether the number of processing entries matters to this discipline or to the inner discipline. */
  readonly countsProcessing: boolean;
  /** Start of the group's next turn and end of its last turn, in virtual time. */
  start = 0;
  finish = 0;
  processing = 0;
  /** Number of entries that can be handed out, and total number of entries. */
  ready = 0;
  size = 0;
  /** Slots of the group in the heaps of ready groups and of idle groups. */
  readySlot = NONE;
  idleSlot = NONE;

  constructor(name: unknown, within: QueueDiscipline<unknown>, weight: number, isBounded: boolean) {
    this.name = name;
    this.within = within;
    this.cost = 1 / weight;
    this.countsProcessing = isBounded || within.done !== undefined;
  }
}

/**
 * Start-time fair queuing. Each group has its own clock, which advances by the cost of each item handed out. Virtual
 * time is the clock of the group that was served last. The group with the earliest clock is next.
 */
class FairDiscipline implements QueueDiscipline<unknown> {
  readonly #groupOf: GroupOf;
  readonly #weights: ReadonlyMap<unknown, number> | undefined;
  readonly #maxPerGroup: number;
  readonly #makeWithin: (() => QueueDiscipline<unknown>) | undefined;
  readonly #groups = new Map<unknown, Group>();
  /** Groups with an entry to hand out, ordered by the start of their next turn. */
  readonly #ready = new NumberHeap<Group>();
  /**
   * Idle groups, ordered by the end of their last turn. An idle group has no ready or blocked entries and, if
   * processing entries are counted, none that are processing.
   */
  readonly #idle = new NumberHeap<Group>();
  /**
   * Groups of entries, kept only if `touch` or `done` needs them. `touch` needs them only if there is an inner
   * discipline.
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

  /**
   * Simulates the next turns. Stops at a group whose inner discipline can't predict the order of the group's entries.
   */
  peek(limit: number): ReadyEntry<unknown>[] {
    const entries: ReadyEntry<unknown>[] = [];
    const again = new NumberHeap<Preview>(); // groups that already had a simulated turn
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
    const other = this.#groups.get(name); // `within` may have added items to the queue and so created the group
    if (other !== undefined) return other;
    this.#groups.set(name, made);
    return made;
  }

  #newWithin(): QueueDiscipline<unknown> {
    if (this.#makeWithin === undefined) return new FifoDiscipline();
    const made: unknown = this.#makeWithin();
    if (disciplineKind.is(made)) return made;
    throw argumentError("add item", "'within' created something that is not a queue discipline");
  }

  #handOut(entry: ReadyEntry<unknown>, group: Group): void {
    if (group.countsProcessing) {
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

  /** Forgets idle groups whose last turn is over, and idle groups beyond `MAX_IDLE`. */
  #forgetIdle(): void {
    while (this.#idle.smallest <= this.#now || this.#idle.length > MAX_IDLE) {
      this.#forget(this.#idle.pop()!);
    }
  }

  #forget(group: Group): void {
    group.idleSlot = NONE;
    this.#groups.delete(group.name);
    if (this.#groups.size === 0) this.#now = this.#latestFinish = 0; // small numbers keep virtual time exact
  }

  /** Moves a group to the heaps that it belongs in. Called after each change to the group. */
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

/** Preview of the turns that a group will have if nothing changes. */
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
   * Returns the entry of the next turn; `undefined` if that entry is unknown. Requests a growing number of entries,
   * because most groups get few turns.
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
