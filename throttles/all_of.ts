/**
 * Throttle that combines others: all of them must grant a permit.
 *
 * Effect: starts an attempt when all of several throttles allow it.
 *
 * Choose it when several limits apply, such as requests a minute and attempts at once.
 *
 * ```json
 * {
 *   "type": "all-of",
 *   "throttles": [
 *     { "type": "bucket", "rate": 10, "burst": 5 },
 *     { "type": "concurrency", "limit": 4 }
 *   ]
 * }
 * ```
 *
 * @module
 */

import type { AttemptResult, OwnThrottle, Permit, Throttle, ThrottleSnapshot } from "../lib/contracts/throttle.ts";
import { endAll, throttleOf, UNUSED } from "../lib/tokens/own_throttle.ts";
import { lineOf, type ThrottledPool, type ThrottleLine } from "../lib/tokens/throttle_line.ts";
import { Watchers } from "../lib/structures/waiters.ts";
import { builtIn } from "../registry/built_in.ts";
import { partList } from "../registry/options_in_code.ts";
import { createThrottle, type ThrottleDefinition, type ThrottleFields, throttleKind } from "./definition.ts";

export type * from "./types.ts";

/** Options of an all-of throttle. */
export const allOfOptions = {
  throttles: { kind: "throttles", minItems: 1, description: "Throttles that must all agree, as configs or names." },
} as const satisfies ThrottleFields;

/** Definition of `{ "type": "all-of" }`. */
export const allOf: ThrottleDefinition<"all-of", typeof allOfOptions> = {
  type: "all-of",
  description: "Starts an attempt when all of several throttles allow it.",
  options: allOfOptions,
  create: ({ throttles }) => new AllOfThrottle(throttles),
  update: /* @__PURE__ */ builtIn(1, (throttle: AllOfThrottle, { throttles }) => throttle.change(throttles)),
};

/**
 * Creates a throttle that grants a permit when all the given throttles do. If some refuse, the pool asks again after
 * the longest time that one of them says, or earlier if other pools wait for one of the throttles. Each attempt is
 * booked with all of them, once even if a throttle is given twice.
 *
 * @example Ten a second, and at most four at once
 * ```ts
 * import { createAllOfThrottle, createBucketThrottle, createConcurrencyThrottle } from "@workqueue/core/throttles";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using _time = new FakeTime();
 * const bucket = createBucketThrottle({ rate: 10, burst: 5 });
 * const throttle = createAllOfThrottle(bucket, createConcurrencyThrottle({ limit: 4 }));
 * const permits = [1, 2, 3, 4, 5].map(() => throttle.acquire());
 * assertEquals(permits.map((permit) => typeof permit), ["object", "object", "object", "object", "number"]);
 * assertEquals(bucket.tokens, 1);
 * ```
 *
 * @param throttles The throttles to combine; at least one.
 * @returns The throttle.
 * @throws {TypeError} If there is no throttle, or an argument is not a throttle.
 */
export function createAllOfThrottle(...throttles: Throttle[]): Throttle {
  return createThrottle(allOf, { throttles: partList(throttleKind) }, { throttles });
}

/**
 * Factor by which a pool that also waits for other throttles may prolong the wait of the pools behind it in the line of
 * a throttle. After that time, those pools are served first.
 */
const DETENTION = 2;

class AllOfThrottle implements OwnThrottle {
  #throttles!: readonly OwnThrottle[];
  readonly #watchers = new Watchers();
  /** Permits that have not ended. */
  readonly #permits = new Set<AllOfPermit>();
  /** Number of calls of `acquire`. */
  #asked = 0;
  #isAsking = false;
  /** Whether a throttle has changed since the last call of `acquire` began. */
  #wasTold = false;
  /** Places in the lines of the throttles, beside the pools that use these throttles directly; empty without pools. */
  #places: readonly Place[] = [];

  constructor(throttles: readonly Throttle[]) {
    this.#throttles = distinct(throttles);
  }

  get ignoresDurations(): boolean {
    return this.#throttles.every(({ ignoresDurations }) => ignoresDurations);
  }

