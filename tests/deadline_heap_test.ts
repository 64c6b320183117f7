import { assert, assertEquals } from "@std/assert";
import { DeadlineHeap } from "../lib/structures/deadline_heap.ts";
import { randomNumbers } from "./queue_helpers.ts";

function popAll<V>(heap: DeadlineHeap<V>): V[] {
  return Array.from({ length: heap.length }, () => heap.pop()!);
}

Deno.test("rule 7: values come out by deadline, equal ones in the order they were pushed", () => {
  const heap = new DeadlineHeap<number>();
  for (const [value, deadline] of [5, 3, 5, 1, 3, 5, 1].entries()) heap.push(value, deadline);
  assertEquals(heap.earliest, 1);
  assertEquals(popAll(heap), [3, 6, 1, 4, 0, 2, 5]);
  assertEquals(heap.pop(), undefined);
  assertEquals(heap.earliest, Infinity);
});

Deno.test("rule 7: a decreased value moves up; among equals it keeps the place of its push", () => {
  const heap = new DeadlineHeap<string>();
  const [first] = [["first", 9], ["second", 5], ["third", 5]].map(([value, deadline]) =>
    heap.push(value as string, deadline as number)
  );
  heap.decrease(first!, 5);
  heap.decrease(first!, 7); // later: changes nothing
  assertEquals(popAll(heap), ["first", "second", "third"]);
});

Deno.test("rule 7: thousands of random pushes, decreases and pops agree with a sorted list, ties included", () => {
  const random = randomNumbers(2026);
  for (const distinctDeadlines of [3, 100, 1e9]) {
    const heap = new DeadlineHeap<number>();
    let list: { value: number; slot: number; deadline: number }[] = []; // in the order of pushing
    const sorted = () => list.toSorted((a, b) => a.deadline - b.deadline); // is stable
    for (let step = 0; step < 10_000; step++) {
      const choice = random();
      const deadline = Math.floor(random() * distinctDeadlines);
      if (choice < 0.5) {
        list.push({ value: step, slot: heap.push(step, deadline), deadline });
      } else if (choice < 0.7 && list.length > 0) {
        const decreased = list[Math.floor(random() * list.length)]!;
        heap.decrease(decreased.slot, deadline);
        decreased.deadline = Math.min(decreased.deadline, deadline);
      } else {
        const earliest = sorted()[0];
        assertEquals(heap.earliest, earliest?.deadline ?? Infinity);
        assertEquals(heap.pop(), earliest?.value);
        list = list.filter((each) => each !== earliest);
      }
      assertEquals(heap.length, list.length);
    }
    assertEquals(popAll(heap), sorted().map(({ value }) => value));
  }
});

Deno.test("no two values of a heap share a slot, whatever was popped before", () => {
  const random = randomNumbers(7);
  const heap = new DeadlineHeap<number>();
  const slots = new Map<number, number>();
  for (let value = 0; value < 5000; value++) {
    const slot = heap.push(value, random());
    assert(![...slots.values()].includes(slot));
    slots.set(value, slot);
    while (slots.size > 50 || (slots.size > 0 && random() < 0.4)) slots.delete(heap.pop()!);
  }
});

Deno.test("a cleared heap, large or small, is empty and can be used again", () => {
  for (const size of [3, 1000]) {
    const heap = new DeadlineHeap<number>();
    for (let value = 0; value < size; value++) heap.push(value, -value);
    heap.clear();
    assertEquals([heap.length, heap.earliest, heap.pop()], [0, Infinity, undefined]);
    for (let value = 0; value < size; value++) heap.push(value, value);
    assertEquals(popAll(heap), Array.from({ length: size }, (_, value) => value));
  }
});
