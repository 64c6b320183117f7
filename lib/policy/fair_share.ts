/**
 * Maximum weight of past durations in a mean, as a number of durations. Without a maximum, the mean would not follow
 * durations that change.
 */
const MAX_COUNT = 100;
/** Part of an item by which a computed number of items may be too small because of rounding. */
const ROUNDING = 1e-9;

/** Rules for all groups. */
export interface FairRules {
  /** Maximum number of processing items of a group. */
  readonly maxPerGroup: number;
  /** Time between two items of a group; 0 if there is no rate. */
  readonly interval: number;
  /** Number of items that the rate allows at once. */
  readonly burst: number;
  /** Whether a turn costs as much as the time of its item, instead of one. */
  readonly isByTime: boolean;
  /** Rounds the time from which the rate allows one more item. */
  readonly round: (time: number) => number;
}

/** Numbers of all groups together, which the caller keeps. */
export interface FairNumbers {
  /** Virtual time: the start of the latest turn. */
  virtual: number;
  /** Latest end of a turn, in virtual time. */
  latest: number;
  /** Mean duration of all items, for groups without an item that is done. */
  mean: number;
  /** Number of durations in the mean. */
  count: number;
}

/** Numbers of a group, which the caller keeps. */
export interface GroupNumbers {
  /** Start of the group's turn, in virtual time. */
  start: number;
  /** End of the group's last turn, in virtual time. */
  finish: number;
  /** Number of items whose work has not ended. */
  processing: number;
  /** Number of items that can be handed out. */
  ready: number;
  /** Cost of one item, or of one unit of time: one divided by the group's weight. */
  readonly cost: number;
  /** Time from which the rate allows a whole burst. */
  full: number;
  /** Mean duration of the group's items. */
  mean: number;
  /** Number of durations in the mean. */
  count: number;
  /** End of a pause; `null` for none. Once its time is over, the group hands out one item, the probe. */
  pause: number | null;
  /** Probe that is being processed; `null` for none. The pause ends when the probe ends. */
  probe: unknown;
}

/**
 * Policy of start-time fair queuing. Each group has its own clock, which advances by the cost of each item that is
 * handed out. Virtual time is the clock of the group that was served last. The group with the earliest clock is next.
 *
 * The rate of a group is a token bucket that is a single time, the time at which it is full: the Generic Cell Rate
 * Algorithm (ITU-T I.371).
 */
export class FairShare {
  readonly #rules: FairRules;
  readonly #all: FairNumbers;

  /** Creates a policy over the numbers of all groups. */
  constructor(rules: FairRules, all: FairNumbers) {
    this.#rules = rules;
    this.#all = all;
  }

  /** Returns the maximum number of items that the rate and a pause of a group allow. */
  allowedAt(group: GroupNumbers, now: number): number {
    const allowed = this.#rules.interval > 0 ? this.#rateAllowsAt(group, now) : Infinity;
    if (group.pause === null) return allowed;
    return group.pause > now || group.probe !== null ? 0 : Math.min(allowed, 1);
  }

