/**
 * A limiter for each group of items: for each host, tenant or token.
 *
 * Delay: what the limiter of the item's group says, of which there is one for each.
 *
 * Choose it when each of many hosts, tenants or tokens has a limit of its own.
 *
 * ```json
 * {
 *   "type": "per-group",
 *   "separator": "/",
 *   "limiter": { "type": "bucket", "rate": 0.1, "burst": 3 }
 * }
 * ```
 *
 * @module
 */

import { invalidArgument } from "../lib/base/errors.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { ChurnMap } from "../lib/structures/churn_map.ts";
import { Pruner } from "../lib/structures/pruner.ts";
import type { Template } from "../registry/fields.ts";
import { createGroupedInCode, groupBySeparator, type GroupOf } from "../registry/grouping.ts";
import { isAtRest } from "./at_rest.ts";
import { type LimiterDefinition, type LimiterFields, limiterKind } from "./definition.ts";

export type * from "./types.ts";

/** A limiter that asks the one of an item's group. */
export interface PerGroupLimiter<T = unknown, L extends RateLimiter<T> = RateLimiter<T>> extends RateLimiter<T> {
  /**
   * The limiter of an item's group, made if there is none.
   *
   * Ask for it each time that it is needed, rather than keep it: once it is at rest it may be dropped for one that is
   * made anew, and what is then taken from the old one is not taken from the new one.
   *
   * @param item The item.
   * @param key What the queue de-duplicates by; the item itself if it is left out.
   * @returns The limiter.
   * @throws {TypeError} If groups are told by a separator and the key is no string.
   */
  of(item: T, key?: unknown): L;
}

/** The options of a per-group limiter. */
export const perGroupOptions = {
  separator: {
    kind: "string",
    minLength: 1,
    description: "An item's group is the text before the first of these in its key, or the whole key without one.",
  },
  limiter: { kind: "limiter", template: true, description: "The limiter of which each group has one of its own." },
} as const satisfies LimiterFields;

/** The definition of `{ "type": "per-group" }`. */
export const perGroupLimiter: LimiterDefinition<"per-group", typeof perGroupOptions> = {
  type: "per-group",
  description: "Asks a limiter of which each group of items has one of its own.",
  options: perGroupOptions,
  create: ({ separator, limiter }) => new LimiterOfGroups(groupBySeparator(separator), limiter),
  update: (part: LimiterOfGroups, { separator, limiter }) => part.change(groupBySeparator(separator), limiter),
};

/**
 * Makes a limiter that has one for each group of items, such as a bucket for each host. It is made when the first item
 * of the group comes.
 *
 * A limiter that is at rest is as good as a new one, so it is dropped, and made anew when it is needed again: groups that
 * come and go leave nothing for ever. A few are looked at whenever a new group comes. Up to a hundred limiters are kept
 * in any case, and so are those that cannot tell whether they are at rest: see `atRest` of {@linkcode RateLimiter}. What
 * groups share, such as a bucket for all of them, belongs beside this limiter in a max-of limiter: inside, no group would
 * be at rest while that is busy.
 *
 * @example A bucket for each host
 * ```ts
 * import { createBucketLimiter, createPerGroupLimiter } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using _time = new FakeTime();
 * const limiter = createPerGroupLimiter({
 *   groupOf: (url: string) => new URL(url).host,
 *   limiter: () => createBucketLimiter({ rate: 1, burst: 1 }),
 * });
 * const urls = ["https://a.example/1", "https://a.example/2", "https://b.example/1"];
 * assertEquals(urls.map((url) => limiter.when(url)), [0, 1000, 0]);
 *
 * limiter.of("https://b.example/1").bucket.hold("1m"); // that host asked for it
 * assertEquals(limiter.when("https://b.example/2"), 61_000);
 * ```
 *
 * @typeParam T The type of the items.
 * @typeParam L The type of the limiters.
 * @param options `limiter`: makes the limiter of a group. `groupOf`: tells the group of an item; groups are the same that
 * are the same key of a `Map`, and items with the same key have to be of the same group. Or, in its place, `separator`: the group is the text before the first separator in the
 * item's key, which has to be a string, and the whole key if there is none in it.
 * @returns The limiter. It is at rest when all those of its groups are, and looks at each of them to tell.
 * @throws {TypeError} If `groupOf` and `separator` are both given or both missing, or an option is of the wrong type,
 * unknown or missing.
 */
