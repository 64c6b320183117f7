/** Tests of classes that are derived from built-in disciplines: the methods that they override are called. */

import { assertEquals, assertThrows } from "@std/assert";
import {
  createDelayingQueue,
  createFairDiscipline,
  createRetryBudget,
  createWorkQueue,
  type DisciplineConfig,
  disciplines,
  type QueueDiscipline,
  type ReadyEntry,
  type WorkQueue,
} from "@workqueue/core";
import { FairDiscipline } from "../../disciplines/fair_discipline.ts";
import { PriorityOrder } from "../../disciplines/priority_order.ts";
import { OrderedDiscipline } from "../../disciplines/ordered_discipline.ts";
import type { Records } from "../../lib/structures/records.ts";
import { takeAll } from "../queue_helpers.ts";

/** Calls of the methods of a class derived from a built-in discipline. */
type Calls = Set<string>;

/** Derives a class from the class of a built-in discipline. Its methods note their calls. */
// deno-lint-ignore no-explicit-any -- TypeScript requires these arguments of a class that any class may be derived from
function derivedFrom<C extends new (...args: any[]) => OrderedDiscipline>(builtIn: C, calls: Calls) {
  return class extends builtIn {
    override push(entry: ReadyEntry<unknown>) {
      calls.add("push");
      super.push(entry);
    }
    override pop() {
      calls.add("pop");
      return super.pop();
    }
    override touch(entry: ReadyEntry<unknown>) {
      calls.add("touch");
      super.touch(entry);
    }
    override done(entry: ReadyEntry<unknown>, work?: { readonly durationMs: number }) {
      calls.add("done");
      super.done(entry, work);
    }
    override peek(limit: number) {
      calls.add("peek");
      return super.peek(limit);
    }
    override get length() {
      calls.add("length");
      return super.length;
    }
    override get blocked() {
      calls.add("blocked");
      return super.blocked;
    }
  };
}

/** Configs of the built-in disciplines from which {@linkcode DERIVED} derives. */
const DESCRIBED: Readonly<Record<string, DisciplineConfig>> = {
  fair: { type: "fair", separator: "/", maxPerGroup: 5 },
  priority: { type: "priority", maxHeadStart: 200_000 },
};

/** Makes a discipline of a class derived from that of each built-in discipline, by type. */
const DERIVED: Readonly<Record<string, (calls: Calls) => object>> = {
  fair: (calls) => new (derivedFrom(FairDiscipline, calls))((item: string) => item.at(0), { maxPerGroup: 5 }),
  priority: (calls) =>
    new (derivedFrom(OrderedDiscipline, calls))((records: Records) => new PriorityOrder(records, -100, 100, 1000)),
};

for (const type of disciplines.types()) {
  const uses: Readonly<Record<string, (discipline: QueueDiscipline<string>) => WorkQueue<string>>> = {
    "of a queue": (discipline) => createWorkQueue({ discipline }),
    "behind a retry budget": (discipline) =>
      createDelayingQueue({ discipline, retryBudget: createRetryBudget({ ratio: 1, minRate: 1 }) }),
    "in a fair one": (discipline) =>
      createWorkQueue({ discipline: createFairDiscipline({ groupOf: () => "all", within: () => discipline }) }),
  };
  for (const [use, queueOf] of Object.entries(uses)) {
    Deno.test(`a discipline derived from ${type} runs through its methods: ${use}`, () => {
      const calls: Calls = new Set();
      const derived = DERIVED[type]!(calls) as QueueDiscipline<string>;
      const queue = queueOf(derived);
      const same = queueOf(disciplines.build(DESCRIBED[type]!) as QueueDiscipline<string>);
      const items = [same, queue].map((each) => {
        for (const item of ["a/1", "a/2", "b/1"]) each.add(item);
        each.add("b/2", { priority: 5 });
        each.add("a/2", { priority: 9 });
        const shown = each.snapshot();
        return [shown.readyItems.map(({ item }) => item), shown.blocked, takeAll(each)];
      });
      assertEquals(items[1], items[0]);
      assertEquals([...calls].toSorted(), ["blocked", "done", "length", "peek", "pop", "push", "touch"]);
    });
  }
}

for (const type of disciplines.types()) {
  Deno.test(`replacing methods of a discipline ${type} is refused, because they would not be called`, () => {
    const discipline = disciplines.build(DESCRIBED[type]!);
    assertThrows(() => discipline.push = () => {}, TypeError);
  });
}
