/**
 * Limiter with a separate limiter for each group of items, such as each host, tenant or token.
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
import type { NOT_COUNTED } from "../lib/base/brands.ts";
import type { FailedAttempt, FailedStart, RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { Clock } from "../lib/base/clock.ts";
import { ChurnMap } from "../lib/base/churn_map.ts";
import { inSlices } from "../lib/structures/in_slices.ts";
import { Pruner } from "../lib/structures/pruner.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Template } from "../registry/fields.ts";
import { createGroupedInCode, groupBySeparator, type GroupOf } from "../registry/grouping.ts";
import { stringKind } from "../registry/option_kinds.ts";
import { partTemplate } from "../registry/options_in_code.ts";
import { type LimiterDefinition, type LimiterFields, limiterKind } from "./definition.ts";
import { nextOf, tellForgotten } from "./next.ts";

export type * from "./types.ts";

/** A limiter with a separate limiter for each group of items. */
export interface PerGroupLimiter<T = unknown, L extends RateLimiter<T> = RateLimiter<T>> extends RateLimiter<T> {
  /**
   * Returns the limiter of an item's group. If the group has no limiter, creates one.
   *
   * Call this method each time you need the limiter; don't keep the result. A limiter that is at rest may be dropped
   * and created again, and the new limiter doesn't know about tokens taken from the old limiter.
   *
   * @param item The item.
   * @param key The item's key. Default: the item itself.
   * @returns The limiter.
   * @throws {TypeError} If the groups have a `separator` and the key is not a string.
   */
  of(item: T, key?: unknown): L;
}

/** Options of a per-group limiter. */
export const perGroupOptions = {
  separator: {
    kind: "string",
    minLength: 1,
    startsAfresh: true,
    description: "Text that ends the name of the group in a key. A key without the separator is a group of its own.",
  },
  limiter: { kind: "limiter", template: true, description: "Limiter that is copied for each group." },
} as const satisfies LimiterFields;

/** Definition of `{ "type": "per-group" }`. */
export const perGroup: LimiterDefinition<"per-group", typeof perGroupOptions> = {
  type: "per-group",
  description: "Gives each group its own limiter.",
  options: perGroupOptions,
  create: /* @__PURE__ */ builtIn(
    1,
    ({ separator, limiter }, { clock }) => new LimiterOfGroups(groupBySeparator(separator), limiter, clock),
  ),
  update: /* @__PURE__ */ builtIn(
    1,
    (part: LimiterOfGroups, { separator, limiter }) => part.change(groupBySeparator(separator), limiter),
  ),
};

/**
 * Creates a limiter that gives each group of items its own limiter, such as a bucket for each host. A group's limiter
 * is created when it is first needed.
 *
 * A limiter that is at rest behaves like a new limiter. Such a limiter is dropped, and created again when its group
 * next needs it, so old groups use no memory. Each new group triggers a check of a few other groups. While there are
 * fewer than a hundred groups, no limiter is dropped. A limiter that doesn't implement `atRest` (see
 * {@linkcode RateLimiter}) is never dropped.
 *
 * If groups share a limiter, such as a bucket for all of them, put the shared limiter and the per-group limiter side by
 * side in a max-of limiter. Inside the per-group limiter, a busy shared limiter would prevent every group from being at
 * rest.
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
 * limiter.of("https://b.example/1").bucket.pauseFor("1m"); // the host asked for it
 * assertEquals(limiter.when("https://b.example/2"), 61_000);
 * ```
 *
 * @typeParam T The type of the items.
 * @typeParam L The type of the groups' limiters.
 * @param options `limiter`: creates the limiter of a group. Exactly one of `groupOf` and `separator` is also required.
 * `groupOf`: returns the group of an item; groups are compared as keys of a `Map`, and items with the same key must be
 * in the same group. `separator`: the group is the text before the first separator in the item's key, or the whole key
 * if it has no separator; the key must be a string.
 * @returns The limiter, which is at rest if the limiters of all groups are at rest. The method `atRest` checks the
 * limiter of each group.
 * @throws {TypeError} If `groupOf` and `separator` are both given or both missing, or an option is unknown, missing, or
 * has the wrong type.
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
    "limiter",
    perGroup,
    { string: stringKind, limiter: partTemplate(limiterKind) },
    options,
    (groupOf, { limiter }, { clock }) => new LimiterOfGroups(groupOf, limiter, clock),
  ) as PerGroupLimiter<T, L>;
}

/** Maximum number of limiters that are kept without checking whether they are at rest. */
const MAX_KEPT_AT_REST = 100;

