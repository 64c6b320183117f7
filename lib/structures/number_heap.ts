const MIN_CAPACITY = 16;

/**
 * Min-heap of numbers, each with an entry. By default, equal numbers are popped in the order in which they were pushed.
 *
 * Each entry has a slot, which identifies the entry when its number is decreased later. The data structure comes from
 * Williams' heapsort (CACM 7, 1964). Each place has four children (Johnson, Information Processing Letters 4, 1975), so
 * that the heap has half as many levels as a binary one. Instead of swapping entries at each level, the heap moves a
 * hole to the entry's position and fills the hole once. All data except the entries is in typed arrays, so moving a
 * hole touches few cache lines and no objects.
 */
export class NumberHeap<E> {
  /** Number of entries. */
  length = 0;
  /** Smallest number; `Infinity` if the heap is empty. */
  smallest: number = Infinity;
  #pushed = 0;
  /**
   * Numbers, their orders among equal numbers, and their slots, all indexed by place in the heap. Free slots are stored
   * after the end of the heap.
   */
  #numbers = new Float64Array(MIN_CAPACITY);
  #orders = new Float64Array(MIN_CAPACITY);
  #slots = Int32Array.from({ length: MIN_CAPACITY }, (_, slot) => slot);
  /** Places in the heap and entries, indexed by slot. */
  #places = new Int32Array(MIN_CAPACITY);
  #entries: (E | undefined)[] = [];

  /** Order of the smallest number among equal numbers; `Infinity` if the heap is empty. */
  get smallestOrder(): number {
    return this.length === 0 ? Infinity : this.#orders[0]!;
  }

  /** Entry with the smallest number; `undefined` if the heap is empty. */
  get top(): E | undefined {
    return this.length === 0 ? undefined : this.#entries[this.#slots[0]!];
  }

