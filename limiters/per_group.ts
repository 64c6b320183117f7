/**
 * A limiter for each group of items: for each host, tenant or token.
 *
 * Delay: the delay of the group's own limiter.
 *
 * Choose it when each host, tenant or token has a limit of its own.
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

import { limiterError } from "../lib/base/errors.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { type Clock, systemClock } from "../lib/base/clock.ts";
import { ChurnMap } from "../lib/structures/churn_map.ts";
import { inSlices } from "../lib/structures/in_slices.ts";
import { Pruner } from "../lib/structures/pruner.ts";
import type { Template } from "../registry/fields.ts";
import { createGroupedInCode, groupBySeparator, type GroupOf } from "../registry/grouping.ts";
import { builtIn } from "./built_in.ts";
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
    startsAfresh: true,
    description: "Ends the name of the group in a key; a key without it is a group by itself.",
  },
  limiter: { kind: "limiter", template: true, description: "The limiter that each group gets its own copy of." },
} as const satisfies LimiterFields;

/** The definition of `{ "type": "per-group" }`. */
export const perGroupLimiter: LimiterDefinition<"per-group", typeof perGroupOptions> = {
  type: "per-group",
  description: "Gives each group its own limiter.",
  options: perGroupOptions,
  create: /* @__PURE__ */ builtIn(
    1,
    ({ separator, limiter }, { clock }) => new LimiterOfGroups(groupBySeparator(separator), limiter, clock),
  ),
  update: (part: LimiterOfGroups, { separator, limiter }) => part.change(groupBySeparator(separator), limiter),
};

/**
 * Makes a limiter that has one for each group of items, such as a bucket for each host. It is made when the first item
 * of the group comes.
 *
 * A limiter that is at rest is as good as a new one, so it is dropped, and made anew when it is needed again: groups
 * that come and go leave nothing for ever. A few are looked at whenever a new group comes. Up to a hundred limiters are
 * kept in any case, and so are those that cannot tell whether they are at rest: see `atRest` of
 * {@linkcode RateLimiter}. What groups share, such as a bucket for all of them, belongs beside this limiter in a max-of
 * limiter: inside, no group would be at rest while that is busy.
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
 * limiter.of("https://b.example/1").bucket.pauseFor("1m"); // that host asked for it
 * assertEquals(limiter.when("https://b.example/2"), 61_000);
 * ```
 *
 * @typeParam T The type of the items.
 * @typeParam L The type of the limiters.
 * @param options `limiter`: makes the limiter of a group. `groupOf`: tells the group of an item; groups are the same
 * that are the same key of a `Map`, and items with the same key have to be of the same group. Or, in its place,
 * `separator`: the group is the text before the first separator in the item's key, which has to be a string, and the
 * whole key if there is none in it.
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

/** The limiter of a group, and the template that it follows. */
interface Group {
  limiter: RateLimiter;
  template: Template<RateLimiter>;
}

class LimiterOfGroups implements PerGroupLimiter {
  readonly #groups = new ChurnMap<unknown, Group>();
  readonly #pruner = new Pruner(this.#groups);
  readonly #clock: Clock;
  /** The group that was made last, be it dropped since. */
  #latest: Group | undefined = undefined;
  #groupOf: GroupOf;
  #template: Template<RateLimiter>;

  constructor(groupOf: GroupOf, template: Template<RateLimiter>, clock: Clock = systemClock) {
    this.#groupOf = groupOf;
    this.#template = template;
    this.#clock = clock;
  }

  /**
   * Changes the limiters of all groups: of each when it is asked next, and of the others in slices. The groups that
   * there are keep their names, even if items are told apart in another way from now on.
   *
   * @throws What updating one of them throws, if the template may refuse. They are all what they were before then.
   */
  change(groupOf: GroupOf, template: Template<RateLimiter>): void {
    if (!template.neverRefuses) this.#updateAll(template);
    this.#groupOf = groupOf;
    this.#template = template;
    const names = this.#groups.keys();
    inSlices(() => {
      if (this.#template !== template) return false; // the next change goes through all groups again
      const { done, value } = names.next();
      const group = done ? undefined : this.#groups.get(value);
      if (group !== undefined) this.#upToDate(group);
      return !done;
    }, this.#clock);
  }

  of(item: unknown, key: unknown = item): RateLimiter {
    const name = this.#groupOf(item as never, key);
    const group = this.#groups.get(name);
    return group === undefined ? this.#make(name) : this.#upToDate(group);
  }

  when(item: unknown, key: unknown = item): number {
    return this.of(item, key).when(item, key);
  }

  /** That of any group, as they are all made alike. */
  get forgetAfter(): number | undefined {
    return this.#latest && this.#upToDate(this.#latest).forgetAfter;
  }

  uncount(item: unknown, key: unknown = item): void {
    this.#find(item, key)?.uncount?.(item, key);
  }

  forget(item: unknown, key: unknown = item): void {
    this.#find(item, key)?.forget(item, key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#find(item, key)?.numRequeues(item, key) ?? 0;
  }

  atRest(): boolean {
    const names = this.#groups.keys();
    for (let next = names.next(); !next.done; next = names.next()) {
      const group = this.#groups.get(next.value);
      if (group !== undefined && this.#upToDate(group).atRest?.() !== true) return false;
    }
    return true;
  }

  /** The limiter of a group that has one: a new one has nothing to forget. */
  #find(item: unknown, key: unknown): RateLimiter | undefined {
    const group = this.#groups.get(this.#groupOf(item as never, key));
    return group && this.#upToDate(group);
  }

  /** Returns a group's limiter, which follows the newest template from now on. */
  #upToDate(group: Group): RateLimiter {
    const template = this.#template;
    if (group.template !== template) Object.assign(group, { limiter: updated(group.limiter, template), template });
    return group.limiter;
  }

  /** Updates the limiters of all groups. If it fails with one, they are what they were before. */
  #updateAll(template: Template<RateLimiter>): void {
    const limiters = new Map<Group, RateLimiter>();
    try {
      for (const [, group] of this.#groups.entries()) limiters.set(group, updated(this.#upToDate(group), template));
    } catch (error) {
      for (const { limiter } of limiters.keys()) updated(limiter, this.#template);
      throw error;
    }
    for (const [group, limiter] of limiters) Object.assign(group, { limiter, template });
  }

  #make(name: unknown): RateLimiter {
    const template = this.#template;
    const limiter = template();
    if (!limiterKind.is(limiter)) {
      throw limiterError("make limiter of group", "limiter()", `must be a ${limiterKind.name}`, limiter);
    }
    if (this.#groups.size >= MAX_KEPT_AT_REST) {
      this.#pruner.prune((group) => this.#upToDate(group).atRest?.() === true);
    }
    this.#groups.set(name, this.#latest = { limiter, template });
    return limiter;
  }
}

/** Returns a limiter that does what a template makes: the same one, or one in its place. */
function updated(limiter: RateLimiter, template: Template<RateLimiter>): RateLimiter {
  return template.update === undefined ? template() : template.update(limiter);
}