/** Limiter of a group, and the template from which it was created or last updated. */
interface Group {
  limiter: RateLimiter;
  template: Template<RateLimiter>;
}

class LimiterOfGroups implements PerGroupLimiter {
  readonly #groups = new ChurnMap<unknown, Group>();
  readonly #pruner = new Pruner(this.#groups);
  readonly #clock: Clock;
  /** The group that was created last, even if it has been dropped since. */
  #latest: Group | undefined = undefined;
  #groupOf: GroupOf;
  #template: Template<RateLimiter>;

  constructor(groupOf: GroupOf, template: Template<RateLimiter>, clock: Clock) {
    this.#groupOf = groupOf;
    this.#template = template;
    this.#clock = clock;
  }

  /**
   * Changes the limiters of all groups. If an update may throw, all limiters are changed immediately. Otherwise, they
   * are changed gradually, in time slices, and a limiter that is used before its turn is changed when it is used.
   * Existing groups keep their names, even if `groupOf` changes.
   *
   * @throws The error of the first update that throws. In that case, all limiters are unchanged.
   */
  change(groupOf: GroupOf, template: Template<RateLimiter>): void {
    if (!template.neverRefuses) this.#updateAll(template);
    this.#groupOf = groupOf;
    this.#template = template;
    const names = this.#groups.keys();
    inSlices(() => {
      if (this.#template !== template) return false; // a newer change updates all groups itself
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

  when(item: unknown, key: unknown = item, attempt?: FailedStart): number {
    return this.of(item, key).when(item, key, attempt);
  }

  next(failures: number, item: unknown, key: unknown, retry: FailedAttempt): number | typeof NOT_COUNTED {
    return nextOf(this.of(item, key), failures, item, key, retry);
  }

  /** The `countsFailures` of the latest group's limiter, as for `forgetAfter`. */
  get countsFailures(): RateLimiter["countsFailures"] {
    return this.#latest && this.#upToDate(this.#latest).countsFailures;
  }

  forgotten(item: unknown, key: unknown): void {
    const limiter = this.#find(item, key);
    if (limiter !== undefined) tellForgotten(limiter, item, key);
  }

  /**
   * The `forgetAfter` of the latest group's limiter. All groups have the same options, so each group has the same
   * value.
   */
  get forgetAfter(): number | undefined {
    return this.#latest && this.#upToDate(this.#latest).forgetAfter;
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

  /**
   * Returns the limiter of an item's group, if the group has one. No limiter is created, because a new limiter would
   * have no counts.
   */
  #find(item: unknown, key: unknown): RateLimiter | undefined {
    const group = this.#groups.get(this.#groupOf(item as never, key));
    return group && this.#upToDate(group);
  }

  /** Returns a group's limiter, updated to the newest template. */
  #upToDate(group: Group): RateLimiter {
    const template = this.#template;
    if (group.template !== template) Object.assign(group, { limiter: updated(group.limiter, template), template });
    return group.limiter;
  }

  /** Updates the limiters of all groups. If one update fails, undoes the others. */
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

/** Updates a limiter to a template. Returns the same limiter, or a replacement. */
function updated(limiter: RateLimiter, template: Template<RateLimiter>): RateLimiter {
  return template.update === undefined ? template() : template.update(limiter);
}