  /**
   * Adds an entry and returns its slot, which is valid until the entry is removed. Among equal numbers, the number with
   * the smallest `order` is popped first; by default, the number that was pushed first.
   */
  push(entry: E, number: number, order: number = this.#pushed++): number {
    if (this.length === this.#slots.length) this.#resize(this.length * 2);
    const slot = this.#slots[this.length]!;
    this.#entries[slot] = entry;
    this.#siftUp(slot, number, order, this.length++);
    return slot;
  }

  /** Removes the smallest number and returns its entry; `undefined` if the heap is empty. */
  pop(): E | undefined {
    if (this.length === 0) return undefined;
    const slot = this.#slots[0]!;
    const entry = this.#entries[slot];
    this.#entries[slot] = undefined; // lets the entry be garbage collected
    const last = --this.length;
    if (last === 0) this.clear();
    else {
      const moved = this.#slots[last]!;
      this.#slots[last] = slot; // the slot is free now
      this.#siftDown(moved, this.#numbers[last]!, this.#orders[last]!, 0);
    }
    return entry;
  }

  /** Removes a slot's number and its entry. */
  remove(slot: number): void {
    this.#entries[slot] = undefined; // lets the entry be garbage collected
    const last = --this.length;
    if (last === 0) return this.clear();
    const place = this.#places[slot]!;
    const moved = this.#slots[last]!;
    const number = this.#numbers[last]!;
    const order = this.#orders[last]!;
    this.#slots[last] = slot; // the slot is free now
    this.#siftUp(moved, number, order, place);
    if (this.#places[moved] === place) this.#siftDown(moved, number, order, place);
  }

  /** Returns the entry of a slot; `undefined` if the slot is free. */
  entryOf(slot: number): E | undefined {
    return this.#entries[slot];
  }

  /** Returns the number of a slot, which must not be free. */
  numberOf(slot: number): number {
    return this.#numbers[this.#places[slot]!]!;
  }

  /** Returns the order, among equal numbers, of a slot, which must not be free. */
  orderOf(slot: number): number {
    return this.#orders[this.#places[slot]!]!;
  }

  /**
   * Returns the entries of the `limit` smallest numbers, or all entries if there are fewer, in order. Does not change
   * the heap.
   */
  first(limit: number): E[] {
    const entries: E[] = [];
    const candidates = new NumberHeap<number>(); // places whose parents are already in `entries`
    const look = (place: number) => {
      if (place < this.length) candidates.push(place, this.#numbers[place]!, this.#orders[place]!);
    };
    look(0);
    while (entries.length < limit && candidates.length > 0) {
      const place = candidates.pop()!;
      entries.push(this.#entries[this.#slots[place]!]!);
      for (let child = 1; child <= 4; child++) look(4 * place + child);
    }
    return entries;
  }

  /** Calls `visit` with each entry whose number is at most `limit`, in no particular order. */
  visit(limit: number, visit: (entry: E) => void, place = 0): void {
    if (place >= this.length || this.#numbers[place]! > limit) return;
    visit(this.#entries[this.#slots[place]!]!);
    for (let child = 1; child <= 4; child++) this.visit(limit, visit, 4 * place + child);
  }

  /** Decreases the number of a slot. The slot keeps its order among equal numbers. A larger number is ignored. */
  decrease(slot: number, number: number): void {
    const place = this.#places[slot]!;
    if (number < this.#numbers[place]!) this.#siftUp(slot, number, this.#orders[place]!, place);
  }

  /** Gives a slot a number that is not smaller, and a new order among equal numbers: by default, the last place. */
  increase(slot: number, number: number, order: number = this.#pushed++): void {
    this.#siftDown(slot, number, order, this.#places[slot]!);
  }

  /** Removes everything, and frees the memory of a large heap. */
  clear(): void {
    this.length = 0;
    this.smallest = Infinity;
    this.#entries = [];
    if (this.#slots.length > MIN_CAPACITY) this.#resize(MIN_CAPACITY);
  }

  #resize(capacity: number): void {
    this.#numbers = resized(this.#numbers, new Float64Array(capacity));
    this.#slots = resized(this.#slots, new Int32Array(capacity));
    this.#places = resized(this.#places, new Int32Array(capacity));
    this.#orders = resized(this.#orders, new Float64Array(capacity));
    for (let slot = this.length; slot < capacity; slot++) this.#slots[slot] = slot;
  }

  /** Puts a slot in the given place or above it. */
  #siftUp(slot: number, number: number, order: number, place: number): void {
    const numbers = this.#numbers, orders = this.#orders, slots = this.#slots, places = this.#places;
    while (place > 0) {
      const parent = (place - 1) >> 2;
      const parentNumber = numbers[parent]!;
      if (parentNumber < number || (parentNumber === number && orders[parent]! < order)) break;
      const parentSlot = slots[parent]!;
      numbers[place] = parentNumber;
      orders[place] = orders[parent]!;
      slots[place] = parentSlot;
      places[parentSlot] = place;
      place = parent;
    }
    numbers[place] = number;
    orders[place] = order;
    slots[place] = slot;
    places[slot] = place;
    this.smallest = numbers[0]!;
  }

  /** Puts a slot in the given place or below it. */
  #siftDown(slot: number, number: number, order: number, place: number): void {
    const numbers = this.#numbers, orders = this.#orders, slots = this.#slots, places = this.#places;
    const length = this.length;
    for (let first = 4 * place + 1; first < length; first = 4 * place + 1) {
      let child = first;
      if (first + 3 < length) { // almost without branches, because a CPU can't predict which child is smaller
        let left = first, right = first + 2;
        const a = numbers[left]!, b = numbers[left + 1]!, c = numbers[right]!, d = numbers[right + 1]!;
        left += +(b < a || (b === a && orders[left + 1]! < orders[left]!));
        right += +(d < c || (d === c && orders[right + 1]! < orders[right]!));
        const leftNumber = numbers[left]!, rightNumber = numbers[right]!;
        const isRight = rightNumber < leftNumber || (rightNumber === leftNumber && orders[right]! < orders[left]!);
        child = isRight ? right : left;
      } else {
        for (let other = first + 1; other < length; other++) {
          const otherNumber = numbers[other]!, smallest = numbers[child]!;
          if (otherNumber < smallest || (otherNumber === smallest && orders[other]! < orders[child]!)) child = other;
        }
      }
      const childNumber = numbers[child]!;
      if (number < childNumber || (number === childNumber && order < orders[child]!)) break;
      const childSlot = slots[child]!;
      numbers[place] = childNumber;
      orders[place] = orders[child]!;
      slots[place] = childSlot;
      places[childSlot] = place;
      place = child;
    }
    numbers[place] = number;
    orders[place] = order;
    slots[place] = slot;
    places[slot] = place;
    this.smallest = numbers[0]!;
  }
}

function resized<A extends Float64Array | Int32Array>(from: A, to: A): A {
  to.set(from.subarray(0, to.length));
  return to;
}
