import { argumentError } from "../lib/base/errors.ts";
import type { Clock } from "../lib/base/clock.ts";
import type { QueueDiscipline, ReadyEntry } from "../lib/contracts/discipline.ts";
import type { GroupBlock } from "../lib/contracts/queue_inspection.ts";
import { DisciplineOrder } from "../lib/queue/discipline_order.ts";
import type { Order, OrderGroups } from "../lib/queue/order.ts";
import { RemovableFifo } from "../lib/queue/fifo_order.ts";
import {
  endPause,
  type FairNumbers,
  FairShare,
  type GroupNumbers,
  newFrom,
  setPause,
} from "../lib/policy/fair_share.ts";
import { NumberHeap } from "../lib/structures/number_heap.ts";
import { NONE, type Records } from "../lib/structures/records.ts";
import type { Rate } from "../registry/fields.ts";
import type { GroupOf } from "../registry/grouping.ts";
import { disciplineKind } from "./definition.ts";
import { OrderedDiscipline } from "./ordered_discipline.ts";
import { Taker, Turns } from "./turns.ts";

/** Options of the order. */
export interface FairOrderOptions {
  /** Weights of groups by name. Other groups have a weight of 1. */
  readonly weights?: ReadonlyMap<unknown, number> | undefined;
  readonly maxPerGroup?: number | undefined;
  readonly ratePerGroup?: Rate | undefined;
  /** Whether a turn costs one (`"items"`), or as much as the time of its item (`"time"`). Default: `"items"`. */
  readonly by?: "items" | "time" | undefined;
  /** Creates the discipline within a group. First in, first out if omitted. */
  readonly within?: (() => QueueDiscipline<unknown>) | undefined;
}

/**
 * Maximum number of idle groups to remember. If new groups appear as fast as items are handed out, virtual time stands
 * still, and no group's last turn is ever over. Therefore, the idle group whose last turn would be over first is
 * forgotten early. If a group that was forgotten early gets new items before the other groups have caught up with it,
 * the group may be served one item too early.
 */
const MAX_IDLE = 10_000;

/** Hand-out of a record whose time is charged to its group. */
interface Run {
  readonly beganAt: number;
  /** Time that was charged in advance. */
  readonly charged: number;
}

/** A group of items. A group exists from its first record or pause until it behaves like a new group. */
class Group extends Taker<Group> implements GroupNumbers {
  readonly name: unknown;
  readonly within: Order;
  readonly cost: number;
  finish = 0;
  processing = 0;
  ready = 0;
  /** Number of records, with those that can't be handed out. */
  size = 0;
  full = -Infinity;
  mean = 0;
  count = 0;
  pause: number | null = null;
  probe: number | null = null;
  /** Heap that has the group, the group's slot in it, and its number. A group is in at most one heap. */
  heap: NumberHeap<Group> | undefined = undefined;
  slot = NONE;
  number = 0;

  constructor(name: unknown, within: Order, weight: number) {
    super();
    this.name = name;
    this.within = within;
    this.cost = 1 / weight;
  }
}

/**
 * Start-time fair queuing, decided by {@linkcode FairShare}. Times of pauses and rates count from the first look at the
 * clock, so that small numbers keep them exact.
 */
