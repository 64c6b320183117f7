/**
 * Compares the fair discipline with a simple model of rule 13, which looks at every group each time and never forgets a
 * group.
 */

import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import process from "node:process";
import { createFairDiscipline, createPriorityDiscipline } from "@workqueue/core";
import { Entries, type MadeEntry } from "./entries.ts";

/** Number of runs. Bugs planted in the order of turns were found within 40 runs. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 200);

const GROUPS = 4;
/** Weights of the groups: powers of two, so that all times are exact. */
const WEIGHTS: Record<string, number> = { 0: 2, 1: 0.5, 2: 1 };

interface PlainGroup {
  entries: MadeEntry[];
  processing: number;
  finish: number;
  /**
   * Start of the group's next turn; `undefined` if no entry is ready. If two groups have equal starts, the group with
   * the lower `order` goes first.
   */
  start: number | undefined;
  order: number;
}

class PlainFair {
  groups: PlainGroup[] = Array.from(
    { length: GROUPS },
    () => ({ entries: [], processing: 0, finish: 0, start: undefined, order: 0 }),
  );
  virtualTime = 0;
  orders = 0;

  constructor(readonly maxPerGroup: number, readonly byPriority: boolean) {}

  clone(): PlainFair {
    const clone = new PlainFair(this.maxPerGroup, this.byPriority);
    clone.groups = this.groups.map((group) => ({ ...group, entries: [...group.entries] }));
    clone.virtualTime = this.virtualTime;
    clone.orders = this.orders;
    return clone;
  }

  get ready(): number {
    return this.groups.reduce((sum, group) => sum + this.#readyOf(group), 0);
  }

  get size(): number {
    return this.groups.reduce((sum, { entries }) => sum + entries.length, 0);
  }

  push(entry: MadeEntry, group: number): void {
    this.groups[group]!.entries.push(entry);
    this.#restart();
  }

  pop(): MadeEntry | undefined {
    const [next] = this.groups.filter(({ start }) => start !== undefined)
      .sort((a, b) => a.start! - b.start! || a.order - b.order);
    if (next === undefined) return undefined;
    const { entries } = next;
    const first = this.byPriority ? entries.reduce((a, b) => b.priority > a.priority ? b : a) : entries[0]!;
    entries.splice(entries.indexOf(first), 1);
    next.processing++;
    next.finish = next.start! + 1 / (WEIGHTS[this.groups.indexOf(next)] ?? 1);
    this.virtualTime = Math.max(this.virtualTime, next.start!);
    next.start = undefined;
    this.#restart();
    if (this.ready === 0) this.virtualTime = Math.max(...this.groups.map(({ finish }) => finish));
    return first;
  }

  /** Raises an entry's priority. The entry goes behind entries that already have the new priority. */
  raise(entry: MadeEntry, by: number, group: number): void {
    entry.priority += by;
    const { entries } = this.groups[group]!;
    if (this.byPriority && by > 0) entries.push(...entries.splice(entries.indexOf(entry), 1));
  }

  done(group: number): void {
    this.groups[group]!.processing--;
    this.#restart();
  }

  peek(limit: number): MadeEntry[] {
    const clone = this.clone();
    return Array.from({ length: Math.min(limit, this.ready) }, () => clone.pop()!);
  }

  #readyOf({ entries, processing }: PlainGroup): number {
    return Math.min(entries.length, this.maxPerGroup - processing);
  }

  /** Sets the start of each group that has ready entries but no start yet. */
  #restart(): void {
    for (const group of this.groups) {
      if (this.#readyOf(group) === 0 || group.start !== undefined) continue;
      group.start = Math.max(this.virtualTime, group.finish);
      group.order = this.orders++;
    }
  }
}

const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("push" as const), group: fc.nat(GROUPS - 1), priority: fc.nat(3) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("pop" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("done" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("raise" as const), which: fc.nat(20), by: fc.nat(2) }) },
);
/**
 * Operations without fast-check's bias toward short arrays. Short arrays leave no choice between groups; long arrays
 * reveal a wrong order within a few runs.
 */
const operations = fc.noBias(fc.array(operation, { minLength: 1, maxLength: 80, size: "max" }));

for (
  const [name, maxPerGroup, byPriority] of [
    ["any number of each group at once", Infinity, false],
    ["two of each group at once", 2, false],
    ["priorities inside of each group, strict", Infinity, true],
    ["priorities inside of each group, and one at once", 1, true],
  ] as const
) {
  Deno.test(`fair: the order follows rule 13, under random operations, with ${name}`, () => {
    fc.assert(
      fc.property(operations, (operations) => {
        const groups: number[] = [];
        const discipline = createFairDiscipline<number>({
          groupOf: (item) => groups[item],
          weights: WEIGHTS,
          maxPerGroup: maxPerGroup === Infinity ? undefined : maxPerGroup,
          within: byPriority ? () => createPriorityDiscipline({ maxHeadStart: Infinity }) : undefined,
        });
        const plain = new PlainFair(maxPerGroup, byPriority);
        const made = new Entries();
        const processing: MadeEntry[] = [];
        for (const step of operations) {
          if (step.do === "push") {
            const entry = made.next(step.priority);
            groups.push(step.group);
            discipline.push(entry);
            plain.push(entry, step.group);
          } else if (step.do === "pop") {
            if (discipline.length === 0) continue;
            const entry = discipline.pop();
            assertEquals(entry?.key, plain.pop()?.key);
            processing.push(entry as MadeEntry);
          } else if (step.do === "raise") {
            const ready = plain.groups.flatMap(({ entries }) => entries);
            if (ready.length === 0) continue;
            const entry = ready[step.which % ready.length]!;
            plain.raise(entry, step.by, groups[entry.item]!);
            discipline.touch(entry);
          } else if (processing.length > 0) {
            const [entry] = processing.splice(step.which % processing.length, 1);
            discipline.done!(entry!);
            plain.done(groups[entry!.item]!);
          }
          assertEquals([discipline.length, discipline.blocked], [plain.ready, plain.size - plain.ready]);
          assertEquals(discipline.peek!(7).map(({ key }) => key), plain.peek(7).map(({ key }) => key));
        }
      }),
      { numRuns: RUNS },
    );
  });
}
