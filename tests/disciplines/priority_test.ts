import { assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import process from "node:process";
import { createPriorityDiscipline, createWorkQueue, disciplines, type QueueDiscipline } from "@workqueue/core";
import { HandClock, issuesOf } from "../helpers.ts";
import { randomNumbers, takeAll } from "../queue_helpers.ts";
import { Entries, type MadeEntry } from "./entries.ts";

/** Number of runs. Of bugs planted in lanes, ties and bounds, the rarest was found after 26. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 300);

/** Creates a queue whose clock only moves when the test moves it. */
function queueWith(discipline: QueueDiscipline<string>) {
  const clock = new HandClock();
  return { clock, queue: createWorkQueue<string>({ discipline, clock }) };
}

Deno.test("priority: items that became ready at once are handed out by priority, and equal priorities in order", () => {
  const { queue } = queueWith(createPriorityDiscipline());
  queue.add("low", { priority: -5 });
  queue.add("a");
  queue.add("high", { priority: 7 });
  queue.add("b");
  queue.add("highest", { priority: 100 });
  assertEquals(takeAll(queue), ["highest", "high", "a", "b", "low"]);
});

Deno.test("priority: each point is worth a head start, so an urgent item that came too late goes last", () => {
  const { queue, clock } = queueWith(createPriorityDiscipline({ min: 0, max: 10, maxHeadStart: "10s" }));
  queue.add("low");
  clock.time = 2999;
  queue.add("sooner", { priority: 3 });
  clock.time = 3001;
  queue.add("too late", { priority: 3 });
  clock.time = 9998;
  queue.add("most urgent", { priority: 10 });
  assertEquals(takeAll(queue), ["most urgent", "sooner", "low", "too late"]);
});

Deno.test("priority: an item of the lowest priority goes before every item that comes after the longest head start", () => {
  const { queue, clock } = queueWith(createPriorityDiscipline({ maxHeadStart: "1m" }));
  queue.add("low", { priority: -100 });
  const order: string[] = [];
  for (let i = 0; i < 100; i++) { // each round adds two items and hands out one
    clock.time += 1000;
    for (let j = 0; j < 2; j++) queue.add(`high ${i} ${j}`, { priority: 100 });
    using lease = queue.tryGet()!;
    order.push(lease.item!);
  }
  // The head start is 60 s, so "high 59" (ready at 60 s) comes after "low".
  const all = [...order, ...takeAll(queue)];
  const at = all.indexOf("low");
  assertEquals([all[at - 1], all[at + 1]], ["high 58 1", "high 59 0"]);
});

Deno.test("priority: a priority beyond the bounds counts as the bound", () => {
  const { queue } = queueWith(createPriorityDiscipline({ min: -1, max: 1 }));
  queue.add("low", { priority: -1 });
  queue.add("lowest", { priority: -99 });
  queue.add("high", { priority: 1 });
  queue.add("highest", { priority: 99 });
  assertEquals(takeAll(queue), ["high", "highest", "low", "lowest"]);
});

Deno.test("priority: the order is right with the closest and the furthest bounds", () => {
  for (const [min, max] of [[0, 1e-6], [-1e9, 1e9]] as const) {
    const { queue } = queueWith(createPriorityDiscipline({ min, max }));
    queue.add("low", { priority: min });
    queue.add("middle", { priority: (min + max) / 2 });
    queue.add("high", { priority: max });
    assertEquals(takeAll(queue), ["high", "middle", "low"]);
  }
});

Deno.test("priority: adding an item again with a higher priority keeps its age; a lower priority changes nothing", () => {
  const { queue, clock } = queueWith(createPriorityDiscipline({ min: 0, max: 10, maxHeadStart: "10s" }));
  queue.add("old");
  clock.time = 1000;
  queue.add("urgent", { priority: 5 });
  queue.add("old", { priority: 5 });
  queue.add("urgent", { priority: 1 });
  assertEquals(takeAll(queue), ["old", "urgent"]);
});

Deno.test("priority: without a head start, the order is first in, first out", () => {
  const { queue } = queueWith(createPriorityDiscipline({ maxHeadStart: 0 }));
  ["a", "b", "c"].forEach((item, priority) => queue.add(item, { priority }));
  assertEquals(takeAll(queue), ["a", "b", "c"]);
});

Deno.test("priority: strict: the highest goes first however long the others wait, and a raised item goes last among equals", () => {
  for (const maxHeadStart of [Infinity, "unlimited"]) {
    const { queue, clock } = queueWith(createPriorityDiscipline({ maxHeadStart }));
    queue.add("low", { priority: -100 });
    queue.add("raised");
    clock.time = 1e12;
    queue.add("high", { priority: 1 });
    queue.add("raised", { priority: 1 });
    queue.add("high", { priority: 1 });
    assertEquals(takeAll(queue), ["high", "raised", "low"]);
  }
});

Deno.test("priority: a config creates the discipline", () => {
  const discipline = disciplines.build<string>({ type: "priority", min: 0, max: 1, maxHeadStart: "1s" });
  const { queue, clock } = queueWith(discipline);
  queue.add("low");
  clock.time = 999;
  queue.add("high", { priority: 5 });
  assertEquals(takeAll(queue), ["high", "low"]);
});

Deno.test("priority: invalid options are refused, in code and in a config", () => {
  const cases: [options: object, path: string, message: string][] = [
    [{ min: 5, max: 5 }, "/max", "'max' must be greater than 'min' by at least 0.000001, got 5"],
    [{ min: 200 }, "/max", "'max' must be greater than 'min' by at least 0.000001, got 100"],
    [{ min: 0, max: 1e-310 }, "/max", "'max' must be greater than 'min' by at least 0.000001, got 1e-310"],
    [{ min: NaN }, "/min", "'min' must be a number from -1000000000 to 1000000000, got NaN"],
    [{ min: -1e308 }, "/min", "'min' must be a number from -1000000000 to 1000000000, got -1e+308"],
    [{ max: 1e308 }, "/max", "'max' must be a number from -1000000000 to 1000000000, got 1e+308"],
    [{ max: "1" }, "/max", `'max' must be a number from -1000000000 to 1000000000, got "1"`],
    [{ maxHeadStart: -1 }, "/maxHeadStart", 'number of milliseconds of at least 0 ms, or "unlimited", got -1'],
    [{ maxHeadstart: 1 }, "/maxHeadstart", `"maxHeadstart" is not an option here; did you mean "maxHeadStart"?`],
  ];
  for (const [options, path, message] of cases) {
    assertThrows(() => createPriorityDiscipline(options), Error, message);
    const [issue, ...others] = issuesOf(() => disciplines.build({ type: "priority", ...options }));
    assertEquals([issue?.path, issue?.message.includes(message), others], [path, true, []]);
  }
});

/** Literal implementation of rule 12 that looks at every entry each time. */
class PlainPriority {
  readonly entries: { entry: MadeEntry; priority: number; order: number }[] = [];
  #order = 0;

  constructor(readonly min: number, readonly max: number, readonly headStart: number) {}

  push(entry: MadeEntry): void {
    this.entries.push({ entry, priority: this.#clamp(entry.priority), order: this.#order++ });
  }

  touch(entry: MadeEntry): void {
    const known = this.entries.find((each) => each.entry === entry)!;
    if (this.#clamp(entry.priority) <= known.priority) return;
    known.priority = this.#clamp(entry.priority);
    if (this.headStart === Infinity) known.order = this.#order++;
  }

  inOrder(): MadeEntry[] {
    const isStrict = this.headStart === Infinity;
    const worth = isStrict ? 1 : this.headStart / (this.max - this.min);
    return this.entries
      .map(({ entry, priority, order }) => ({ entry, order, at: (isStrict ? 0 : entry.readyAt) - priority * worth }))
      .sort((a, b) => a.at - b.at || a.order - b.order)
      .map(({ entry }) => entry);
  }

  remove(entry: MadeEntry): void {
    this.entries.splice(this.entries.findIndex((each) => each.entry === entry), 1);
  }

  #clamp(priority: number): number {
    return Math.min(Math.max(priority, this.min), this.max);
  }
}

/** Priorities within the bounds and beyond them, in steps of one half. */
const anyPriority = fc.oneof(fc.integer({ min: -4, max: 4 }), fc.integer({ min: -9, max: 9 }).map((half) => half / 2));

/** Steps of a test. A negative wait stands for the keys of a batch, which are older than a key pushed between them. */
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("push" as const), priority: anyPriority }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pop" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("touch" as const),
      which: fc.nat(20),
      priority: anyPriority,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 2, 4, 16, -2, -8) }) },
);