export class FairOrder implements Order, OrderGroups {
  length = 0;
  blocked = 0;
  nextChangeAt = Infinity;
  readonly usesTime: boolean;
  /** Becomes true when a group that counts its processing records hands out a record. */
  awaitsDone = false;
  readonly groups: OrderGroups = this;
  begin?: () => void;
  readonly #records: Records;
  readonly #clock: Clock;
  #firstLook: number | undefined;
  readonly #groupOf: GroupOf;
  readonly #weights: ReadonlyMap<unknown, number> | undefined;
  readonly #maxPerGroup: number;
  readonly #share: FairShare;
  readonly #all: FairNumbers = { virtual: 0, latest: 0, mean: 1, count: 0 };
  /** Whether the number of processing records of each group matters, and whether groups have a rate. */
  readonly #countsProcessing: boolean;
  readonly #hasRate: boolean;
  readonly #makeWithin: (() => QueueDiscipline<unknown>) | undefined;
  readonly #groups = new Map<unknown, Group>();
  /** Next turns of the groups with a record to hand out. */
  readonly #turns = new Turns<Group>();
  /**
   * Idle groups, ordered by the end of their last turn. An idle group has no ready or blocked records and, if
   * processing records are counted, none that are processing.
   */
  readonly #idle = new NumberHeap<Group>();
  /** Groups with records that are blocked until a time, by that time. */
  readonly #changing = new NumberHeap<Group>();
  /** Groups that would be idle but must be remembered until a time, by that time. */
  readonly #kept = new NumberHeap<Group>();
  /**
   * Groups by record, kept only if `touch`, `remove` or `done` needs them. Not in the fields of the records, because
   * each of several nested orders has a group for a record.
   */
  readonly #homes: (Group | undefined)[] = [];
  /**
   * Whether `#homes` has the group of each record: `touch` needs it if there is an inner discipline, and `remove`
   * always does.
   */
  #hasHomes: boolean;
  /** Hand-outs that are not done, by record; `undefined` unless turns are charged by time. */
  readonly #runs: (Run | undefined)[] | undefined;
  /** @param clock Clock of the queue. */
  constructor(
    records: Records,
    clock: Clock,
    groupOf: GroupOf,
    { weights, maxPerGroup = Infinity, ratePerGroup, by, within }: FairOrderOptions,
  ) {
    this.#records = records;
    this.#clock = clock;
    this.#groupOf = groupOf;
    this.#weights = weights;
    this.#maxPerGroup = maxPerGroup;
    const { rate = Infinity, burst = 0 } = ratePerGroup ?? {};
    const isByTime = by === "time";
    const rules = { maxPerGroup, interval: 1000 / rate, burst, isByTime, round: toNanoseconds };
    this.#share = new FairShare(rules, this.#all);
    this.#hasRate = rules.interval > 0;
    if (isByTime) this.#runs = [];
    this.#countsProcessing = isByTime || maxPerGroup < Infinity;
    this.#makeWithin = within;
    this.usesTime = this.#hasHomes = within !== undefined;
  }

