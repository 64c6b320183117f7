/**
 * Tests that no item starves under the priority discipline. Rule 12 limits which items can overtake an item that is
 * ready. The tests check this limit under random loads.
 *
 * `WORKQUEUE_RUNS=1000000 deno task test tests/model/starvation_test.ts` runs more loads.
 */

import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import process from "node:process";
import * as fc from "fast-check";
import { createPriorityDiscipline, type QueueDiscipline, type ReadyEntry } from "@workqueue/core";
import { type Call, type Load, loads, traceOf } from "./load.ts";

/** Number of loads. Of bugs planted in lanes, ties and bounds, the rarest was found after 26. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 400);

/** Options of the discipline. `worth` is the head start per point of priority, and replaces `maxHeadStart`. */
interface Settings {
  readonly min: number;
  readonly max: number;
  readonly worth: number;
}

/** All numbers are small multiples of one quarter, so that no sum is rounded. */
const settings: fc.Arbitrary<Settings> = fc.record({
  min: fc.integer({ min: -8, max: 2 }),
  max: fc.integer({ min: 3, max: 8 }),
  worth: fc.constantFrom(0, 0.25, 1, 2.5, 10, 1000),
});

const load = loads(fc.nat(25).map(String));

function create({ min, max, worth }: Settings): QueueDiscipline<string> {
  return createPriorityDiscipline({ min, max, maxHeadStart: worth * (max - min) });
}

/** Ready item. */
interface ReadyItem {
  readonly readyAt: number;
  /** Number of items that became ready before this item. */
  readonly turn: number;
  /** Highest priority with which the item has been added so far, clamped to the bounds. */
  priority: number;
}

/** At each hand-out of an item `next`, calls `look(next, overtaken)` for each item `overtaken` that is still ready. */
function overtakings(
  trace: Call[],
  { min, max }: Settings,
  look: (next: ReadyItem, overtaken: ReadyItem) => void,
): void {
  const ready = new Map<ReadyEntry<string>, ReadyItem>();
  let now = -Infinity; // the latest time that the clock has shown
  let turns = 0;
  for (const { what, entry, at, priority: given } of trace) {
    const priority = Math.min(Math.max(given, min), max);
    if (what === "push") {
      now = Math.max(now, at);
      ready.set(entry, { readyAt: now, turn: turns++, priority });
    } else if (what === "touch") {
      ready.get(entry)!.priority = Math.max(ready.get(entry)!.priority, priority);
    } else if (what === "pop") {
      const next = ready.get(entry)!;
      ready.delete(entry);
      for (const overtaken of ready.values()) look(next, overtaken);
    }
  }
  assertEquals(ready.size, 0, "everything was handed out");
}

/**
 * Checks the theorem: an item of priority p is never overtaken by an item that became ready at least `(max - p) ×
 * worth` later.
 */
function assertNothingStarves(trace: Call[], settings: Settings): void {
  overtakings(trace, settings, (next, overtaken) => {
    const bound = overtaken.readyAt + (settings.max - overtaken.priority) * settings.worth;
    assertFalse(next.turn > overtaken.turn && next.readyAt >= bound, `${text(next)} before ${text(overtaken)}`);
  });
}

/**
 * Checks a stronger property, which implies the theorem: the next item is the item with the smallest `readyAt -
 * priority × worth`. On a tie, the item that became ready first is next. Items of equal priority are therefore handed
 * out first in, first out.
 */
function assertPriorityIsHeadStart(trace: Call[], settings: Settings): void {
  overtakings(trace, settings, (next, overtaken) => {
    const lead = (next.priority - overtaken.priority) * settings.worth;
    const later = next.readyAt - overtaken.readyAt;
    assert(later < lead || later === lead && next.turn < overtaken.turn, `${text(next)} before ${text(overtaken)}`);
  });
}

/**
 * Checks the properties that the queue must guarantee. An entry's `readyAt` is the time when the entry became ready, on
 * a clock that never goes back. The entry's priority never falls.
 */
function assertPremises(trace: Call[]): void {
  let latest = -Infinity;
  const seen = new Map<ReadyEntry<string>, { readyAt: number; priority: number }>();
  for (const { what, entry, at, readyAt, priority } of trace) {
    if (what === "push") seen.set(entry, { readyAt: latest = Math.max(latest, at), priority });
    const before = seen.get(entry)!;
    assertEquals(readyAt, before.readyAt, "when it became ready");
    assert(priority >= before.priority, "a lower priority changes nothing");
    before.priority = priority;
  }
}

