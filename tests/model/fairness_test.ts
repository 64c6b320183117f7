/**
 * Tests of the fair discipline against the bounds of start-time fair queuing (Goyal, Vin, Cheng, SIGCOMM 1996), under
 * random loads. The unit of work is one item.
 *
 * `WORKQUEUE_RUNS=1000000 deno task test tests/model/fairness_test.ts` runs more schedules.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import process from "node:process";
import * as fc from "fast-check";
import {
  createFairDiscipline,
  createPriorityDiscipline,
  createWorkQueue,
  type QueueDiscipline,
  type ReadyEntry,
  type WorkQueue,
} from "@workqueue/core";
import { take } from "../queue_helpers.ts";
import { type Call, type Load, loads, traceOf } from "./load.ts";

/** Number of schedules. Bugs planted in turns, virtual time and limits were found within 4. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 400);

interface Settings {
  readonly weights: Readonly<Record<string, number>>;
  readonly maxPerGroup: number | undefined;
  /** Whether the items within each group are ordered by priority instead of first in, first out. */
  readonly hasPriorities: boolean;
}

const GROUPS = ["a", "b", "c", "d"];

/** Weights whose reciprocals can be represented and summed exactly, so that no bound needs a tolerance. */
const weight = fc.tuple(fc.constantFrom(1, 2, 8), fc.integer({ min: 1, max: 12 })).map(([n, d]) => n / d);

const settings: fc.Arbitrary<Settings> = fc.record({
  weights: fc.dictionary(fc.constantFrom(...GROUPS), weight),
  maxPerGroup: fc.constantFrom(undefined, undefined, 1, 2),
  hasPriorities: fc.boolean(),
});

/** Keys of a few busy groups, and of groups that appear once or rarely. */
const key = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...GROUPS), fc.nat(12)) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(1000).map((name) => `new ${name}`), fc.nat(1)) },
).map(([group, id]) => `${group}/${id}`);

const load = loads(key);

function create({ weights, maxPerGroup, hasPriorities }: Settings): QueueDiscipline<string> {
  const within = hasPriorities ? () => createPriorityDiscipline<string>({ maxHeadStart: 20 }) : undefined;
  return createFairDiscipline({ separator: "/", weights, maxPerGroup, within });
}

function groupOf({ item }: ReadyEntry<string>): string {
  return item.split("/")[0]!;
}

/** State of a group, as seen from outside the discipline. */
class Group {
  readonly entries: ReadyEntry<string>[] = [];
  processing = 0;

  constructor(readonly name: string, readonly cost: number, readonly maxProcessing: number) {}

  /** Number of items that may be handed out now. */
  get ready(): number {
    return Math.max(0, Math.min(this.entries.length, this.maxProcessing - this.processing));
  }
}

/**
 * Replay of a trace. The replay reports each hand-out, together with the groups that had ready items just before the
 * hand-out.
 */
abstract class Schedule {
  readonly groups = new Map<string, Group>();
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Replays the trace. */
  follow(trace: Call[]): void {
    const { weights, maxPerGroup = Infinity } = this.#settings;
    for (const call of trace) {
      const name = groupOf(call.entry);
      let group = this.groups.get(name);
      if (group === undefined) this.groups.set(name, group = new Group(name, 1 / (weights[name] ?? 1), maxPerGroup));
      const before = group.ready;
      if (call.what === "pop") this.handsOut(group, this.readyGroups());
      if (call.what === "push") group.entries.push(call.entry);
      if (call.what === "done") group.processing--;
      if (call.what === "pop") {
        const place = group.entries.indexOf(call.entry);
        assert(place >= 0, "what is handed out was ready");
        group.entries.splice(place, 1);
        group.processing++;
      }
      if (before === 0 && group.ready > 0) this.becomesReady(group);
      this.after(call);
    }
  }

  readyGroups(): Group[] {
    return [...this.groups.values()].filter(({ ready }) => ready > 0);
  }

  becomesReady(_group: Group): void {}

  handsOut(_group: Group, _ready: Group[]): void {}

  after(_call: Call): void {}
}

/**
 * Check of the groups' shares of the work. Two groups that always have ready items get work in proportion to their
 * weights, to within one item per group: `|W_f / w_f - W_g / w_g| <= 1 / w_f + 1 / w_g` (theorem 1 of the paper). The
 * bound holds for every series of consecutive hand-outs.
 */
class Shares extends Schedule {
  /**
   * For each pair of groups, the difference between their weighted work: its current value, and its smallest and
   * largest values since both groups became ready.
   */
  #differences = new Map<string, { now: number; least: number; most: number }>();

