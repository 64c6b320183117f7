const MIN_CAPACITY = 16;

/**
 * A binary min-heap of deadlines, each with a value: the earliest first, equal ones in the order they were
 * pushed.
 *
 * What is pushed gets a slot, the number by which it is found again to be given an earlier deadline. See
 * Williams' heapsort (CACM 7, 1964) for the structure. Instead of swapping at each level, a hole is moved to
 * where an entry belongs and filled once; and all but the values is in typed arrays, so that moving a hole
 * touches a few cache lines and no objects.
 */
export class DeadlineHeap<V> {
  #length = 0;
  #pushed = 0;
  /** By place in the heap: the deadlines, and whose they are. Behind the heap's end are the slots that are free. */
  #deadlines = new Float64Array(MIN_CAPACITY);
  #slots = Int32Array.from({ length: MIN_CAPACITY }, (_, slot) => slot);
  /** By slot: the place in the heap, which of two was pushed first, and the value. */
  #places = new Int32Array(MIN_CAPACITY);
  #orders = new Float64Array(MIN_CAPACITY);
  #values: (V | undefined)[] = [];

  get length(): number {
    return this.#length;
  }

  /** The earliest deadline; infinity if there is none. */
  get earliest(): number {
    return this.#length === 0 ? Infinity : this.#deadlines[0]!;
  }

  /** Returns the slot, which is the value's until it is popped. */
  push(value: V, deadline: number): number {
    if (this.#length === this.#slots.length) this.#resize(this.#length * 2);
    const slot = this.#slots[this.#length]!;
    this.#orders[slot] = this.#pushed++;
    this.#values[slot] = value;
    this.#siftUp(slot, deadline, this.#length++);
    return slot;
  }

  /** Removes the earliest and returns its value. */
  pop(): V | undefined {
    if (this.#length === 0) return undefined;
    const slot = this.#slots[0]!;
    const value = this.#values[slot];
    this.#values[slot] = undefined; // or the heap would keep it from being collected
    const last = --this.#length;
    if (last === 0) this.clear();
    else {
      const moved = this.#slots[last]!;
      this.#slots[last] = slot;
      this.#siftDown(moved, this.#deadlines[last]!);
    }
    return value;
  }

  /** Moves a slot to an earlier deadline; among equals it keeps its order. A later deadline changes nothing. */
  decrease(slot: number, deadline: number): void {
    const place = this.#places[slot]!;
    if (deadline < this.#deadlines[place]!) this.#siftUp(slot, deadline, place);
  }

  /** Removes everything, and gives back the memory of a heap that was large. */
  clear(): void {
    this.#length = 0;
    this.#values = [];
    if (this.#slots.length > MIN_CAPACITY) this.#resize(MIN_CAPACITY);
  }

  #resize(capacity: number): void {
    this.#deadlines = resized(this.#deadlines, new Float64Array(capacity));
    this.#slots = resized(this.#slots, new Int32Array(capacity));
    this.#places = resized(this.#places, new Int32Array(capacity));
    this.#orders = resized(this.#orders, new Float64Array(capacity));
    for (let slot = this.#length; slot < capacity; slot++) this.#slots[slot] = slot;
  }

  #siftUp(slot: number, deadline: number, place: number): void {
    const deadlines = this.#deadlines, slots = this.#slots, places = this.#places, orders = this.#orders;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const parentSlot = slots[parent]!;
      const parentDeadline = deadlines[parent]!;
      if (parentDeadline < deadline || (parentDeadline === deadline && orders[parentSlot]! < orders[slot]!)) break;
      deadlines[place] = parentDeadline;
      slots[place] = parentSlot;
      places[parentSlot] = place;
      place = parent;
    }
    deadlines[place] = deadline;
    slots[place] = slot;
    places[slot] = place;
  }

  /** Puts a slot in place of the root. */
  #siftDown(slot: number, deadline: number): void {
    const deadlines = this.#deadlines, slots = this.#slots, places = this.#places, orders = this.#orders;
    const length = this.#length;
    const firstLeaf = length >> 1;
    let place = 0;
    while (place < firstLeaf) {
      let child = 2 * place + 1;
      const right = child + 1;
      if (right < length) {
        const leftDeadline = deadlines[child]!;
        const rightDeadline = deadlines[right]!;
        child += +(rightDeadline < leftDeadline); // no branch: which child is earlier cannot be predicted
        if (rightDeadline === leftDeadline && orders[slots[right]!]! < orders[slots[child]!]!) child = right;
      }
      const childSlot = slots[child]!;
      const childDeadline = deadlines[child]!;
      if (deadline < childDeadline || (deadline === childDeadline && orders[slot]! < orders[childSlot]!)) break;
      deadlines[place] = childDeadline;
      slots[place] = childSlot;
      places[childSlot] = place;
      place = child;
    }
    deadlines[place] = deadline;
    slots[place] = slot;
    places[slot] = place;
  }
}

function resized<A extends Float64Array | Int32Array>(from: A, to: A): A {
  to.set(from.subarray(0, to.length));
  return to;
}
