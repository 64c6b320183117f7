/** Check of the order in which keys are handed out. */

import { type HandOut, type History, isBefore, listIn, mayComeAfter, type Point, SLACK } from "./history.ts";

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

/** Returns violations: keys that were handed out before a key that was ready and that comes first in the order. */
export function order(history: History, { headStart = () => 0, groupOf = () => "" }: Order): string[] {
  const groups = new Map<string, Known[]>();
  for (const handOuts of history.handOutsOf.values()) {
    for (const [i, handOut] of handOuts.entries()) {
      const known = knownReadiness(history, handOuts[i - 1], handOut, headStart);
      const group = groupOf(handOut.key);
      if (known !== undefined) listIn(groups, group).push(known);
    }
  }
  return [...groups.values()].flatMap(inGroup);
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
  if (history.doubts.some((doubt) => doubt.from <= to.at && doubt.to >= from.at)) return undefined;
  const start = headStart(priority);
  return { handOut, earliest: from.at - start, latest: since.at - start, since };
}

/** Returns violations among the hand-outs of a group. */
function inGroup(all: readonly Known[]): string[] {
  const wrong: string[] = [];
  const requests = all.toSorted((one, other) => compare(one.handOut.from, other.handOut.from));
  const ready = all.toSorted((one, other) => compare(one.since, other.since));
  const byPlace = all.map(({ latest }) => latest).toSorted((one, other) => one - other);
  const last = new LastOf(byPlace.length);
  let added = 0;
  for (const next of requests) {
    // All keys that were certainly ready when this one was asked for.
    for (; added < ready.length && isBefore(ready[added]!.since, next.handOut.from); added++) {
      const one = ready[added]!;
      last.add(countBelow(byPlace, one.latest), one.handOut);
    }
    const passed = last.among(countBelow(byPlace, next.earliest - SLACK));
    if (passed !== undefined && passed.token > next.handOut.token) {
      wrong.push(`${next.handOut.key} was handed out by ${next.handOut.token}, before ${passed.key}`);
    }
  }
  return wrong;
}

function compare(one: Point, other: Point): number {
  return one.writer === other.writer ? one.line - other.line : one.at - other.at;
}

/** Returns the number of sorted numbers that are less than a number. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Binary indexed tree (Fenwick) of the hand-outs with the largest token among the first places. */
class LastOf {
  readonly #tree: (HandOut | undefined)[];

  constructor(places: number) {
    this.#tree = Array.from({ length: places + 1 });
  }

  add(place: number, handOut: HandOut): void {
    for (let i = place + 1; i < this.#tree.length; i += i & -i) {
      if (handOut.token > (this.#tree[i]?.token ?? 0)) this.#tree[i] = handOut;
    }
  }

  /** Returns the hand-out with the largest token among this many places. */
  among(places: number): HandOut | undefined {
    let last: HandOut | undefined;
    for (let i = places; i > 0; i -= i & -i) {
      if ((this.#tree[i]?.token ?? 0) > (last?.token ?? 0)) last = this.#tree[i];
    }
    return last;
  }
}
