/** Check of the order in which keys are handed out. */

import {
  type Doubt,
  type HandOut,
  type History,
  isBefore,
  listIn,
  mayComeAfter,
  type Point,
  SLACK,
} from "./history.ts";

/** Order of a queue. */
export interface Order {
  /** Returns the head start of a key with a priority, in milliseconds. By default, keys have none. */
  readonly headStart?: (priority: number) => number;
  /** Returns the group of a key. The order holds inside a group. By default, all keys are in one group. */
  readonly groupOf?: (key: string) => string;
}

/** Hand-out of a key for which it is known when it became ready. */
interface Known {
  readonly handOut: HandOut;
  /** Earliest and latest times at which the key may have become ready, minus its head start. */
  readonly earliest: number;
  readonly latest: number;
  /** Point at which the key was certainly ready. */
  readonly since: Point;
}

/**
 * Returns violations: pairs of keys that were handed out in the wrong order. A lost call may have taken one of both
 * keys, which then comes back out of order. Pairs that lost calls may explain in this way are not returned.
 */
export function order(history: History, { headStart = () => 0, groupOf = () => "" }: Order): string[] {
  const groups = new Map<string, Known[]>();
  for (const handOuts of history.handOutsOf.values()) {
    for (const [i, handOut] of handOuts.entries()) {
      const known = knownReadiness(history, handOuts[i - 1], handOut, headStart);
      const group = groupOf(handOut.key);
      if (known !== undefined) listIn(groups, group).push(known);
    }
  }
  const pairs = [...groups.values()].flatMap(wrongPairs);
  return unexplained(pairs, history.doubts).map(([{ handOut: early }, { handOut: late }]) => {
    return `${early.key} was handed out by ${early.token}, before ${late.key} by ${late.token}`;
  });
}

/** Returns when a key became ready before a hand-out; `undefined` if it was delayed, retried, lost or raised. */
function knownReadiness(
  history: History,
  previous: HandOut | undefined,
  handOut: HandOut,
  headStart: (priority: number) => number,
): Known | undefined {
  const { key, to } = handOut;
  const end = previous?.finishes.find(({ counts, kind }) => counts && (kind === "succeeded" || kind === "done"));
  if (previous !== undefined && end === undefined || history.dropped.has(key)) return undefined;
  const adds = (history.arrivals.get(key) ?? []).filter(({ period }) => isBefore(period.from, to))
    .filter((add) => previous === undefined || mayComeAfter(add, previous));
  const [first] = adds;
  if (first === undefined) return undefined;
  const { priority, period: { from, to: since } } = first;
  if (since === undefined || !isBefore(since, to)) return undefined;
  for (const add of adds) {
    if (add.byFinish || add.maxDelay > 0 || add.priority !== priority) return undefined;
    if (end !== undefined && !isBefore(end.period.to!, add.period.from)) return undefined;
  }
  const start = headStart(priority);
  return { handOut, earliest: from.at - start, latest: since.at - start, since };
}

/** Two hand-outs in the wrong order. The first one should have come after the second one. */
type Pair = readonly [early: Known, late: Known];

/** Returns pairs of hand-outs of a group that are in the wrong order. Each hand-out is in at most one pair. */
function wrongPairs(all: readonly Known[]): Pair[] {
  const pairs: Pair[] = [];
  const requests = all.toSorted((one, other) => compare(one.handOut.from, other.handOut.from));
  const ready = all.toSorted((one, other) => compare(one.since, other.since));
  const byPlace = all.toSorted((one, other) => one.latest - other.latest);
  const places = new Map(byPlace.map((known, place) => [known, place]));
  const last = new LastOf(byPlace.length);
  const paired = new Set<Known>();
  let added = 0;
  for (const next of requests) {
    // All keys that were certainly ready when this one was asked for.
    for (; added < ready.length && isBefore(ready[added]!.since, next.handOut.from); added++) {
      last.set(places.get(ready[added]!)!, ready[added]!);
    }
    const passed = last.among(countBelow(byPlace, next.earliest - SLACK));
    // A key that a lost call took comes late, and may then go first.
    if (passed === undefined || passed.handOut.token <= next.handOut.token || paired.has(next)) continue;
    pairs.push([next, passed]);
    for (const each of [next, passed]) {
      paired.add(each);
      last.set(places.get(each)!, undefined);
    }
  }
  return pairs;
}

/**
 * Returns the pairs that are left when each of the others is matched with a key that a lost call took. As the pairs
 * have no hand-outs in common, each needs another lost key.
 */
function unexplained(pairs: readonly Pair[], doubts: readonly Doubt[]): Pair[] {
  const takers = pairs.map((pair) => {
    return doubts.filter((doubt) =>
      pair.some(({ since, handOut: { to } }) => doubt.from <= to.at && doubt.to >= since.at)
    );
  });
  const matched = new Map<Doubt, number[]>();
  // Augmenting paths: a pair may take the place of another one that can move.
  const place = (i: number, tried: Set<Doubt>): boolean => {
    for (const doubt of takers[i]!) {
      if (tried.has(doubt)) continue;
      tried.add(doubt);
      const others = listIn(matched, doubt);
      const slot = others.length < doubt.keys ? others.length : others.findIndex((other) => place(other, tried));
      if (slot < 0) continue;
      others[slot] = i;
      return true;
    }
    return false;
  };
  return pairs.filter((_, i) => !place(i, new Set()));
}

function compare(one: Point, other: Point): number {
  return one.writer === other.writer ? one.line - other.line : one.at - other.at;
}

/** Returns the number of hand-outs, sorted by place, whose place is before a limit. */
function countBelow(byPlace: readonly Known[], limit: number): number {
  let [low, high] = [0, byPlace.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byPlace[middle]!.latest < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Segment tree: which hand-out among the first places has the largest token. */
class LastOf {
  readonly #size: number;
  readonly #tree: (Known | undefined)[];

  constructor(places: number) {
    this.#size = places;
    this.#tree = Array.from({ length: 2 * places });
  }

  set(place: number, known: Known | undefined): void {
    let i = place + this.#size;
    this.#tree[i] = known;
    while (i > 1) {
      i >>= 1;
      this.#tree[i] = later(this.#tree[2 * i], this.#tree[2 * i + 1]);
    }
  }

  /** Returns the hand-out with the largest token among this many places. */
  among(places: number): Known | undefined {
    let last: Known | undefined;
    for (let [from, to] = [this.#size, this.#size + places]; from < to; from >>= 1, to >>= 1) {
      if (from % 2 === 1) last = later(last, this.#tree[from++]);
      if (to % 2 === 1) last = later(last, this.#tree[--to]);
    }
    return last;
  }
}

function later(one: Known | undefined, other: Known | undefined): Known | undefined {
  return (one?.handOut.token ?? 0) < (other?.handOut.token ?? 0) ? other : one;
}
