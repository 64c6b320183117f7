import { assert, assertEquals } from "@std/assert";
import { RecordHeap } from "../../lib/structures/record_heap.ts";
import { NONE } from "../../lib/structures/records.ts";
import { randomNumbers } from "../queue_helpers.ts";

Deno.test("rule 7: random changes of a heap of records agree with a sorted list, however large the records are", () => {
  const random = randomNumbers(2026);
  for (const largest of [10, 1000, 1_000_000]) {
    const heap = new RecordHeap();
    const numbers = new Map<number, number>(); // in the order in which the records were added
    const sorted = () => [...numbers].sort(([, a], [, b]) => a - b).map(([record]) => record);
    for (let step = 0; step < 5000; step++) {
      const record = Math.floor(random() * largest);
      const number = Math.floor(random() * 20);
      const choice = random();
      const known = [...numbers.keys()][Math.floor(random() * numbers.size)];
      assertEquals(heap.has(record), numbers.has(record));
      if (choice < 0.5) {
        if (numbers.has(record)) continue;
        heap.add(record, number);
        numbers.set(record, number);
      } else if (choice < 0.8) {
        const next = sorted()[0] ?? NONE;
        assertEquals(heap.shift(), next);
        numbers.delete(next);
      } else if (known === undefined) continue;
      else if (choice < 0.9) {
        heap.delete(known);
        numbers.delete(known);
      } else {
        heap.decrease(known, number);
        numbers.set(known, Math.min(number, numbers.get(known)!));
        assertEquals(heap.numberOf(known), numbers.get(known));
      }
      const first = sorted().slice(0, 5);
      assertEquals([heap.length, heap.next, heap.smallest], [
        numbers.size,
        first[0] ?? NONE,
        Math.min(...numbers.values()),
      ]);
      if (step % 50 === 0) assertEquals(heap.list(5), first);
    }
    heap.clear();
    for (const record of numbers.keys()) assert(!heap.has(record));
  }
});

Deno.test("visit calls back with each record up to a number, and no others", () => {
  const random = randomNumbers(7);
  const heap = new RecordHeap();
  const numbers = Array.from({ length: 500 }, () => Math.floor(random() * 100));
  numbers.forEach((number, record) => heap.add(record, number));
  for (const limit of [-1, 0, 50, 98.5, 99, Infinity]) {
    const visited: number[] = [];
    heap.visit(limit, (record) => void visited.push(numbers[record]!));
    assertEquals(visited.sort((a, b) => a - b), numbers.filter((number) => number <= limit).sort((a, b) => a - b));
  }
});
