import { NONE } from "./records.ts";

const MIN_CAPACITY = 16;

/** Number of places up to which a heap that was emptied keeps its memory, because it is often filled again. */
const KEPT_CAPACITY = 1024;

/** Maximum number of places for each record of a heap, when the memory of a heap that was emptied is freed. */
const MAX_PLACES = 16;

/**
 * Min-heap of numbers, each of a record. By default, equal numbers go in the order in which they were added.
 *
 * A record is a small integer, and has at most one number. The data structure comes from Williams' heapsort (CACM 7,
 * 1964). Each place has four children (Johnson, Information Processing Letters 4, 1975), so that the heap has half as
 * many levels as a binary one. Instead of swapping records at each level, the heap moves a hole to the record's
 * position and fills the hole once. All data is in typed arrays, so moving a hole touches few cache lines.
 */
export class RecordHeap {
  /** Number of records. */
  length = 0;
  /** Smallest number; `Infinity` if the heap is empty. */
  smallest: number = Infinity;
  #pushed = 0;
  /** Numbers, their orders among equal numbers, and their records, all indexed by place in the heap. */
  #numbers = new Float64Array(MIN_CAPACITY);
  #orders = new Float64Array(MIN_CAPACITY);
  #records = new Int32Array(MIN_CAPACITY);
  /** Places in the heap, indexed by record. The place of a record outside the heap has another record, or none. */
  #places = new Int32Array(MIN_CAPACITY);

  /** Order of the smallest number among equal numbers; `Infinity` if the heap is empty. */
  get smallestOrder(): number {
    return this.length === 0 ? Infinity : this.#orders[0]!;
  }

  /** Record with the smallest number; `NONE` if the heap is empty. */
  get next(): number {
    return this.length === 0 ? NONE : this.#records[0]!;
  }

  /**
   * Adds a record, which must not be in the heap. Among equal numbers, the number with the smallest `order` goes first;
   * by default, the number that was added first.
   */
  add(record: number, number: number, order: number = this.#pushed++): void {
    if (this.length === this.#records.length) this.#resize(this.length * 2);
    if (record >= this.#places.length) this.#growPlaces(record);
    this.#siftUp(record, number, order, this.length++);
  }

  /** Removes the smallest number and returns its record; `NONE` if the heap is empty. */
  shift(): number {
    if (this.length === 0) return NONE;
    const record = this.#records[0]!;
    const last = --this.length;
    if (last === 0) this.clear();
    else this.#siftDown(this.#records[last]!, this.#numbers[last]!, this.#orders[last]!, 0);
    return record;
  }

  /** Removes a record. */
  delete(record: number): void {
    const last = --this.length;
    if (last === 0) return this.clear();
    const place = this.#places[record]!;
    const moved = this.#records[last]!;
    if (moved === record) return;
    const number = this.#numbers[last]!;
    const order = this.#orders[last]!;
    this.#siftUp(moved, number, order, place);
    if (this.#places[moved] === place) this.#siftDown(moved, number, order, place);
  }

  /** Reports whether the heap has a record. */
  has(record: number): boolean {
    const place = this.#places[record]!;
    return place < this.length && this.#records[place] === record;
  }

  /** Returns the number of a record. */
  numberOf(record: number): number {
    return this.#numbers[this.#places[record]!]!;
  }

  /** Returns the order, among equal numbers, of a record. */
  orderOf(record: number): number {
    return this.#orders[this.#places[record]!]!;
  }

  /**
   * Returns the `limit` records with the smallest numbers, smallest first; all records if there are fewer. Does not
   * change the heap.
   */
  list(limit: number): number[] {
    const records: number[] = [];
    const places: number[] = []; // places whose parents are already in `records`
    const candidates = new RecordHeap(); // indexes of these places
    const look = (place: number) => {
      if (place < this.length) candidates.add(places.push(place) - 1, this.#numbers[place]!, this.#orders[place]!);
    };
    look(0);
    while (records.length < limit && candidates.length > 0) {
      const place = places[candidates.shift()]!;
      records.push(this.#records[place]!);
      for (let child = 1; child <= 4; child++) look(4 * place + child);
    }
    return records;
  }

  /** Calls `visit` with each record whose number is at most `limit`, in no particular order. */
  visit(limit: number, visit: (record: number) => void, place = 0): void {
    if (place >= this.length || this.#numbers[place]! > limit) return;
    visit(this.#records[place]!);
    for (let child = 1; child <= 4; child++) this.visit(limit, visit, 4 * place + child);
  }

  /** Decreases the number of a record. The record keeps its order among equal numbers. A larger number is ignored. */
  decrease(record: number, number: number): void {
    const place = this.#places[record]!;
    if (number < this.#numbers[place]!) this.#siftUp(record, number, this.#orders[place]!, place);
  }

  /** Gives a record a number that is not smaller, and a new order among equal numbers: by default, the last place. */
  increase(record: number, number: number, order: number = this.#pushed++): void {
    this.#siftDown(record, number, order, this.#places[record]!);
  }

  /** Removes everything, and frees the memory of a large heap. */
  clear(): void {
    this.length = 0;
    this.smallest = Infinity;
    if (this.#places.length <= KEPT_CAPACITY) return;
    // If there are many places for each record that was in the heap, the places are kept, because they may become as
    // many again.
    if (this.#places.length <= MAX_PLACES * this.#records.length) this.#places = new Int32Array(MIN_CAPACITY);
    if (this.#records.length > MIN_CAPACITY) this.#resize(MIN_CAPACITY);
  }

  #resize(capacity: number): void {
    this.#numbers = resized(this.#numbers, new Float64Array(capacity));
    this.#orders = resized(this.#orders, new Float64Array(capacity));
    this.#records = resized(this.#records, new Int32Array(capacity));
  }

  #growPlaces(record: number): void {
    let capacity = this.#places.length;
    while (capacity <= record) capacity *= 2;
    this.#places = resized(this.#places, new Int32Array(capacity));
  }

  /** Puts a record in the given place or above it. */
  #siftUp(record: number, number: number, order: number, place: number): void {
    const numbers = this.#numbers, orders = this.#orders, records = this.#records, places = this.#places;
    while (place > 0) {
      const parent = (place - 1) >> 2;
      const parentNumber = numbers[parent]!;
      if (parentNumber < number || (parentNumber === number && orders[parent]! < order)) break;
      const parentRecord = records[parent]!;
      numbers[place] = parentNumber;
      orders[place] = orders[parent]!;
      records[place] = parentRecord;
      places[parentRecord] = place;
      place = parent;
    }
    numbers[place] = number;
    orders[place] = order;
    records[place] = record;
    places[record] = place;
    this.smallest = numbers[0]!;
  }

  /** Puts a record in the given place or below it. */
  #siftDown(record: number, number: number, order: number, place: number): void {
    const numbers = this.#numbers, orders = this.#orders, records = this.#records, places = this.#places;
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
      const childRecord = records[child]!;
      numbers[place] = childNumber;
      orders[place] = orders[child]!;
      records[place] = childRecord;
      places[childRecord] = place;
      place = child;
    }
    numbers[place] = number;
    orders[place] = order;
    records[place] = record;
    places[record] = place;
    this.smallest = numbers[0]!;
  }
}

function resized<A extends Float64Array | Int32Array>(from: A, to: A): A {
  to.set(from.subarray(0, to.length));
  return to;
}
