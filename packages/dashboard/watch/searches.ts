import { systemClock } from "@workqueue/core";
import { type DelayedLook, MAX_LISTED } from "./source.ts";
import { waitFor } from "./timer.ts";

/**
 * Maximum number of items per search. Checking this many items takes about 0.1 s. A longer search would block the
 * process for too long.
 */
export const MAX_SEARCHED = 200_000;
/**
 * Maximum duration of a search, in milliseconds. Needed because creating the texts of items may take a long time. Only
 * the texts of objects are cached.
 */
const MAX_TIME = 250;
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
/** Maximum duration of a rest, in milliseconds. Needed because a search on a slow server can take a very long time. */
const MAX_REST = 30_000;
/** Longest wait for a search on a server, in milliseconds. */
const SEARCH_TIMEOUT = 900;
const MAX_IN_LINE = 1000;
const MAX_FOUND = 100;

/** Result of a search among all delayed items. */
export interface Found {
  readonly at: number;
  /** Number of matching items; `null` if there were too many delayed items to check all of them. */
  readonly matching: number | null;
  /** Matching items, in the order in which they are due. At most `MAX_LISTED` items. */
  readonly items: readonly { readonly key: string; readonly priority: number; readonly dueAt: number }[];
}

/** Returns a function that reports whether a key contains the text, ignoring case. */
export function matcher(search: string): (key: string) => boolean {
  if (search === "") return () => true;
  const wanted = search.toLowerCase();
  return (key) => key.toLowerCase().includes(wanted);
}

/**
 * Searches all delayed items of a queue. All searches together run for about a twentieth of the time, regardless of the
 * number of clients. Searches wait in line. After one or more searches have run, no search runs for a while.
 */
export class Searches {
  readonly #delayed: (limit: number) => readonly DelayedLook[] | Promise<readonly DelayedLook[]>;
  readonly #textOf: (item: unknown) => string;
  /** Waiting searches, in the order in which they will run. The values are the times of their latest requests. */
  readonly #line = new Map<string, number>();
  #found = new Map<string, Found>();
  #underWay: Promise<void> | undefined;
  /** Total duration of searches since the last rest, in milliseconds. */
  #spent = 0;
  #restsUntil = -Infinity;

  /**
   * Creates an instance without searches. `firstDelayed` returns the first `limit` delayed items, in the order in which
   * they are due.
   */
  constructor(
    firstDelayed: (limit: number) => readonly DelayedLook[] | Promise<readonly DelayedLook[]>,
    textOf: (item: unknown) => string,
  ) {
    this.#delayed = firstDelayed;
    this.#textOf = textOf;
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
    const found = this.#found;
    const finish = (items: readonly DelayedLook[] = []) => {
      this.#keep(found, search, at, items);
      this.#rest(systemClock.now() - at);
    };
    const fail = () => this.#rest(systemClock.now() - at); // the queue's row on the page shows the error
    try {
      const items = this.#delayed(MAX_SEARCHED);
      if (!(items instanceof Promise)) return finish(items);
      this.#underWay = items.then(finish).catch(fail).then(() => this.#underWay = undefined);
    } catch {
      fail();
    }
  }

  #keep(all: Map<string, Found>, search: string, at: number, items: readonly DelayedLook[]): void {
    const matches = matcher(search);
    const first: { key: string; priority: number; dueAt: number }[] = [];
    let matching = 0;
    let isAll = items.length < MAX_SEARCHED;
    const began = systemClock.now();
    for (const [i, { item, priority, dueInMs }] of items.entries()) {
      if (i % 64 === 63 && systemClock.now() - began >= MAX_TIME) {
        isAll = false;
        break;
      }
      const key = this.#textOf(item);
      if (!matches(key)) continue;
      if (++matching <= MAX_LISTED) first.push({ key, priority, dueAt: at + dueInMs });
    }
    all.delete(search);
    all.set(search, { at, matching: isAll ? matching : null, items: first });
    if (all.size > MAX_FOUND) all.delete(all.keys().next().value!);
  }

  #rest(ms: number): void {
    this.#spent += ms;
    if (this.#spent < SHORT) return;
    this.#restsUntil = systemClock.now() + Math.min(REST * this.#spent, MAX_REST);
    this.#spent = 0;
  }
}
