/** Contract suite of `QueueDiscipline`, for any order of entries. */

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
  Deno.test(`discipline, ${name}: returns each pushed entry once, and counts the entries`, () => {
    const discipline = make();
    const entries = new Set<ReadyEntry<T>>();
    for (let i = 0; i < 100; i++) {
      const entry = { key: keyOf === undefined ? item(i) : keyOf(item(i)), item: item(i), priority: 0, readyAt: i };
      entries.add(entry);
      discipline.push(entry);
      if (i % 3 === 0) discipline.touch(entry);
      assertEquals(countOf(discipline), entries.size);
    }
    while (discipline.length > 0) {
      const entry = discipline.pop()!;
      assert(entries.delete(entry), "the very object, and not twice");
      assertEquals(countOf(discipline), entries.size);
      discipline.done?.(entry);
    }
    assertEquals([entries.size, countOf(discipline)], [0, 0]);
  });

  Deno.test(`discipline, ${name}: a blocked entry is returned after others are done`, () => {
    const discipline = make();
    for (let i = 0; i < 30; i++) discipline.push({ key: item(i), item: item(i), priority: 0, readyAt: i });
    const processing: ReadyEntry<T>[] = [];
    for (let left = 30; left > 0; left--) {
      while (discipline.length === 0) discipline.done!(processing.shift()!);
      processing.push(discipline.pop()!);
      assertEquals(countOf(discipline), left - 1);
    }
  });

  Deno.test(`discipline, ${name}: peeking shows the next entries and changes nothing`, () => {
    const discipline = make();
    if (discipline.peek === undefined) return;
    const random = randomNumbers(8);
    for (let i = 0; i < 100; i++) {
      discipline.push({ key: item(i), item: item(i), priority: Math.floor(random() * 5), readyAt: i });
      if (random() < 0.3) discipline.pop();
    }
    const all = discipline.peek(1000);
    assertEquals(all.length, discipline.length);
    for (const limit of [0, 1, 7]) {
      assert(all.slice(0, limit).every((entry, i) => discipline.peek!(limit)[i] === entry));
    }
    for (const entry of all) assert(discipline.pop() === entry);
    assertEquals(discipline.peek(5), []);
  });

  Deno.test(`discipline, ${name}: in a queue, every item comes out after its last add, whatever happens`, () => {
    const random = randomNumbers(7);
    const queue = createWorkQueue<T>({ discipline: make(), keyOf });
    const needsWork = new Set<number>();
    const processing: ReturnType<typeof take<T>>[] = [];
    const numberOf = new Map(Array.from({ length: 20 }, (_, i) => [keyOf?.(item(i)) ?? item(i), i]));
    const begin = () => {
      const lease = take(queue);
      needsWork.delete(numberOf.get(keyOf?.(lease.item) ?? lease.item)!);
      processing.push(lease);
    };
    for (let step = 0; step < 5000; step++) {
      const i = Math.floor(random() * 20);
      if (random() < 0.5) {
        queue.add(item(i));
        needsWork.add(i);
      } else if (queue.length > 0 && processing.length < 5) begin();
      else processing.shift()?.[Symbol.dispose]();
    }
    for (const lease of processing.splice(0)) lease[Symbol.dispose]();
    while (queue.length > 0) {
      begin();
      processing.shift()![Symbol.dispose]();
    }
    assertEquals([...needsWork], []);
  });
}

function countOf<T>({ length, blocked = 0 }: QueueDiscipline<T>): number {
  return length + blocked;
}
