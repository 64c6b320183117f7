import { systemClock } from "@workqueue/core";
import { type DelayedLook, MAX_LISTED } from "./source.ts";
import { waitFor } from "./timer.ts";

/** After how many items a search ends, so that it does not stop all else for long: some 0.1 s. */
export const MAX_SEARCHED = 200_000;
/** And after how long, in milliseconds, as texts may take long to make: those of objects are there the next time. */
const MAX_TIME = 250;
/** How old what was found may be to be called new, in milliseconds: a little less than pushes are apart. */
const FRESH_FOR = 950;
/** How old it may be to be shown until there is something newer, in milliseconds. */
const KEPT_FOR = 30_000;
/** How long a text stays in line that nobody asks for any more, in milliseconds: those who watch ask each second. */
const IN_LINE_FOR = 2500;
/** A rest is so many times as long as the searches before it took: they have a twentieth of the time. */
const REST = 19;
/** Searches that took less than this together need no rest yet, in milliseconds. */
const SHORT = 5;
/** No rest is longer than this, in milliseconds: it may have been a server that took the time. */
const MAX_REST = 30_000;
/** How long a server is waited for that is to search, in milliseconds. */
const PATIENCE = 900;
const MAX_IN_LINE = 1000;
const MAX_FOUND = 100;

/** What a search through all that waits found. */
export interface Found {
  readonly at: number;
  /** How many there are; `null` if there were too many to look at all of them. */
  readonly matching: number | null;
  /** The earliest of them. */
  readonly items: readonly { readonly key: string; readonly priority: number; readonly dueAt: number }[];
}

/** Whether a key has the text in it, in letters of whatever case. */
export function matcher(search: string): (key: string) => boolean {
  if (search === "") return () => true;
  const wanted = search.toLowerCase();
  return (key) => key.toLowerCase().includes(wanted);
}

/**
 * Searches through all that waits in a queue. However many ask, and for whatever, they take a twentieth of the time
 * together: texts stand in a line, of which the first is searched for when the rest after the searches before it is
 * over.
 */
export class Searches {
  readonly #delayed: (limit: number) => readonly DelayedLook[] | Promise<readonly DelayedLook[]>;
  readonly #textOf: (item: unknown) => string;
  /** The texts in line, the one that waits longest first; and when somebody asked for each last. */
  readonly #line = new Map<string, number>();
  #found = new Map<string, Found>();
  #underWay: Promise<void> | undefined;
  /** How long searches took since the last rest. */
  #spent = 0;
  #restsUntil = -Infinity;

  /** Searches in what a function gives: the first that wait, the earliest first. */
  constructor(
    waiting: (limit: number) => readonly DelayedLook[] | Promise<readonly DelayedLook[]>,
    textOf: (item: unknown) => string,
  ) {
    this.#delayed = waiting;
    this.#textOf = textOf;
  }

  /** What was found before is not so any more. */
  forget(): void {
    this.#found = new Map();
  }

  /**
   * What is found, or was a while ago; `undefined` if that is not known yet. Who asks again will know. Never rejects.
   */
  async find(search: string): Promise<Found | undefined> {
    const now = systemClock.now();
    if (!(now - (this.#found.get(search)?.at ?? -Infinity) < FRESH_FOR)) {
      this.#putInLine(search, now);
      this.#goOn();
      if (this.#underWay !== undefined && !this.#line.has(search)) await waitFor(this.#underWay, PATIENCE);
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

  /** Searches for the first in line, and for the next, until it is time to rest. */
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
    const fail = () => this.#rest(systemClock.now() - at); // the row tells of it
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