function text({ readyAt, turn, priority }: ReadyItem): string {
  return `the item of priority ${priority} that became ready at ${readyAt}, as number ${turn},`;
}

Deno.test("rule 12: with priority p, no item waits longer than it would in first in, first out if it came (max - p) × A later", () => {
  fc.assert(
    fc.property(load, settings, (load, settings) => {
      const trace = traceOf(load, create(settings));
      assertPremises(trace);
      assertNothingStarves(trace, settings);
      assertPriorityIsHeadStart(trace, settings);
    }),
    { numRuns: RUNS },
  );
});

/**
 * Simple discipline in which the item with the smallest number is next. Tests can insert deliberate mistakes into this
 * discipline.
 */
class Ordered implements QueueDiscipline<string> {
  readonly #numberOf: (entry: ReadyEntry<string>) => number;
  readonly #numbers = new Map<ReadyEntry<string>, number>();

  constructor(numberOf: (entry: ReadyEntry<string>) => number) {
    this.#numberOf = numberOf;
  }

  push(entry: ReadyEntry<string>): void {
    this.#numbers.set(entry, this.#numberOf(entry));
  }

  touch(entry: ReadyEntry<string>): void {
    this.#numbers.set(entry, this.#numberOf(entry));
  }

  pop(): ReadyEntry<string> | undefined {
    const [next] = [...this.#numbers].reduce((a, b) => b[1] < a[1] ? b : a);
    this.#numbers.delete(next);
    return next;
  }

  get length(): number {
    return this.#numbers.size;
  }
}

const clamp = (priority: number, { min, max }: Settings) => Math.min(Math.max(priority, min), max);

/** Disciplines that each contain one mistake. */
const mistakes: Record<string, (settings: Settings) => QueueDiscipline<string>> = {
  "strict order": ({ min, max }) => createPriorityDiscipline({ min, max, maxHeadStart: Infinity }),
  "priorities beyond the bounds that count": ({ worth }) =>
    new Ordered(({ readyAt, priority }) => readyAt - priority * worth),
  "an item that is added again and loses its age": (settings) => {
    let now = 0;
    const ages = new Map<unknown, number>();
    const discipline = new Ordered((entry) => {
      now = Math.max(now, entry.readyAt);
      return (ages.get(entry) ?? entry.readyAt) - clamp(entry.priority, settings) * settings.worth;
    });
    const { touch } = discipline;
    discipline.touch = (entry) => {
      ages.set(entry, now);
      touch.call(discipline, entry);
    };
    return discipline;
  },
  "a raise that counts for nothing": (settings) => {
    const discipline = new Ordered(({ readyAt, priority }) => readyAt - clamp(priority, settings) * settings.worth);
    discipline.touch = () => {};
    return discipline;
  },
};

for (const [mistake, createWrong] of Object.entries(mistakes)) {
  Deno.test(`the check of rule 12 notices a mistake: ${mistake}`, () => {
    const isKept = (load: Load, settings: Settings) =>
      assertNothingStarves(traceOf(load, createWrong(settings)), settings);
    const { errorInstance } = fc.check(fc.property(load, settings, isKept), { numRuns: 2000, endOnFailure: true });
    assertStringIncludes(String(errorInstance), "before the item of priority");
  });
}

Deno.test("overloaded by urgent items, an ordinary item waits as long as the bound says; under a strict order, until the overload ends", () => {
  const ordinary = 4;
  const arrivals = Array.from({ length: 1000 }, (_, i) => ({
    after: 1,
    how: "add" as const,
    key: String(i),
    delay: 0,
    priority: i === ordinary ? 0 : 10,
    jump: 0,
  }));
  const works = Array(1000).fill({ takes: 2, then: "done", priority: 0 });
  const load: Load = { workers: 1, addWhileDelayed: "keep", arrivals, works };
  const placeOf = (maxHeadStart: number) =>
    traceOf(load, createPriorityDiscipline({ min: 0, max: 10, maxHeadStart }))
      .filter(({ what }) => what === "pop").findIndex(({ entry }) => entry.key === String(ordinary));
  assertEquals([0, 100, Infinity].map(placeOf), [ordinary, ordinary + 99, 999]);
});
