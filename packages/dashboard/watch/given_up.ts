import { type GivenUpEntry, type GivenUpQueue, type RedriveOptions, systemClock } from "@workqueue/core";
import { inspectionOf } from "@workqueue/core/hooks";
import { hasMethods } from "@workqueue/core/internal";
import type { GivenUpErrorGroup, GivenUpList, GivenUpRow, RedriveState } from "../api.ts";
import { patternOf } from "./error_patterns.ts";
import { nextSlice } from "./slices.ts";
import { MAX_LISTED } from "./source.ts";
import { cut, errorText } from "./texts.ts";
import { within } from "./timer.ts";

/** Maximum number of groups of errors to show. */
const MAX_GROUPS = 50;
/** Maximum number of calls for one list of a queue in memory. A call checks a bounded number of items. */
const MAX_CALLS = 10;
/** Maximum number of calls for one list of a shared queue, whose engine does nothing else while it checks items. */
const MAX_REMOTE_CALLS = 1;
/** Longest wait for a list, in milliseconds. Shorter than the interval between looks at the queues. */
const PATIENCE = 900;

/** Selection of given-up items. An item is selected if it matches every given member. */
export interface GivenUpSelection {
  /** Text of the item. */
  readonly key?: string | undefined;
  /** Message of a group of errors. */
  readonly error?: string | undefined;
  /** Part of the item's key or of its error, ignoring case. */
  readonly search?: string | undefined;
}

/** Returns the queue if it keeps given-up items; otherwise `undefined`. */
export function keeperOf(queue: unknown): GivenUpQueue<unknown> | undefined {
  if (!hasMethods(queue, "givenUp", "redrive", "redriveProgress", "stopRedrive", "discard")) return undefined;
  const keepsGivenUp = inspectionOf(queue as object)?.keepsGivenUp ?? true; // a queue in memory may keep none
  return keepsGivenUp ? queue as GivenUpQueue<unknown> : undefined;
}

/** Given-up items of a queue. */
export class GivenUpItems {
  readonly #queue: GivenUpQueue<unknown>;
  readonly #textOf: (item: unknown) => string;
  readonly #maxCalls: number;
  /** Lists that are being read, by search and limit. */
  readonly #reading = new Map<string, Promise<GivenUpList | null>>();
  /** Rate of the latest redrive that was started here; `null` if it has none. */
  #rate: number | null = null;

  constructor(queue: GivenUpQueue<unknown>, textOf: (item: unknown) => string, isRemote: boolean) {
    this.#queue = queue;
    this.#textOf = textOf;
    this.#maxCalls = isRemote ? MAX_REMOTE_CALLS : MAX_CALLS;
  }

  /**
   * Lists the newest items that match a search. Returns `null` if the queue can't be asked or doesn't answer soon.
   * Never rejects.
   */
  async list(search: string, limit: number): Promise<GivenUpList | null> {
    const name = `${limit} ${search}`;
    let list = this.#reading.get(name);
    if (list === undefined) {
      list = this.#read(search, limit).finally(() => this.#reading.delete(name));
      this.#reading.set(name, list);
    }
    return await within(list, PATIENCE) ?? null;
  }

  /** Never rejects. */
  async #read(search: string, limit: number): Promise<GivenUpList | null> {
    const entries: GivenUpEntry<unknown>[] = [];
    let cursor: string | undefined;
    try {
      const { total, dropped } = await this.#queue.givenUp({ limit: 0 });
      for (let calls = 0; calls < this.#maxCalls && total > 0 && entries.length < MAX_LISTED; calls++) {
        const page = await this.#queue.givenUp({ search, limit: MAX_LISTED - entries.length, cursor });
        entries.push(...page.items);
        cursor = page.cursor;
        if (cursor === undefined) break;
      }
      return {
        total,
        dropped,
        matching: search === "" ? total : cursor === undefined ? entries.length : null,
        checked: entries.length,
        items: entries.slice(0, limit).map((entry) => this.#row(entry)),
        errors: this.#errors(entries),
        redrive: await this.#redrive(),
      };
    } catch {
      return null;
    }
  }

  /** Returns the keys of all selected items. */
  async select({ key, error, search = "" }: GivenUpSelection): Promise<unknown[]> {
    const keys: unknown[] = [];
    let beganAt = systemClock.now();
    let cursor: string | undefined;
    do {
      const page: Awaited<ReturnType<GivenUpQueue<unknown>["givenUp"]>> = await this.#queue.givenUp({
        search,
        limit: MAX_LISTED,
        cursor,
      });
      for (const entry of page.items) {
        const isSelected = (key === undefined || this.#textOf(entry.item) === key) &&
          (error === undefined || patternIn(entry) === error);
        if (isSelected) keys.push(entry.key);
      }
      cursor = page.cursor;
      beganAt = await nextSlice(beganAt);
    } while (cursor !== undefined);
    return keys;
  }

  /** Returns the number of items that the queue keeps. */
  async count(): Promise<number> {
    return (await this.#queue.givenUp({ limit: 0 })).total;
  }

  async redrive(options: RedriveOptions): Promise<RedriveState> {
    const progress = await this.#queue.redrive(options);
    this.#rate = options.rate ?? null;
    return { ...progress, rate: this.#rate };
  }

  async stopRedrive(): Promise<RedriveState | null> {
    if (!(await this.#redrive())?.running) return null;
    await this.#queue.stopRedrive();
    return await this.#redrive();
  }

  async isRedriving(): Promise<boolean> {
    return (await this.#redrive())?.running ?? false;
  }

  async discard(options: RedriveOptions): Promise<number> {
    return await this.#queue.discard(options);
  }

  async #redrive(): Promise<RedriveState | null> {
    const progress = await this.#queue.redriveProgress();
    return progress === undefined ? null : { ...progress, rate: this.#rate };
  }

  #row(entry: GivenUpEntry<unknown>): GivenUpRow {
    const { item, error, attempts, reason, group, firstFailedAgoMs, givenUpAgoMs } = entry;
    return {
      key: this.#textOf(item),
      error: errorText(error),
      attempts,
      reason,
      group: group === undefined ? null : cut(String(group)),
      firstFailedAgo: Math.round(firstFailedAgoMs),
      ago: Math.round(givenUpAgoMs),
    };
  }

  #errors(entries: readonly GivenUpEntry<unknown>[]): GivenUpErrorGroup[] {
    const groups = new Map<string, { message: string; items: number; example: string; last: number }>();
    for (const entry of entries) {
      const message = patternIn(entry);
      const group = groups.get(message);
      if (group !== undefined) group.items++;
      else {
        const last = Math.round(entry.givenUpAgoMs);
        groups.set(message, { message, items: 1, example: errorText(entry.error), last });
      }
    }
    return [...groups.values()].sort((a, b) => b.items - a.items).slice(0, MAX_GROUPS);
  }
}

/** Returns the message of the group to which the error of an item belongs. */
function patternIn({ error, key }: GivenUpEntry<unknown>): string {
  return patternOf(errorText(error), typeof key === "string" ? key : "");
}
