import { assertEquals } from "@std/assert";
import { DeadlineHeap, type HeapNode } from "../lib/internal/deadline_heap.ts";
import { randomNumbers } from "./queue_helpers.ts";

function node(deadline: number): HeapNode {
  return { deadline, order: 0, index: 0 };
}

function popAll(heap: DeadlineHeap<HeapNode>): HeapNode[] {
  return Array.from({ length: heap.length }, () => heap.pop()!);
}

Deno.test("rule 7: nodes come out by deadline, equal ones in the order they were pushed", () => {
  const heap = new DeadlineHeap<HeapNode>();
  const nodes = [5, 3, 5, 1, 3, 5, 1].map(node);
  for (const each of nodes) heap.push(each);
  assertEquals(heap.peek(), nodes[3]);
  assertEquals(popAll(heap).map((each) => nodes.indexOf(each)), [3, 6, 1, 4, 0, 2, 5]);
  assertEquals(heap.pop(), undefined);
  assertEquals(heap.peek(), undefined);
});

Deno.test("rule 7: a decreased node moves up; among equals it keeps the place of its push", () => {
  const heap = new DeadlineHeap<HeapNode>();
  const [first, second, third] = [node(9), node(5), node(5)];
  for (const each of [first, second, third]) heap.push(each);
  heap.decrease(first, 5);
  assertEquals(popAll(heap), [first, second, third]);
});

Deno.test("rule 7: thousands of random pushes, decreases and pops agree with a sorted list, ties included", () => {
  const random = randomNumbers(2026);
  for (const distinctDeadlines of [3, 100, 1e9]) {
    const heap = new DeadlineHeap<HeapNode>();
    let list: HeapNode[] = []; // in the order of pushing; Array.prototype.sort is stable
    for (let step = 0; step < 10_000; step++) {
      const choice = random();
      const deadline = Math.floor(random() * distinctDeadlines);
      if (choice < 0.5) {
        const pushed = node(deadline);
        heap.push(pushed);
        list.push(pushed);
      } else if (choice < 0.7 && list.length > 0) {
        const decreased = list[Math.floor(random() * list.length)]!;
        heap.decrease(decreased, Math.min(decreased.deadline, deadline));
      } else {
        const earliest = list.toSorted((a, b) => a.deadline - b.deadline)[0];
        assertEquals(heap.peek(), earliest);
        assertEquals(heap.pop(), earliest);
        list = list.filter((each) => each !== earliest);
      }
      assertEquals(heap.length, list.length);
    }
    assertEquals(popAll(heap), list.toSorted((a, b) => a.deadline - b.deadline));
  }
});

Deno.test("a cleared heap is empty and can be used again", () => {
  const heap = new DeadlineHeap<HeapNode>();
  for (const deadline of [3, 1, 2]) heap.push(node(deadline));
  heap.clear();
  assertEquals([heap.length, heap.peek()], [0, undefined]);
  heap.push(node(7));
  assertEquals(heap.pop()?.deadline, 7);
});