Deno.test("priority: under random operations, the order follows rule 12", () => {
  const headStart = fc.constantFrom(0, 6, 24, Infinity);
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 60, size: "max" }),
      headStart,
      (operations, headStart) => {
        const discipline = createPriorityDiscipline<number>({ min: -3, max: 3, maxHeadStart: headStart });
        const plain = new PlainPriority(-3, 3, headStart);
        const made = new Entries();
        for (const step of operations) {
          const entries = plain.inOrder();
          if (step.do === "push") {
            const entry = made.next(step.priority);
            discipline.push(entry);
            plain.push(entry);
          } else if (step.do === "wait") {
            made.time += step.ms;
          } else if (step.do === "pop") {
            const entry = discipline.pop();
            assertEquals(entry?.key, entries[0]?.key);
            if (entry !== undefined) plain.remove(entry as MadeEntry);
          } else if (entries.length > 0) {
            const entry = entries[step.which % entries.length]!;
            entry.priority = Math.max(entry.priority, step.priority);
            discipline.touch(entry);
            plain.touch(entry);
          }
          const now = plain.inOrder().map(({ key }) => key);
          assertEquals(discipline.length, now.length);
          assertEquals(discipline.peek!(3).map(({ key }) => key), now.slice(0, 3));
        }
      },
    ),
    { numRuns: RUNS },
  );
});

