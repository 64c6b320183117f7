import { RecordHeap } from "./record_heap.ts";
import { NONE } from "./records.ts";

/**
 * Min-heap of numbers, each with an entry. By default, equal numbers are popped in the order in which they were pushed.
 *
 * Each entry has a slot, which identifies the entry when its number is changed later. The slots are the records of the
 * heap.
 */
export class NumberHeap<E> extends RecordHeap {
  /** Entries by slot, and free slots. */
  #entries: (E | undefined)[] = [];
  #free: number[] = [];

  /** Entry with the smallest number; `undefined` if the heap is empty. */
  get top(): E | undefined {
    return this.#entries[this.next];
  }

  /**
   * Adds an entry and returns its slot, which is valid until the entry is removed. Among equal numbers, the number with
   * the smallest `order` is popped first; by default, the number that was pushed first.
   */
  push(entry: E, number: number, order?: number): number {
    const slot = this.#free.pop() ?? this.#entries.length;
    this.#entries[slot] = entry;
    this.add(slot, number, order);
    return slot;
  }

  /** Removes the smallest number and returns its entry; `undefined` if the heap is empty. */
  pop(): E | undefined {
    const slot = this.next;
    if (slot === NONE) return undefined;
    const entry = this.#entries[slot];
    this.#entries[slot] = undefined; // lets the entry be garbage collected
    this.#free.push(slot);
    this.shift();
    return entry;
  }

  /** Removes a slot's number and its entry. */
  remove(slot: number): void {
    this.#entries[slot] = undefined; // lets the entry be garbage collected
    this.#free.push(slot);
    this.delete(slot);
  }

  /**
   * Returns the entries of the `limit` smallest numbers, or all entries if there are fewer, in order. Does not change
   * the heap.
   */
  first(limit: number): E[] {
    return this.list(limit).map((slot) => this.#entries[slot]!);
  }

  /** Removes everything, and frees the memory of a large heap. */
  override clear(): void {
    super.clear();
    this.#entries = [];
    this.#free = [];
  }
}
