/** What every `QueueDiscipline` must do, in whatever order it gives entries out. */

import { assert, assertEquals } from "@std/assert";
import { createWorkQueue, type QueueDiscipline, type ReadyEntry } from "@workqueue/core";
import { randomNumbers, take } from "../queue_helpers.ts";

/** Registers the suite for one implementation. */
export function disciplineSuite<T>(
  name: string,
  make: () => QueueDiscipline<T>,
  item: (i: number) => T,
  keyOf?: (item: T) => unknown,
): void {
  Deno.test(`discipline, ${name}: gives out each entry that was pushed, once, and counts them`, () => {
    const discipline = make();
    const entries = new Set<ReadyEntry<T>>();
    for (let i = 0; i < 100; i++) {
      const entry = { key: keyOf === undefined ? item(i) : keyOf(item(i)), item: item(i), priority: 0, readyAt: i };
      entries.add(entry);
      discipline.push(entry);
      if (i % 3 === 0) discipline.touch(entry);
      assertEquals(discipline.length, entries.size);
    }
    while (discipline.length > 0) assert(entries.delete(discipline.pop()!), "the very object, and not twice");
    assertEquals(entries.size, 0);
  });

  Deno.test(`discipline, ${name}: in a queue, every item comes out after its last add, whatever happens`, () => {
    const random = randomNumbers(7);
    const queue = createWorkQueue<T>({ discipline: make(), keyOf });
    const needsWork = new Set<number>();
    const held: ReturnType<typeof take<T>>[] = [];
    const numberOf = new Map(Array.from({ length: 20 }, (_, i) => [keyOf?.(item(i)) ?? item(i), i]));
    const begin = () => {
      const lease = take(queue);
      needsWork.delete(numberOf.get(keyOf?.(lease.item) ?? lease.item)!);
      held.push(lease);
    };
    for (let step = 0; step < 5000; step++) {
      const i = Math.floor(random() * 20);
      if (random() < 0.5) {
        queue.add(item(i));
        needsWork.add(i);
      } else if (queue.length > 0 && held.length < 5) begin();
      else held.shift()?.[Symbol.dispose]();
    }
    for (const lease of held.splice(0)) lease[Symbol.dispose]();
    while (queue.length > 0) {
      begin();
      held.shift()![Symbol.dispose]();
    }
    assertEquals([...needsWork], []);
  });
}
