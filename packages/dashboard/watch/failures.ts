import { ChurnMap } from "@workqueue/core/internal";
import type { FailedAttempt } from "@workqueue/core/metrics";
import type { ErrorGroup } from "../api.ts";
import { patternOf } from "./error_patterns.ts";
import { errorText } from "./texts.ts";

/** Maximum number of groups, apart from the group of all other errors. */
export const MAX_GROUPS = 100;
/** Maximum number of keys to show for each group. */
const MAX_KEYS = 10;
/** Time for which a group without failing items is shown, in milliseconds: as long as the charts show. */
const KEPT_FOR = 15 * 60_000;

/** Failing item whose last error is known. */
export interface KnownFailure {
  readonly item: unknown;
  readonly attempts: number;
  /** Error of the last attempt, in one line. */
  readonly error: string;
  /** Time of the last failure, as returned by `Date.now()`. */
  readonly at: number;
  readonly group: Group;
}

/** Failing item as a pool or an engine lists it. */
export type ListedFailure = FailedAttempt<unknown> & {
  /** Time since the last failure, in milliseconds; `undefined` if unknown. */
  readonly failedAgoMs?: number | undefined;
};

/** Errors that differ only in their variable parts. */
interface Group {
  /** Message of the errors, without variable parts; `null` for the group of all other errors. */
  readonly message: string | null;
  /** Latest error. */
  example: string;
  /** Number of failed attempts. */
  count: number;
  first: number;
  last: number;
  /** Failing items whose last error is in this group. */
  readonly failing: Set<KnownFailure>;
}

/** Last errors of all failing items of a queue, as far as the dashboard knows, grouped by message. */
export class Failures {
  readonly #textOf: (item: unknown) => string;
  readonly #byKey = new ChurnMap<unknown, KnownFailure>();
  readonly #groups = new Map<string, Group>();
  /** Errors that are in none of the groups, because there are too many groups. */
  #others: Group | undefined;

  constructor(textOf: (item: unknown) => string) {
    this.#textOf = textOf;
  }

  /** Number of failing items whose errors are known. */
  get size(): number {
    return this.#byKey.size;
  }

  get(key: unknown): KnownFailure | undefined {
    return this.#byKey.get(key);
  }

  /**
   * Iterates over the failures. The iteration may continue in later turns of the event loop, and ends even if items are
   * added meanwhile.
   */
  *all(): Generator<KnownFailure, void> {
    for (const [, failure] of firstOf(this.#byKey.entries(), this.#byKey.size)) yield failure;
  }

  /** Adds failed attempts of a key: one attempt, unless `count` is given. */
  add({ item, key, attempts, error }: FailedAttempt<unknown>, at: number, count = 1): void {
    const text = errorText(error);
    const before = this.#byKey.get(key);
    const group = this.#groupOf(text, typeof key === "string" ? key : "", at);
    group.count += count;
    group.first = Math.min(group.first, at);
    group.last = Math.max(group.last, at);
    if (group.example !== text) group.example = text;
    before?.group.failing.delete(before);
    const failure = { item, attempts, error: group.example, at, group }; // shares the text, if the errors are equal
    group.failing.add(failure);
    this.#byKey.set(key, failure);
  }

  /** Removes a key, which is no longer failing. */
  delete(key: unknown): void {
    const failure = this.#byKey.get(key);
    if (failure === undefined) return;
    this.#byKey.remove(key);
    failure.group.failing.delete(failure);
  }

  /** Adds failing items that are missing here. Their failed attempts were counted before. */
  addMissing(list: readonly ListedFailure[]): void {
    const now = Date.now();
    for (const failed of list) {
      if (this.#byKey.get(failed.key) === undefined) this.add(failed, now - (failed.failedAgoMs ?? 0), 0);
    }
  }

  /** Replaces all failing items by a list that was read from an engine. Counts the attempts since the previous list. */
  replace(list: readonly ListedFailure[]): void {
    const now = Date.now();
    const gone = new Set(Array.from(this.#byKey.entries(), ([key]) => key));
    for (const failed of list) {
      gone.delete(failed.key);
      const before = this.#byKey.get(failed.key);
      if (before?.attempts === failed.attempts) continue;
      const count = before === undefined ? 1 : Math.max(failed.attempts - before.attempts, 1);
      this.add(failed, now - (failed.failedAgoMs ?? 0), count);
    }
    for (const key of gone) this.delete(key);
  }

  /** Lists the groups of errors with the most failing items first. */
  groups(): ErrorGroup[] {
    this.#forgetOld(Date.now());
    return [...this.#sorted(), ...(this.#others ? [this.#others] : [])].map((group) => ({
      message: group.message,
      count: group.count,
      items: group.failing.size,
      first: group.first,
      last: group.last,
      example: group.example,
      keys: Array.from(firstOf(group.failing, MAX_KEYS), ({ item }) => this.#textOf(item)),
    }));
  }

  /** Reports whether a group has this message. */
  hasGroup(message: string): boolean {
    return this.#groups.has(message);
  }

  #sorted(): Group[] {
    return [...this.#groups.values()].sort((a, b) => b.failing.size - a.failing.size || b.last - a.last);
  }

  #groupOf(error: string, key: string, now: number): Group {
    const message = patternOf(error, key);
    let group = this.#groups.get(message);
    if (group !== undefined) return group;
    if (this.#groups.size >= MAX_GROUPS && !this.#makeRoom(now)) return this.#others ??= groupOf(null, error);
    this.#groups.set(message, group = groupOf(message, error));
    return group;
  }

  /** Removes a group without failing items, if there is one: old groups first. Reports whether there is room. */
  #makeRoom(now: number): boolean {
    this.#forgetOld(now);
    if (this.#groups.size < MAX_GROUPS) return true;
    const least = this.#sorted().at(-1)!;
    return least.failing.size === 0 && this.#groups.delete(least.message!);
  }

  #forgetOld(now: number): void {
    const isOld = ({ failing, last }: Group) => failing.size === 0 && now - last > KEPT_FOR;
    for (const group of this.#groups.values()) if (isOld(group)) this.#groups.delete(group.message!);
    if (this.#others !== undefined && isOld(this.#others)) this.#others = undefined;
  }
}

function groupOf(message: string | null, example: string): Group {
  return { message, example, count: 0, first: Infinity, last: -Infinity, failing: new Set() };
}

function* firstOf<Item>(items: Iterable<Item>, limit: number): Generator<Item, void> {
  for (const item of items) {
    if (limit-- <= 0) return;
    yield item;
  }
}
