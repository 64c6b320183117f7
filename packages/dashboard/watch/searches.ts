import { systemClock } from "@workqueue/core";
import type { KnownFailure } from "./failures.ts";
import { Least } from "./least.ts";
import { inSlices, type Steps } from "./slices.ts";
import { type DelayedItems, type DelayedLook, MAX_LISTED } from "./source.ts";
import { waitFor } from "./timer.ts";

/**
 * Maximum duration of a search, in milliseconds: enough for about a million items. Needed because creating the texts of
 * items may take a long time. Only the texts of objects are cached.
 */
const MAX_TIME = 1000;
/**
 * Maximum age of a result that is considered fresh, in milliseconds. Slightly less than the interval between pushes.
 */
const FRESH_FOR = 950;
/** Maximum age of a result that is shown while there is no newer result, in milliseconds. */
const KEPT_FOR = 30_000;
/**
 * Time after which a search leaves the line if it is not requested again, in milliseconds. An open page requests its
 * search every second.
 */
const IN_LINE_FOR = 2500;
/**
 * Duration of a rest, as a multiple of the time that the preceding searches took. Searches thus run for a twentieth of
 * the time.
 */
const REST = 19;
/** Total duration of searches after which a rest is needed, in milliseconds. */
const SHORT = 5;
/** Maximum duration of a rest, in milliseconds. Needed because a search on a slow engine can take a very long time. */
const MAX_REST = 30_000;
/** Longest wait for a search in a shared queue, in milliseconds. */
const SEARCH_TIMEOUT = 900;
const MAX_IN_LINE = 1000;
const MAX_FOUND = 100;

/** Result of a search among all delayed and all failing items. */
export interface Found {
  readonly at: number;
  /** Number of matching delayed items; `null` if not all of them were checked. */
  readonly matching: number | null;
  /** Matching items, in the order in which they are due. At most `MAX_LISTED` items. */
  readonly items: readonly { readonly key: string; readonly priority: number; readonly dueAt: number }[];
  /** Number of matching failing items; `null` if not all of them were checked. */
  readonly matchingFailing: number | null;
  /** Matching failing items with the most attempts, at most `MAX_LISTED` of them, in no particular order. */
  readonly failing: readonly KnownFailure[];
}

/** Items to search, and the functions to search with. */
export interface Searched {
  delayed(): DelayedItems | Promise<DelayedItems>;
  failing(): Iterable<KnownFailure>;
  textOf(item: unknown): string;
  /** Returns a function that reports whether an item matches a search. */
  matcher(search: string): (item: unknown) => boolean;
}

/**
 * Searches all delayed and all failing items of a queue. All searches together run for about a twentieth of the time,
 * regardless of the number of clients. Searches wait in line. After one or more searches have run, no search runs for a
 * while.
 */
export class Searches {
  readonly #searched: Searched;
  /** Waiting searches, in the order in which they will run. The values are the times of their latest requests. */
  readonly #line = new Map<string, number>();
  #found = new Map<string, Found>();
  #underWay: Promise<void> | undefined;
  /** Total duration of searches since the last rest, in milliseconds. */
  #spent = 0;
  #restsUntil = -Infinity;

  constructor(searched: Searched) {
    this.#searched = searched;
  }

  /** Discards all results. Called after a change to the queue, because the results are then outdated. */
  forget(): void {
    this.#found = new Map();
  }

  /**
   * Returns the latest result of a search, which may be up to 30 seconds old. Returns `undefined` if there is no result
   * yet: call `find` again later. Never rejects.
   */
  async find(search: string): Promise<Found | undefined> {
    const now = systemClock.now();
    if (!(now - (this.#found.get(search)?.at ?? -Infinity) < FRESH_FOR)) {
      this.#putInLine(search, now);
      this.#goOn();
      if (this.#underWay !== undefined && !this.#line.has(search)) await waitFor(this.#underWay, SEARCH_TIMEOUT);
    }
    const found = this.#found.get(search);
    return found !== undefined && systemClock.now() - found.at < KEPT_FOR ? found : undefined;
  }

  #putInLine(search: string, now: number): void {
    if (this.#line.size >= MAX_IN_LINE) {
      for (const [text, askedAt] of this.#line) if (now - askedAt >= IN_LINE_FOR) this.#line.delete(text);
    }
    if (this.#line.has(search) || this.#line.size < MAX_IN_LINE) this.#line.set(search, now);
  }

  /** Runs the waiting searches until the next rest. */
  #goOn(): void {
    for (const [search, askedAt] of this.#line) {
      const now = systemClock.now();
      if (this.#underWay !== undefined || now < this.#restsUntil) return;
      this.#line.delete(search);
      if (now - askedAt < IN_LINE_FOR) this.#search(search, now);
    }
  }

  #search(search: string, at: number): void {
    const kept = this.#found;
    const finish = (found: Found) => {
      kept.delete(search);
      kept.set(search, found);
      if (kept.size > MAX_FOUND) kept.delete(kept.keys().next().value!);
      this.#rest(systemClock.now() - at);
    };
    const fail = () => this.#rest(systemClock.now() - at); // the queue's row on the page shows the error
    const scan = ({ items }: DelayedItems) => inSlices(this.#scan(search, items));
    try {
      const items = this.#searched.delayed();
      const found = items instanceof Promise ? items.then(scan) : scan(items);
      if (!(found instanceof Promise)) return finish(found);
      this.#underWay = found.then(finish).catch(fail).then(() => this.#underWay = undefined);
    } catch {
      fail();
    }
  }

  *#scan(search: string, delayed: Iterable<DelayedLook>): Steps<Found> {
    const { failing, textOf, matcher } = this.#searched;
    const matches = matcher(search);
    const at = systemClock.now();
    const isOver = () => systemClock.now() - at >= MAX_TIME;
    const items = new Least<DelayedLook>(MAX_LISTED, ({ dueInMs }) => dueInMs);
    const failures = new Least<KnownFailure>(MAX_LISTED, ({ attempts }) => -attempts);
    let isWhole = yield* addMatching(delayed, matches, items, isOver);
    const matching = isWhole ? items.count : null;
    isWhole = yield* addMatching(failing(), matches, failures, isOver);
    return {
      at,
      matching,
      items: items.list().map(({ item, priority, dueInMs }) => ({ key: textOf(item), priority, dueAt: at + dueInMs })),
      matchingFailing: isWhole ? failures.count : null,
      failing: failures.list(),
    };
  }

  #rest(ms: number): void {
    this.#spent += ms;
    if (this.#spent < SHORT) return;
    this.#restsUntil = systemClock.now() + Math.min(REST * this.#spent, MAX_REST);
    this.#spent = 0;
  }
}

/** Number of items between two checks of the time. */
const ITEMS_PER_LOOK = 64;

/** Adds all matching items. Returns `false` if the search `isOver` before all items were checked. */
function* addMatching<Entry extends { readonly item: unknown }>(
  entries: Iterable<Entry>,
  matches: (item: unknown) => boolean,
  found: Least<Entry>,
  isOver: () => boolean,
): Steps<boolean> {
  let checked = 0;
  for (const entry of entries) {
    if (++checked % ITEMS_PER_LOOK === 0 && isOver()) return false;
    if (matches(entry.item)) found.add(entry);
    yield;
  }
  return true;
}