  override handsOut(next: Group, ready: Group[]): void {
    const before = this.#differences;
    this.#differences = new Map();
    for (const [i, f] of ready.entries()) {
      for (const g of ready.slice(i + 1)) {
        const pair = `${f.name} and ${g.name}`;
        const difference = before.get(pair) ?? { now: 0, least: 0, most: 0 };
        difference.now += next === f ? f.cost : next === g ? -g.cost : 0;
        difference.least = Math.min(difference.least, difference.now);
        difference.most = Math.max(difference.most, difference.now);
        assert(difference.most - difference.least <= f.cost + g.cost, `unequal shares of ${pair}`);
        this.#differences.set(pair, difference);
      }
    }
  }
}

/**
 * Check of waiting times. Before a ready group f gets its next turn, every other group g gets at most `ceil(w_g / w_f)`
 * turns, even if g becomes ready meanwhile. A new group waits for at most one item of each group that is ready when the
 * new group appears, and for no other items.
 */
class Turns extends Schedule {
  /**
   * For each ready group, how many items of each other group were handed out since the ready group became ready or had
   * its last turn.
   */
  readonly #waits = new Map<Group, { served: Map<Group, number>; before: Group[] | undefined }>();
  readonly #known = new Set<Group>();

  override becomesReady(group: Group): void {
    const before = this.#known.has(group) ? undefined : this.readyGroups();
    this.#waits.set(group, { served: new Map(), before });
  }

  override handsOut(next: Group, ready: Group[]): void {
    this.#known.add(next);
    for (const group of ready) {
      if (group === next) {
        this.#waits.set(group, { served: new Map(), before: undefined });
        continue;
      }
      const { served, before } = this.#waits.get(group)!;
      const count = (served.get(next) ?? 0) + 1;
      served.set(next, count);
      const most = before === undefined ? Math.ceil(group.cost / next.cost) : +before.includes(next);
      assert(count <= most, `too long a wait of ${group.name} for ${next.name}`);
    }
  }
}

/**
 * Check that `maxPerGroup` is respected, that `blocked` is correct, that no worker is idle unnecessarily, and that no
 * item is lost.
 */
class Limits extends Schedule {
  #last: Call | undefined;

  override follow(trace: Call[]): void {
    super.follow(trace);
    for (const { entries } of this.groups.values()) assertEquals(entries, [], "everything was handed out");
    assertEquals(trace.at(-1)?.what, "done");
  }

  override after(call: Call): void {
    let length = 0;
    let size = 0;
    for (const group of this.groups.values()) {
      assert(group.processing <= group.maxProcessing, "as many as may be processing");
      length += group.ready;
      size += group.entries.length;
    }
    assert(call.length === length && call.blocked === size - length, "what may be handed out, and what is blocked");
    if (this.#last !== undefined && this.#last.at !== call.at) assert(this.#last.length === 0 || this.#last.idle === 0);
    this.#last = call;
  }
}

/** Check of the algorithm itself: the group with the smallest start tag is next, and virtual time never falls. */
class Tags extends Schedule {
  readonly #tags = new Map<Group, { start: number; finish: number }>();
  #now = 0;
  #latestFinish = 0;

  override becomesReady(group: Group): void {
    const finish = this.#tags.get(group)?.finish ?? 0;
    this.#tags.set(group, { start: Math.max(this.#now, finish), finish });
  }