  look(): void {
    if (this.#changing.length > 0) this.#settleDue(this.#changing);
  }

  pauseGroup(name: unknown, until: number): void {
    const end = until - this.#origin;
    const now = this.#time();
    if (!(end > now)) return;
    const group = this.#groupNamed(name);
    setPause(group, end);
    this.#settle(group, now);
  }

  resumeGroup(name: unknown): void {
    const group = this.#groups.get(name);
    if (group === undefined || group.pause === null) return;
    const now = this.#time();
    endPause(group);
    this.#settle(group, now);
  }

  groupOf({ key, item }: Pick<ReadyEntry<unknown>, "key" | "item">): unknown {
    return this.#groupOf(item as never, key);
  }

  groupNames(): Iterable<unknown> {
    return this.#groups.keys();
  }

  blockOf(name: unknown): GroupBlock | undefined {
    this.look();
    const group = this.#groups.get(name);
    if (group === undefined) return undefined;
    const { size, ready, pause } = group;
    const blocked = size - ready;
    const now = this.#time();
    if (blocked === 0 && !(pause !== null && pause > now)) return undefined;
    const { reason, until } = this.#share.blockOf(group, now);
    const isInner = reason === "limit" && this.#maxPerGroup - group.processing > ready;
    return { reason: isInner ? "inner" : reason, blocked, resumesInMs: until < Infinity ? until - now : null };
  }

  push(record: number): void {
    if (this.#kept.length > 0) this.#settleDue(this.#kept);
    const group = this.#groupNamed(this.#groupOf(this.#records.itemOf(record) as never, this.#records.keyOf(record)));
    const now = this.#hasRate || group.pause !== null ? this.#time() : undefined;
    try {
      group.within.push(record);
      if (this.#hasHomes) this.#homes[record] = group;
    } finally {
      this.#settle(group, now);
    }
  }

  pop(): number {
    const group = this.#turns.top;
    if (group === undefined) return NONE;
    const now = this.#hasRate || group.pause !== null || this.#runs !== undefined ? this.#time() : undefined;
    try {
      const record = group.within.pop();
      if (record !== NONE) this.#handOut(record, group, now!);
      return record;
    } finally {
      this.#settle(group, now, true);
      if (this.#turns.length === 0) this.#all.virtual = this.#all.latest;
      this.#forgetIdle();
    }
  }

  touch(record: number, before: number): void {
    const group = this.#homes[record];
    if (group === undefined) return;
    const now = this.#hasRate || group.pause !== null ? this.#time() : undefined;
    try {
      group.within.touch(record, before);
    } finally {
      this.#settle(group, now);
    }
  }

  remove(record: number): void {
    const group = this.#homeOf(record);
    const now = this.#hasRate || group.pause !== null ? this.#time() : undefined;
    group.within.remove!(record);
    this.#homes[record] = undefined;
    this.#settle(group, now);
  }

  isBlocked(record: number): boolean {
    const group = this.#homeOf(record);
    return group.ready === 0 || group.within.isBlocked?.(record) === true;
  }

  #homeOf(record: number): Group {
    if (!this.#hasHomes) {
      this.#hasHomes = true;
      for (const group of this.#groups.values()) {
        for (const one of group.within.peek(group.within.length)) this.#homes[one] = group;
      }
    }
    return this.#homes[record]!;
  }

  done(record: number, durationMs?: number): void {
    const group = this.#homes[record];
    if (group === undefined) return;
    let now: number | undefined;
    try {
      now = this.#hasRate || group.pause !== null || this.#runs?.[record] !== undefined ? this.#time() : undefined;
    } finally { // even if the clock throws, because the record would count as processing forever
      this.#end(record, group, now, durationMs);
    }
  }

  #end(record: number, group: Group, now: number | undefined, durationMs: number | undefined): void {
    this.#homes[record] = undefined;
    this.#share.end(group, record);
    const run = this.#runs?.[record];
    if (run !== undefined) {
      this.#runs![record] = undefined;
      this.#correct(group, run, durationMs ?? (now ?? run.beganAt) - run.beganAt);
    }
    try {
      group.within.done(record, durationMs);
    } finally {
      this.#settle(group, now);
    }
  }

  /**
   * Simulates the next turns. Stops at a group whose inner discipline can't predict the order of the group's records.
   */
  peek(limit: number): number[] {
    const records: number[] = [];
    const again = new NumberHeap<Preview>(); // groups that already had a simulated turn
    const groups = this.#turns.first(limit);
    let next = 0;
    while (records.length < limit) {
      const group = groups[next];
      const isFirst = group !== undefined && group.start <= again.smallest;
      if (isFirst) next++;
      const preview = isFirst ? new Preview(group, this.#share.costOf(group)) : again.pop();
      const record = preview?.next(limit);
      if (preview === undefined || record === undefined) break;
      records.push(record);
      if (!preview.isOver) again.push(preview, preview.start);
    }
    return records;
  }

  #groupNamed(name: unknown): Group {
    const group = this.#groups.get(name);
    if (group !== undefined) return group;
    const weight = this.#weights?.get(typeof name === "number" ? String(name) : name) ?? 1;
    const made = new Group(name, this.#newWithin(), weight);
    const other = this.#groups.get(name); // `within` may have added items to the queue and so created the group
    if (other !== undefined) return other;
    this.#groups.set(name, made);
    return made;
  }

  #newWithin(): Order {
    if (this.#makeWithin === undefined) return new RemovableFifo(this.#records);
    const made: unknown = this.#makeWithin();
    if (!disciplineKind.is(made)) {
      throw argumentError("add item", "'within' created something that is not a queue discipline");
    }
    const order = made instanceof OrderedDiscipline ? made.orderOf(made, this.#records, this.#clock) : undefined;
    return order ?? new DisciplineOrder(made, this.#records, this.#clock);
  }

  /** @param now The time, if the group or the order needs it. */
  #handOut(record: number, group: Group, now: number): void {
    const cost = this.#share.handOut(group, record, now);
    if (this.#runs !== undefined) this.#runs[record] = { beganAt: now, charged: cost / group.cost };
    if (this.#countsProcessing || group.pause !== null || group.within.awaitsDone) {
      this.awaitsDone = true;
      group.processing++;
      this.#homes[record] = group;
    } else if (this.#hasHomes) this.#homes[record] = undefined;
  }

  /** Charges a group for the time that an item took, instead of the estimate. */
  #correct(group: Group, { charged }: Run, durationMs: number): void {
    const more = this.#share.correct(group, Math.max(durationMs, 0), charged);
    if (more === 0 || group.round === undefined) return;
    this.#turns.remove(group);
    this.#turns.set(group, group.start + more); // may be earlier than virtual time: the group was charged too much
  }

  /** Time from which the order's times count. */
  get #origin(): number {
    return this.#firstLook ??= this.#clock.now();
  }

  #time(): number {
    const origin = this.#origin; // first, because this may be the first look at the clock
    return this.#clock.now() - origin;
  }

  /** Settles each group of a heap once, if its time has come. */
  #settleDue(heap: NumberHeap<Group>): void {
    const now = this.#time();
    const due: Group[] = [];
    while (heap.smallest <= now) {
      const group = heap.pop()!;
      group.heap = undefined;
      due.push(group);
    }
    if (heap === this.#changing) this.#setNextChange();
    for (const group of due) this.#settle(group, now);
  }

  #setNextChange(): void {
    const { smallest } = this.#changing;
    this.nextChangeAt = smallest < Infinity ? this.#origin + smallest : Infinity;
  }

  /** Forgets idle groups whose last turn is over, and idle groups beyond `MAX_IDLE`. */
  #forgetIdle(): void {
    while (this.#idle.smallest <= this.#all.virtual || this.#idle.length > MAX_IDLE) {
      this.#forget(this.#idle.pop()!);
    }
  }

  #forget(group: Group): void {
    group.heap = undefined;
    this.#groups.delete(group.name);
    if (this.#groups.size > 0) return;
    this.#all.virtual = this.#all.latest = 0; // small numbers keep virtual time exact
    this.#homes.length = 0; // frees memory
    if (this.#runs !== undefined) this.#runs.length = 0;
  }

  /**
   * Moves a group to the heaps that it belongs in. Called after each change to the group.
   *
   * @param time Time that was read before the change, because the clock may throw.
   * @param hadTurn Whether the group's turn is over.
   */
  #settle(group: Group, time: number | undefined, hadTurn = false): void {
    const { within, ready } = group;
    const isTimed = this.#hasRate || group.pause !== null;
    const now = time ?? (isTimed ? this.#time() : 0);
    if (within.nextChangeAt! < Infinity) within.look?.();
    let changesAt = this.#share.limit(group, within.length, now);
    if (within.nextChangeAt! < Infinity) changesAt = Math.min(changesAt, within.nextChangeAt! - this.#origin);
    const size = within.length + within.blocked;
    this.length += group.ready - ready;
    this.blocked += size - group.ready - (group.size - ready);
    group.size = size;

    if (group.ready === 0) {
      if (group.round !== undefined) this.#turns.remove(group);
    } else if (hadTurn || group.round === undefined) this.#turns.set(group, this.#share.nextStart(group, hadTurn));

    if (size > 0 || group.processing > 0) {
      this.#place(group, changesAt < Infinity ? this.#changing : undefined, changesAt);
    } else if (isTimed && this.#share.keptUntil(group) > now) {
      this.#place(group, this.#kept, this.#share.keptUntil(group));
    } else {
      this.#place(group, this.#idle, newFrom(group));
      if (!hadTurn) this.#forgetIdle(); // otherwise, the caller forgets idle groups
    }
  }

  /** Puts a group into a heap, if it is not there already, and removes it from any other heap. */
  #place(group: Group, heap: NumberHeap<Group> | undefined, number: number): void {
    if (group.heap === heap && (heap === undefined || group.number === number)) return;
    const before = group.heap;
    before?.remove(group.slot);
    group.heap = heap;
    group.number = number;
    if (heap !== undefined) group.slot = heap.push(group, number);
    if (before === this.#changing || heap === this.#changing) this.#setNextChange();
  }
}

/** Preview of the turns that a group will have if nothing changes. */
class Preview {
  start: number;
  readonly #group: Group;
  readonly #cost: number;
  #given = 0;
  #known: readonly number[] = [];

  constructor(group: Group, cost: number) {
    this.#group = group;
    this.#cost = cost;
    this.start = group.start;
  }

  get isOver(): boolean {
    return this.#given === this.#group.ready;
  }

  /**
   * Returns the record of the next turn; `undefined` if that record is unknown. Requests a growing number of records,
   * because most groups get few turns.
   */
  next(limit: number): number | undefined {
    if (this.#given === this.#known.length) {
      const { within, ready } = this.#group;
      this.#known = within.peek(Math.min(2 * this.#given + 1, ready, limit));
    }
    this.start += this.#cost;
    return this.#known[this.#given++];
  }
}

/** Rounds a time in milliseconds to the nanosecond, so that rounding doesn't make a timer a millisecond late. */
function toNanoseconds(ms: number): number {
  return Math.round(ms * 1e6) / 1e6;
}