  get free(): number {
    return Math.min(...this.#throttles.map(({ free = 1 }) => free));
  }

  /** Replaces the throttles. New ones count the attempts that are running. */
  change(throttles: readonly Throttle[]): void {
    const before = this.#throttles;
    this.#throttles = distinct(throttles);
    for (const throttle of this.#throttles) {
      if (before.includes(throttle)) continue;
      for (const permit of this.#permits) permit.adopt(throttle);
    }
    if (this.#watchers.size > 0) this.#standInLines();
    this.#watchers.tell();
  }

  acquire(): Permit | number {
    this.#asked++;
    this.#isAsking = true;
    this.#wasTold = false;
    try {
      const answer = this.#askAll();
      return typeof answer === "number" && this.#wasTold ? 1 : answer; // another pool may have been served in its place
    } finally {
      this.#isAsking = false;
    }
  }

  #askAll(): Permit | number {
    const places = this.#places;
    const permits = new Map<OwnThrottle, Permit>();
    const waits: number[] = [];
    try {
      for (const [i, throttle] of this.#throttles.entries()) {
        const answer = places[i]?.ask() ?? throttle.acquire();
        if (typeof answer === "number") waits.push(answer);
        else permits.set(throttle, answer);
      }
    } catch (error) {
      endAll(permits.values(), UNUSED);
      throw error;
    }
    if (waits.length > 0) endAll(permits.values(), UNUSED);
    for (const [i, throttle] of this.#throttles.entries()) if (permits.has(throttle)) places[i]?.serveOthers();
    if (waits.length === 0) return this.#permitOf(permits);
    const longest = Math.max(...waits);
    return places.length === 0 ? longest : Math.min(longest, DETENTION * Math.min(...waits));
  }

  adopt(): Permit {
    const permit = this.#permitOf(new Map());
    for (const throttle of this.#throttles) permit.adopt(throttle);
    return permit;
  }

  leave(): void {
    for (const [i, throttle] of this.#throttles.entries()) {
      if (this.#places[i] === undefined) throttle.leave?.();
      else this.#places[i].leave();
    }
  }

  charge(cost: number): void {
    for (const throttle of this.#throttles) throttle.charge?.(cost);
  }

  onChange(callback: () => void): () => void {
    const end = this.#watchers.add(callback);
    if (this.#watchers.size === 1) this.#standInLines();
    return () => {
      end();
      if (this.#watchers.size === 0) this.#quitLines();
    };
  }

  snapshot(): ThrottleSnapshot {
    const snapshots = this.#throttles.map((throttle) => throttle.snapshot?.()).filter((shown) => shown !== undefined);
    return {
      limit: Math.min(Infinity, ...snapshots.map(({ limit }) => limit)),
      inUse: this.#permits.size,
      state: snapshots.map(({ state }) => state).filter((state) => state !== "").join("; "),
    };
  }

  #permitOf(permits: Map<OwnThrottle, Permit>): AllOfPermit {
    const permit = new AllOfPermit(permits, () => this.#permits.delete(permit));
    this.#permits.add(permit);
    return permit;
  }

  #standInLines(): void {
    this.#quitLines();
    this.#places = this.#throttles.map((throttle) => new Place(lineOf(throttle), () => this.#takeTurn()));
  }

  /** Lets the pools ask. If no pool asks, leaves the lines, because otherwise the pools behind would be blocked. */
  #takeTurn(): void {
    const asked = this.#asked;
    this.#wasTold = true;
    if (this.#isAsking) return;
    this.#watchers.tell();
    if (this.#asked === asked) this.leave();
  }

  #quitLines(): void {
    const places = this.#places;
    this.#places = [];
    for (const place of places) place.quit();
  }
}

/** Place in the line of a throttle. Its pools ask again by themselves, so it needs no timer. */
class Place implements ThrottledPool {
  readonly clock = undefined;
  readonly onTurn: () => void;
  readonly #line: ThrottleLine;

  constructor(line: ThrottleLine, onTurn: () => void) {
    this.#line = line;
    this.onTurn = onTurn;
    line.join(this);
  }

  ask(): Permit | number {
    return this.#line.ask(this);
  }

  serveOthers(): void {
    this.#line.serve();
  }

  leave(): void {
    this.#line.leave(this);
  }

  quit(): void {
    this.#line.quit(this);
  }
}

class AllOfPermit implements Permit {
  readonly #permits: Map<OwnThrottle, Permit>;
  readonly #onEnd: () => void;

  constructor(permits: Map<OwnThrottle, Permit>, onEnd: () => void) {
    this.#permits = permits;
    this.#onEnd = onEnd;
  }

  /** Takes a permit of another throttle, unless there is one already. */
  adopt(throttle: OwnThrottle): void {
    const permit = this.#permits.has(throttle) ? undefined : throttle.adopt?.();
    if (permit !== undefined) this.#permits.set(throttle, permit);
  }

  begin(cost: number): void {
    for (const permit of this.#permits.values()) permit.begin(cost);
  }

  charge(cost: number): void {
    for (const permit of this.#permits.values()) permit.charge(cost);
  }

  end(result: AttemptResult): void {
    this.#onEnd();
    endAll(this.#permits.values(), result);
  }
}

/** Returns the throttles that pools wait for. A throttle that is named twice counts once. */
function distinct(throttles: readonly Throttle[]): OwnThrottle[] {
  return [...new Set(throttles.map(throttleOf))];
}