  override handsOut(next: Group, ready: Group[]): void {
    const tags = this.#tags.get(next)!;
    for (const group of ready) assert(tags.start <= this.#tags.get(group)!.start, "the smallest start is next");
    assert(tags.start >= this.#now, "virtual time never falls");
    this.#now = tags.start;
    tags.start = tags.finish = tags.start + next.cost;
    this.#latestFinish = Math.max(this.#latestFinish, tags.finish);
  }

  override after(): void {
    if (this.readyGroups().length === 0) this.#now = Math.max(this.#now, this.#latestFinish);
  }
}

const BOUNDS = [Shares, Turns, Limits];

Deno.test("rule 13: every schedule keeps the bounds of start-time fair queuing", () => {
  fc.assert(
    fc.property(load, settings, (load, settings) => {
      const trace = traceOf(load, create(settings));
      for (const Check of [...BOUNDS, Tags]) new Check(settings).follow(trace);
    }),
    { numRuns: RUNS },
  );
});

/** Deliberate mistake in the algorithm. */
interface Mistake {
  readonly startOf?: (now: number, finish: number, cost: number) => number;
  readonly costOf?: (weight: number) => number;
  /** Returns the finish time that a group keeps after it becomes empty. */
  readonly remembered?: (finish: number) => number;
}

interface PlainGroup {
  readonly entries: ReadyEntry<string>[];
  readonly cost: number;
  start: number;
  finish: number;
  /** Tie-breaker: among groups with equal start tags, the group whose start tag was set first is next. */
  turn: number;
}

/** Simple implementation of start-time fair queuing, into which tests can insert deliberate mistakes. */
class PlainFair implements QueueDiscipline<string> {
  length = 0;
  readonly #groups = new Map<string, PlainGroup>();
  #now = 0;
  #turns = 0;

  constructor(readonly settings: Settings, readonly mistake: Mistake) {}

  push(entry: ReadyEntry<string>): void {
    const { costOf = (weight) => 1 / weight, startOf = (now, finish) => Math.max(now, finish) } = this.mistake;
    const name = groupOf(entry);
    const cost = costOf(this.settings.weights[name] ?? 1);
    const group = this.#groups.get(name) ?? { entries: [], cost, start: 0, finish: 0, turn: 0 };
    this.#groups.set(name, group);
    if (group.entries.length === 0) {
      group.start = startOf(this.#now, group.finish, cost);
      group.turn = ++this.#turns;
    }
    group.entries.push(entry);
    this.length++;
  }

  touch(): void {}

  pop(): ReadyEntry<string> | undefined {
    const { remembered = (finish) => finish } = this.mistake;
    const next = [...this.#groups.values()].filter(({ entries }) => entries.length > 0)
      .reduce((a, b) => (b.start - a.start || b.turn - a.turn) < 0 ? b : a);
    this.#now = next.start;
    next.start = next.finish = next.start + next.cost;
    next.turn = ++this.#turns;
    const entry = next.entries.shift();
    if (next.entries.length === 0) next.finish = remembered(next.finish);
    this.length--;
    return entry;
  }
}

const mistakes: Record<string, Mistake> = {
  "a group that is forgotten when it is empty": { remembered: () => 0 },
  "a group that saves up turns while it is idle": { startOf: (_now, finish) => finish },
  "a group that has to let others pass before its first turn": {
    startOf: (now, finish, cost) => Math.max(now + cost, finish),
  },
  "weights that count for nothing": { costOf: () => 1 },
  "weights that are taken for costs": { costOf: (weight) => weight },
};

function plainlyKeepsBounds(mistake: Mistake): fc.IProperty<[Load, Settings]> {
  return fc.property(load, settings, (load, given) => {
    const settings = { ...given, maxPerGroup: undefined };
    const trace = traceOf(load, new PlainFair(settings, mistake));
    for (const Check of BOUNDS) new Check(settings).follow(trace);
  });
}

Deno.test("the published algorithm keeps the bounds of rule 13", () => {
  fc.assert(plainlyKeepsBounds({}), { numRuns: Math.min(RUNS, 200) });
});

for (const [what, mistake] of Object.entries(mistakes)) {
  Deno.test(`a run that breaks the bounds of rule 13 is noticed: ${what}`, () => {
    const { errorInstance } = fc.check(plainlyKeepsBounds(mistake), { numRuns: 5000, endOnFailure: true });
    assertMatch(String(errorInstance), /unequal shares|too long a wait/);
  });
}

/**
 * Takes `count` items, one at a time, and adds an item again if its group is in `readded`. Returns the number of items
 * taken from each group.
 */
function takeInTurn(queue: WorkQueue<string>, count: number, readded: string[] = []): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i < count; i++) {
    using lease = take(queue);
    const [group] = lease.item.split("/") as [string];
    counts.set(group, (counts.get(group) ?? 0) + 1);
    if (readded.includes(group)) queue.add(lease.item);
  }
  return counts;
}

function fairQueue(): WorkQueue<string> {
  return createWorkQueue({ discipline: createFairDiscipline({ separator: "/" }) });
}

Deno.test("rule 13: a group that adds its only item again gets half of the turns beside a backlog, and not all", () => {
  const queue = fairQueue();
  for (let i = 0; i < 1000; i++) queue.add(`backlog/${i}`);
  queue.add("single/0");
  assertEquals(Object.fromEntries(takeInTurn(queue, 1000, ["single"])), { backlog: 500, single: 500 });
});

Deno.test("rule 13: a group that was idle while another had a thousand turns gets at most half of the turns", () => {
  const queue = fairQueue();
  for (let i = 0; i < 2000; i++) queue.add(`busy/${i}`);
  queue.add("idle/first");
  takeInTurn(queue, 1000);
  for (let i = 0; i < 1000; i++) queue.add(`idle/${i}`);
  assertEquals(Object.fromEntries(takeInTurn(queue, 100)), { idle: 50, busy: 50 });
});

Deno.test("rule 13: groups that are new with each item go before the second item of an old group, and never delay a newcomer", () => {
  const queue = fairQueue();
  queue.add("steady/0");
  queue.add("steady/1");
  for (let i = 0; i < 1000; i++) {
    queue.add(`new ${i}/0`);
    assertEquals([...takeInTurn(queue, 1).keys()], [i === 0 ? "steady" : `new ${i - 1}`]);
  }
  queue.add("newcomer/0");
  queue.add("newer/0");
  assertEquals([...takeInTurn(queue, 4).keys()], ["new 999", "newcomer", "newer", "steady"]);
});
