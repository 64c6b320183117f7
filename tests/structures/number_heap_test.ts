import { assert, assertEquals } from "@std/assert";
import { NumberHeap } from "../../lib/structures/number_heap.ts";
import { randomNumbers } from "../queue_helpers.ts";

function popAll<V>(heap: NumberHeap<V>): V[] {
  return Array.from({ length: heap.length }, () => heap.pop()!);
}

Deno.test("rule 7: entries come out by number, and equal ones in the order in which they were pushed", () => {
  const heap = new NumberHeap<number>();
  for (const [value, number] of [5, 3, 5, 1, 3, 5, 1].entries()) heap.push(value, number);
  assertEquals(heap.smallest, 1);
  assertEquals(popAll(heap), [3, 6, 1, 4, 0, 2, 5]);
  assertEquals(heap.pop(), undefined);
  assertEquals(heap.smallest, Infinity);
});

Deno.test("rule 7: an entry with a decreased number moves up; among equal numbers, it is in the order of the pushes", () => {
  const heap = new NumberHeap<string>();
  const [first] = [["first", 9], ["second", 5], ["third", 5]].map(([value, number]) =>
    heap.push(value as string, number as number)
  );
  heap.decrease(first!, 5);
  heap.decrease(first!, 7); // `decrease` with a larger number changes nothing
  assertEquals(popAll(heap), ["first", "second", "third"]);
});

Deno.test("rule 7: thousands of random pushes, decreases and pops agree with a sorted list, ties included", () => {
  const random = randomNumbers(2026);
  for (const distinctNumbers of [3, 100, 1e9]) {
    const heap = new NumberHeap<number>();
    let list: { value: number; slot: number; number: number }[] = []; // in the order in which values were pushed
    const first = () => list.length > 0 ? list.reduce((a, b) => b.number < a.number ? b : a) : undefined;
    for (let step = 0; step < 10_000; step++) {
      const choice = random();
      const number = Math.floor(random() * distinctNumbers);
      if (choice < 0.5) {
        list.push({ value: step, slot: heap.push(step, number), number });
      } else if (choice < 0.7 && list.length > 0) {
        const decreased = list[Math.floor(random() * list.length)]!;
        heap.decrease(decreased.slot, number);
        decreased.number = Math.min(decreased.number, number);
      } else {
        const smallest = first();
        assertEquals(heap.smallest, smallest?.number ?? Infinity);
        assertEquals(heap.pop(), smallest?.value);
        list = list.filter((each) => each !== smallest);
      }
      assertEquals(heap.length, list.length);
    }
    assertEquals(popAll(heap), list.toSorted((a, b) => a.number - b.number).map(({ value }) => value)); // stable
  }
});

Deno.test("an entry whose number increases moves down, behind entries with the same number or to the given place among them", () => {
  const random = randomNumbers(5);
  for (const distinctNumbers of [3, 1e9]) {
    const heap = new NumberHeap<number>();
    let list: { value: number; slot: number; number: number; order: number }[] = [];
    let order = 0;
    type Listed = typeof list[0];
    const compare = (a: Listed, b: Listed) => a.number - b.number || a.order - b.order;
    const first = () => list.length > 0 ? list.reduce((a, b) => compare(b, a) < 0 ? b : a) : undefined;
    for (let step = 0; step < 5000; step++) {
      const choice = random();
      const smallest = first();
      assertEquals(
        [heap.top, heap.smallest, heap.smallestOrder],
        [smallest?.value, smallest?.number ?? Infinity, smallest?.order ?? Infinity],
      );
      if (choice < 0.4) {
        const number = Math.floor(random() * distinctNumbers);
        list.push({ value: step, slot: heap.push(step, number, ++order), number, order });
      } else if (choice < 0.8 && list.length > 0) {
        const increased = list[Math.floor(random() * list.length)]!;
        increased.number += Math.floor(random() * 3);
        increased.order = ++order;
        heap.increase(increased.slot, increased.number, order);
      } else {
        assertEquals(heap.pop(), smallest?.value);
        list = list.filter((each) => each !== smallest);
      }
    }
    assertEquals(popAll(heap), list.toSorted(compare).map(({ value }) => value));
  }
  const heap = new NumberHeap<string>();
  const slot = heap.push("a", 1);
  for (const entry of ["b", "c"]) heap.push(entry, 1);
  heap.increase(slot, 1);
  assertEquals(popAll(heap), ["b", "c", "a"]);
});

Deno.test("an entry that is removed does not come out; the others come out in order", () => {
  const random = randomNumbers(11);
  for (const distinctNumbers of [5, 1e6]) {
    const heap = new NumberHeap<number>();
    let list: { value: number; slot: number; number: number }[] = [];
    for (let value = 0; value < 2000; value++) {
      const number = Math.floor(random() * distinctNumbers);
      list.push({ value, slot: heap.push(value, number), number });
      if (random() < 0.4) {
        const removed = list[Math.floor(random() * list.length)]!;
        heap.remove(removed.slot);
        list = list.filter((each) => each !== removed);
      }
      assertEquals(heap.length, list.length);
    }
    assertEquals(popAll(heap), list.toSorted((a, b) => a.number - b.number).map(({ value }) => value));
  }
});

Deno.test("no two entries of a heap share a slot, whatever was popped before", () => {
  const random = randomNumbers(7);
  const heap = new NumberHeap<number>();
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
    const heap = new NumberHeap<number>();
    for (let value = 0; value < size; value++) heap.push(value, -value);
    heap.clear();
    assertEquals([heap.length, heap.smallest, heap.pop()], [0, Infinity, undefined]);
    for (let value = 0; value < size; value++) heap.push(value, value);
    assertEquals(popAll(heap), Array.from({ length: size }, (_, value) => value));
  }
});