  #rateAllowsAt({ full }: GroupNumbers, now: number): number {
    const { interval, burst } = this.#rules;
    return Math.max(Math.floor(burst - Math.max(full - now, 0) / interval + ROUNDING), 0);
  }

  #rateAllowsMoreAt(group: GroupNumbers, now: number): number {
    const { interval, burst, round } = this.#rules;
    const missing = burst - this.#rateAllowsAt(group, now);
    return missing === 0 ? Infinity : round(group.full - (missing - 1) * interval);
  }

  /** Returns the time from which the rate and a pause allow more items; `Infinity` if it doesn't depend on the time. */
  #allowsMoreAt(group: GroupNumbers, now: number): number {
    const hasRate = this.#rules.interval > 0;
    if (group.pause === null) return hasRate ? this.#rateAllowsMoreAt(group, now) : Infinity;
    const isEmpty = hasRate && this.#rateAllowsAt(group, now) === 0;
    const tokenAt = isEmpty ? this.#rateAllowsMoreAt(group, now) : now;
    if (group.pause > now) return Math.max(group.pause, tokenAt);
    return group.probe === null && tokenAt > now ? tokenAt : Infinity;
  }

  /**
   * Sets the number of items that a group with `available` items can hand out. Returns the time at which the group can
   * hand out more items; `Infinity` if this doesn't depend on the time.
   */
  limit(group: GroupNumbers, available: number, now: number): number {
    const { maxPerGroup, interval } = this.#rules;
    group.ready = Math.max(0, Math.min(available, maxPerGroup - group.processing));
    if (interval === 0 && group.pause === null) return Infinity;
    const allowed = this.allowedAt(group, now);
    if (allowed >= group.ready) return Infinity;
    group.ready = allowed;
    return this.#allowsMoreAt(group, now);
  }

  /** Returns the cost of the next turn of a group: with turns by time, the estimated time of its item. */
  costOf({ cost, count, mean }: GroupNumbers): number {
    return this.#rules.isByTime ? cost * (count > 0 ? mean : this.#all.mean) : cost;
  }

  /**
   * Returns the start of the next turn of a group. With turns by time, this may be before virtual time if the group
   * just had a turn, because that turn may have been charged too much.
   */
  nextStart({ start, finish }: GroupNumbers, hadTurn: boolean): number {
    return Math.max(hadTurn && this.#rules.isByTime ? start : this.#all.virtual, finish);
  }

  /** Charges a group for its turn, in which it hands out an item. Returns the cost of the turn. */
  handOut(group: GroupNumbers, item: unknown, now: number): number {
    const { interval, isByTime } = this.#rules;
    const cost = isByTime ? this.costOf(group) : group.cost;
    if (interval > 0) group.full = Math.max(group.full, now) + interval;
    if (group.pause !== null) group.probe = item;
    group.finish = group.start + cost;
    this.#all.latest = Math.max(this.#all.latest, group.finish);
    this.#all.virtual = Math.max(this.#all.virtual, group.start);
    return cost;
  }

  /** Notes that the work on an item of a group has ended. */
  end(group: GroupNumbers, item: unknown): void {
    group.processing = Math.max(group.processing - 1, 0);
    if (group.pause !== null && group.probe === item) endPause(group);
  }

  /**
   * Charges a group for the duration of an item that has ended, instead of the time that was charged when the item was
   * handed out. Returns the difference, and the group's next turn moves by it.
   */
  correct(group: GroupNumbers, duration: number, charged: number): number {
    addTo(group, duration);
    addTo(this.#all, duration);
    const more = group.cost * (duration - charged);
    group.finish += more;
    this.#all.latest = Math.max(this.#all.latest, group.finish);
    return more;
  }

  /** Returns the reason why items of a group are blocked, and the time from which fewer of them may be blocked. */
  blockOf(group: GroupNumbers, now: number): { reason: "paused" | "probing" | "rate" | "limit"; until: number } {
    const { pause, ready } = group;
    if (pause !== null) {
      return pause > now ? { reason: "paused", until: pause } : { reason: "probing", until: Infinity };
    }
    if (this.#rules.interval > 0 && this.#rateAllowsAt(group, now) <= ready) {
      return { reason: "rate", until: this.#rateAllowsMoreAt(group, now) };
    }
    return { reason: "limit", until: Infinity };
  }

  /** Returns the time until which a group must be remembered, although it has no items. */
  keptUntil({ full, pause }: GroupNumbers): number {
    return Math.max(this.#rules.interval > 0 ? full : -Infinity, pause ?? -Infinity);
  }
}

/** Pauses a group. A pause that ends later replaces another one, and needs a new probe. */
export function setPause(group: GroupNumbers, until: number): void {
  if (group.pause !== null && group.pause >= until) return;
  group.pause = until;
  group.probe = null;
}

/** Ends the pause of a group. */
export function endPause(group: GroupNumbers): void {
  group.pause = group.probe = null;
}

/**
 * Returns the virtual time from which a group without items behaves like a new one. A group with a pause does not
 * behave like a new one, because its probe comes first.
 */
export function newFrom({ pause, finish }: GroupNumbers): number {
  return pause === null ? finish : Number.MAX_VALUE;
}

function addTo(numbers: { mean: number; count: number }, duration: number): void {
  numbers.count = Math.min(numbers.count + 1, MAX_COUNT);
  numbers.mean += (duration - numbers.mean) / numbers.count;
}