Deno.test("priority: with thousands of priorities, again and again, the order follows rule 12", () => {
  const random = randomNumbers(12);
  for (const headStart of [4000, Infinity]) {
    const discipline = createPriorityDiscipline<number>({ min: 0, max: 4000, maxHeadStart: headStart });
    const made = new Entries();
    // Rounds with more priorities than have a lane, with few of them, and with others than before.
    for (const [count, from, to] of [[6000, 0, 4000], [3000, 0, 30], [6000, 2000, 4000], [3000, 5, 7]] as const) {
      const ready: { entry: MadeEntry; order: number }[] = [];
      let pushed = 0;
      const numberOf = ({ readyAt, priority }: MadeEntry) => headStart === Infinity ? -priority : readyAt - priority;
      const popAll = (left: number) => {
        ready.sort((a, b) => numberOf(a.entry) - numberOf(b.entry) || a.order - b.order);
        const next = ready.splice(0, ready.length - left).map(({ entry }) => entry.key);
        assertEquals(discipline.peek!(50).map(({ key }) => key), next.slice(0, 50));
        assertEquals(next.map(() => discipline.pop()!.key), next);
      };
      for (let i = 0; i < count; i++) {
        made.time += Math.floor(random() * 3);
        const entry = made.next(from + Math.floor(random() * (to - from)));
        discipline.push(entry);
        ready.push({ entry, order: pushed++ });
        const raised = ready[Math.floor(random() * ready.length)]!;
        if (random() < 0.2) {
          const { priority } = raised.entry;
          raised.entry.priority = Math.min(to, priority + Math.floor(random() * 50));
          discipline.touch(raised.entry);
          if (headStart === Infinity && raised.entry.priority > priority) raised.order = pushed++;
        }
        if (i % 1000 === 999) popAll(Math.floor(ready.length / 2));
      }
      popAll(0);
      assertEquals(discipline.length, 0);
    }
  }
});

Deno.test("rule 14: priority: of priorities that came one after the other, at most 1,024 are kept", () => {
  const { set } = Map.prototype;
  const priorities = new Set<Map<unknown, unknown>>();
  Map.prototype.set = function (key, value) {
    if (typeof key === "number") priorities.add(this);
    return set.call(this, key, value);
  };
  try {
    const queue = createWorkQueue<string>({ discipline: createPriorityDiscipline({ min: 0, max: 1e6 }) });
    for (let priority = 0; priority < 5000; priority++) {
      queue.add("a", { priority });
      takeAll(queue);
    }
    assertEquals([...priorities].map(({ size }) => size), [1024]);
  } finally {
    Map.prototype.set = set;
  }
});

Deno.test("priority: touch ignores an entry that was never in the order, or has left it", () => {
  const made = new Entries();
  const discipline = createPriorityDiscipline<number>();
  const [gone, there, never] = [made.next(0), made.next(0), made.next(50)];
  discipline.push(gone);
  assertEquals(discipline.pop(), gone);
  discipline.push(there);
  for (const entry of [gone, never]) {
    entry.priority = 100;
    discipline.touch(entry);
  }
  discipline.push(made.next(1));
  assertEquals([discipline.pop()?.key, discipline.pop()?.key, discipline.pop()], [3, 1, undefined]);
});

Deno.test("rule 12: head starts of 100 years or more count as 100 years, however far the priorities are from 0", () => {
  const hundredYears = 36_525 * 86_400_000;
  const bounds = [[-1e9, 1e9], [1e9 - 1e-3, 1e9], [-1e9, -1e9 + 1]] as const;
  const headStarts = [hundredYears, 1e13, 1e300, Number.MAX_VALUE];
  for (const [[min, max], maxHeadStart] of bounds.flatMap((each) => headStarts.map((ms) => [each, ms] as const))) {
    const discipline = createPriorityDiscipline<string>({ min, max, maxHeadStart });
    const push = (key: string, priority: number, readyAt: number) =>
      discipline.push({ key, item: key, priority, readyAt });
    push("low", min, 0);
    push("lower later", min, 0.01);
    push("high, too late", max, hundredYears + 0.02);
    push("high", max, hundredYears - 0.01);
    push("high, soon", max, 1);
    push("high, sooner", max, 0.99);
    const order = Array.from({ length: 6 }, () => discipline.pop()!.key);
    assertEquals(order, ["high, sooner", "high, soon", "high", "low", "lower later", "high, too late"]);
  }
});
