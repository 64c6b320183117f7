const MIN_CAPACITY = 16;

/**
 * A binary min-heap of numbers, each with an entry: the smallest first, equal ones in the order they were pushed.
 *
 * What is pushed gets a slot, the number by which it is found again to be given a smaller number. See
 * Williams' heapsort (CACM 7, 1964) for the structure. Instead of swapping at each level, a hole is moved to
 * where an entry belongs and filled once; and all but the entries is in typed arrays, so that moving a hole
 * touches a few cache lines and no objects.
 */
export class NumberHeap<E> {
  #length = 0;
  #pushed = 0;
  /**
   * By place in the heap: the numbers, and the slots they belong to. Behind the heap's end are the slots that are free.
   */
  #numbers = new Float64Array(MIN_CAPACITY);
  #slots = Int32Array.from({ length: MIN_CAPACITY }, (_, slot) => slot);
  /** By slot: the place in the heap, which of two was pushed first, and the entry. */
  #places = new Int32Array(MIN_CAPACITY);
  #orders = new Float64Array(MIN_CAPACITY);
  #entries: (E | undefined)[] = [];

  get length(): number {
    return this.#length;
  }

  /** The smallest number; infinity if there is none. */
  get smallest(): number {
    return this.#length === 0 ? Infinity : this.#numbers[0]!;
  }

  /**
   * Returns the slot, which is the entry's until it is popped. Of equal numbers, that with the smaller `order` is
   * first, which need not be the order in which they are pushed.
   */
  push(entry: E, number: number, order: number = this.#pushed++): number {
    if (this.#length === this.#slots.length) this.#resize(this.#length * 2);
    const slot = this.#slots[this.#length]!;
    this.#orders[slot] = order;
    this.#entries[slot] = entry;
    this.#siftUp(slot, number, this.#length++);
    return slot;
  }

  /** Removes the smallest number and returns its entry. */
  pop(): E | undefined {
    if (this.#length === 0) return undefined;
    const slot = this.#slots[0]!;
    const entry = this.#entries[slot];
    this.remove(slot);
    return entry;
  }

  /** Removes a slot's number and its entry. */
  remove(slot: number): void {
    this.#entries[slot] = undefined; // or the heap would keep it from being collected
    const last = --this.#length;
    if (last === 0) return this.clear();
    const place = this.#places[slot]!;
    const moved = this.#slots[last]!;
    const number = this.#numbers[last]!;
    this.#slots[last] = slot; // free
    this.#siftUp(moved, number, place);
    if (this.#places[moved] === place) this.#siftDown(moved, number, place);
  }

  /** The entry of a slot; `undefined` if the slot is free. */
  entryOf(slot: number): E | undefined {
    return this.#entries[slot];
  }

  /** The number of a slot. */
  numberOf(slot: number): number {
    return this.#numbers[this.#places[slot]!]!;
  }

  /** The entries with the smallest numbers, the smallest first; `limit` at most. Nothing changes by that. */
  first(limit: number): E[] {
    const entries: E[] = [];
    const candidates = new NumberHeap<number>(); // places: each is the child of one that was found
    const look = (place: number) => {
      if (place < this.#length) candidates.push(place, this.#numbers[place]!, this.#orders[this.#slots[place]!]!);
    };
    look(0);
    while (entries.length < limit && candidates.length > 0) {
      const place = candidates.pop()!;
      entries.push(this.#entries[this.#slots[place]!]!);
      look(2 * place + 1);
      look(2 * place + 2);
    }
    return entries;
  }

  /** Gives a slot a smaller number; among equals it keeps its order. A larger number changes nothing. */
  decrease(slot: number, number: number): void {
    const place = this.#places[slot]!;
    if (number < this.#numbers[place]!) this.#siftUp(slot, number, place);
  }

  /** Removes everything, and gives back the memory of a heap that was large. */
  clear(): void {
    this.#length = 0;
    this.#entries = [];
    if (this.#slots.length > MIN_CAPACITY) this.#resize(MIN_CAPACITY);
  }

  #resize(capacity: number): void {
    this.#numbers = resized(this.#numbers, new Float64Array(capacity));
    this.#slots = resized(this.#slots, new Int32Array(capacity));
    this.#places = resized(this.#places, new Int32Array(capacity));
    this.#orders = resized(this.#orders, new Float64Array(capacity));
    for (let slot = this.#length; slot < capacity; slot++) this.#slots[slot] = slot;
  }

  #siftUp(slot: number, number: number, place: number): void {
    const numbers = this.#numbers, slots = this.#slots, places = this.#places, orders = this.#orders;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const parentSlot = slots[parent]!;
      const parentNumber = numbers[parent]!;
      if (parentNumber < number || (parentNumber === number && orders[parentSlot]! < orders[slot]!)) break;
      numbers[place] = parentNumber;
      slots[place] = parentSlot;
      places[parentSlot] = place;
      place = parent;
    }
    numbers[place] = number;
    slots[place] = slot;
    places[slot] = place;
  }

  /** Puts a slot in a place, or below. */
  #siftDown(slot: number, number: number, place: number): void {
    const numbers = this.#numbers, slots = this.#slots, places = this.#places, orders = this.#orders;
    const length = this.#length;
    const firstLeaf = length >> 1;
    while (place < firstLeaf) {
      let child = 2 * place + 1;
      const right = child + 1;
      if (right < length) {
        const leftNumber = numbers[child]!;
        const rightNumber = numbers[right]!;
        child += +(rightNumber < leftNumber); // no branch: which child is smaller cannot be predicted
        if (rightNumber === leftNumber && orders[slots[right]!]! < orders[slots[child]!]!) child = right;
      }
      const childSlot = slots[child]!;
      const childNumber = numbers[child]!;
      if (number < childNumber || (number === childNumber && orders[slot]! < orders[childSlot]!)) break;
      numbers[place] = childNumber;
      slots[place] = childSlot;
      places[childSlot] = place;
      place = child;
    }
    numbers[place] = number;
    slots[place] = slot;
    places[slot] = place;
  }
}

function resized<A extends Float64Array | Int32Array>(from: A, to: A): A {
  to.set(from.subarray(0, to.length));
  return to;
}
