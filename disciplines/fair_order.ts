import { argumentError } from "../lib/base/errors.ts";
import type { QueueDiscipline, ReadyEntry } from "../lib/contracts/discipline.ts";
import type { SeatOrder } from "../lib/queue/seat_order.ts";
import { NumberHeap } from "../lib/structures/number_heap.ts";
import { NONE, type Seats } from "../lib/structures/seats.ts";
import type { GroupOf } from "../registry/grouping.ts";
import { disciplineKind } from "./definition.ts";
import { EntryOrder } from "./entry_order.ts";
import { FifoOrder } from "./fifo_order.ts";
import { SeatedDiscipline } from "./seated_discipline.ts";
import { Taker, Turns } from "./turns.ts";

/** Options of the order. */
export interface FairOrderOptions {
  /** Weights of groups by name. Other groups have a weight of 1. */
  readonly weights?: ReadonlyMap<unknown, number> | undefined;
  readonly maxPerGroup?: number | undefined;
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

/** A group of items. A group exists from its first seat until its last turn is over. */
class Group extends Taker<Group> {
  readonly name: unknown;
  readonly within: SeatOrder;
  /** Cost of a turn: one divided by the group's weight. */
  readonly cost: number;
  /** End of the group's last turn, in virtual time. */
  finish = 0;
  processing = 0;
  /** Number of seats that can be handed out, and total number of seats. */
  ready = 0;
  size = 0;
  /** Slot of the group in the heap of idle groups. */
  idleSlot = NONE;
  readonly #isBounded: boolean;

  constructor(name: unknown, within: SeatOrder, weight: number, isBounded: boolean) {
    super();
    this.name = name;
    this.within = within;
    this.cost = 1 / weight;
    this.#isBounded = isBounded;
  }

  /** Whether the number of processing seats matters to this order or to the inner order. */
  get countsProcessing(): boolean {
    return this.#isBounded || this.within.awaitsDone;
  }
}

/**
 * Start-time fair queuing. Each group has its own clock, which advances by the cost of each item handed out. Virtual
 * time is the clock of the group that was served last. The group with the earliest clock is next.
 */
export class FairOrder implements SeatOrder {
  readonly usesTime: boolean;
  /** Becomes true when a group that counts its processing seats hands out a seat. */
  awaitsDone = false;
  readonly #seats: Seats;
  readonly #groupOf: GroupOf;
  readonly #weights: ReadonlyMap<unknown, number> | undefined;
  readonly #maxPerGroup: number;
  readonly #makeWithin: (() => QueueDiscipline<unknown>) | undefined;
  readonly #groups = new Map<unknown, Group>();
  /** Next turns of the groups with a seat to hand out. */
  readonly #turns = new Turns<Group>();
  /**
   * Idle groups, ordered by the end of their last turn. An idle group has no ready or blocked seats and, if processing
   * seats are counted, none that are processing.
   */
  readonly #idle = new NumberHeap<Group>();
  /**
   * Groups of seats, kept only if `touch` or `done` needs them. `touch` needs them only if there is an inner
   * discipline.
   */
  readonly #homes = new Map<number, Group>();
  /** Virtual time. */
  #now = 0;
  #latestFinish = 0;
  #length = 0;
  #size = 0;

  constructor(seats: Seats, groupOf: GroupOf, { weights, maxPerGroup = Infinity, within }: FairOrderOptions) {
    this.#seats = seats;
    this.#groupOf = groupOf;
    this.#weights = weights;
    this.#maxPerGroup = maxPerGroup;
    this.#makeWithin = within;
    this.usesTime = within !== undefined;
  }

  get length(): number {
    return this.#length;
  }

  get blocked(): number {
    return this.#size - this.#length;
  }

  push(seat: number, item: unknown, key: unknown, entry?: ReadyEntry<unknown>): void {
    const group = this.#groupNamed(this.#groupOf(item as never, key));
    try {
      group.within.push(seat, item, key, entry);
      if (this.#makeWithin !== undefined) this.#homes.set(seat, group);
    } finally {
      this.#settle(group);
    }
  }

  pop(): number {
    const group = this.#turns.top;
    if (group === undefined) return NONE;
    try {
      const seat = group.within.pop();
      if (seat !== NONE) this.#handOut(seat, group);
      return seat;
    } finally {
      this.#settle(group, true);
      if (this.#turns.isEmpty) this.#moveTo(this.#latestFinish);
    }
  }

  touch(seat: number, before: number, item: unknown): void {
    const group = this.#homes.get(seat);
    if (group === undefined) return;
    try {
      group.within.touch(seat, before, item);
    } finally {
      this.#settle(group);
    }
  }

  done(seat: number): void {
    const group = this.#homes.get(seat);
    if (group === undefined) return;
    this.#homes.delete(seat);
    group.processing--;
    try {
      group.within.done(seat);
    } finally {
      this.#settle(group);
    }
  }

  /**
   * Simulates the next turns. Stops at a group whose inner discipline can't predict the order of the group's seats.
   */
  peek(limit: number): number[] {
    const seats: number[] = [];
    const again = new NumberHeap<Preview>(); // groups that already had a simulated turn
    const groups = this.#turns.first(limit);
    let next = 0;
    while (seats.length < limit) {
      const group = groups[next];
      const isFirst = group !== undefined && group.start <= again.smallest;
      if (isFirst) next++;
      const preview = isFirst ? new Preview(group) : again.pop();
      const seat = preview?.next(limit);
      if (preview === undefined || seat === undefined) break;
      seats.push(seat);
      if (!preview.isOver) again.push(preview, preview.start);
    }
    return seats;
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

  #newWithin(): SeatOrder {
    if (this.#makeWithin === undefined) return new FifoOrder(this.#seats);
    const made: unknown = this.#makeWithin();
    if (!disciplineKind.is(made)) {
      throw argumentError("add item", "'within' created something that is not a queue discipline");
    }
    const order = made instanceof SeatedDiscipline ? made.orderOf(made, this.#seats) : undefined;
    return order ?? new EntryOrder(made, this.#seats);
  }

  #handOut(seat: number, group: Group): void {
    if (group.countsProcessing) {
      this.awaitsDone = true;
      group.processing++;
      this.#homes.set(seat, group);
    } else if (this.#makeWithin !== undefined) this.#homes.delete(seat);
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

  /**
   * Moves a group to the heaps that it belongs in. Called after each change to the group.
   *
   * @param hadTurn Whether the group's turn is over.
   */
  #settle(group: Group, hadTurn = false): void {
    const { within } = group;
    const ready = Math.max(0, Math.min(within.length, this.#maxPerGroup - group.processing));
    const size = within.length + within.blocked;
    this.#length += ready - group.ready;
    this.#size += size - group.size;
    group.ready = ready;
    group.size = size;

    if (ready === 0) {
      if (group.round !== undefined) this.#turns.remove(group);
    } else if (hadTurn || group.round === undefined) this.#turns.set(group, Math.max(this.#now, group.finish));

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
  #known: readonly number[] = [];

  constructor(group: Group) {
    this.#group = group;
    this.start = group.start;
  }

  get isOver(): boolean {
    return this.#given === this.#group.ready;
  }

  /**
   * Returns the seat of the next turn; `undefined` if that seat is unknown. Requests a growing number of seats, because
   * most groups get few turns.
   */
  next(limit: number): number | undefined {
    if (this.#given === this.#known.length) {
      const { within, ready } = this.#group;
      this.#known = within.peek(Math.min(2 * this.#given + 1, ready, limit));
    }
    this.start += this.#group.cost;
    return this.#known[this.#given++];
  }
}