export function createPerGroupLimiter<T = unknown, L extends RateLimiter<T> = RateLimiter<T>>(
  options:
    & { limiter: () => L }
    & (
      | { groupOf: (item: T) => unknown; separator?: undefined }
      | { separator: string; groupOf?: undefined }
    ),
): PerGroupLimiter<T, L> {
  return createGroupedInCode(
    limiterKind,
    perGroupLimiter,
    options,
    (groupOf, { limiter }) => new LimiterOfGroups(groupOf, limiter),
  ) as PerGroupLimiter<T, L>;
}

/** So many limiters are not worth looking at. */
const MAX_KEPT_AT_REST = 100;

class LimiterOfGroups implements PerGroupLimiter {
  readonly #limiters = new ChurnMap<unknown, RateLimiter>();
  readonly #pruner = new Pruner(this.#limiters);
  #groupOf: GroupOf;
  #template: Template<RateLimiter>;

  constructor(groupOf: GroupOf, template: Template<RateLimiter>) {
    this.#groupOf = groupOf;
    this.#template = template;
  }

  /** The groups that there are keep their names, even if items are told apart in another way from now on. */
  change(groupOf: GroupOf, template: Template<RateLimiter>): void {
    for (const [group, limiter] of this.#bringUpToDate(template)) this.#limiters.set(group, limiter);
    this.#groupOf = groupOf;
    this.#template = template;
  }

  of(item: unknown, key: unknown = item): RateLimiter {
    const group = this.#groupOf(item as never, key);
    return this.#limiters.get(group) ?? this.#make(group);
  }

  when(item: unknown, key: unknown = item): number {
    return this.of(item, key).when(item, key);
  }

  forget(item: unknown, key: unknown = item): void {
    this.#find(item, key)?.forget(item, key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#find(item, key)?.numRequeues(item, key) ?? 0;
  }

  atRest(): boolean {
    const groups = this.#limiters.keys();
    for (let next = groups.next(); !next.done; next = groups.next()) {
      const limiter = this.#limiters.get(next.value);
      if (limiter !== undefined && !isAtRest(limiter)) return false;
    }
    return true;
  }

  /** The limiter of a group that has one: a new one has nothing to forget. */
  #find(item: unknown, key: unknown): RateLimiter | undefined {
    return this.#limiters.get(this.#groupOf(item as never, key));
  }

  /** The limiters of all groups as a template makes them. If it fails with one, they are what they were before. */
  #bringUpToDate(template: Template<RateLimiter>): Map<unknown, RateLimiter> {
    const limiters = new Map<unknown, RateLimiter>();
    try {
      for (const [group, limiter] of this.#limiters.entries()) limiters.set(group, upToDate(limiter, template));
    } catch (error) {
      for (const group of limiters.keys()) upToDate(this.#limiters.get(group)!, this.#template);
      throw error;
    }
    return limiters;
  }

  #make(group: unknown): RateLimiter {
    const limiter = this.#template();
    if (!limiterKind.is(limiter)) {
      throw invalidArgument("make limiter of group", "limiter()", `must be a ${limiterKind.name}`, limiter);
    }
    if (this.#limiters.size >= MAX_KEPT_AT_REST) this.#pruner.prune(isAtRest);
    this.#limiters.set(group, limiter);
    return limiter;
  }
}

/** What a template makes of a limiter that another one made. */
function upToDate(limiter: RateLimiter, template: Template<RateLimiter>): RateLimiter {
  return template.update === undefined ? template() : template.update(limiter);
}
