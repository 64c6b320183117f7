import { isSameKey } from "../base/keys.ts";
import { divided, type LargeMap, MAX_KEYS, noRoom, swept } from "../base/parted_map.ts";

/** Number that stands for no record. */
export const NONE = -1;

/**
 * Number of records in a page, as a power of two, and the bits of a record that are its place in the page. Pages are
 * found with `>>>`: with `>>`, the page of `NONE` would have a negative index, which V8 looks up as a name.
 */
const PAGE_BITS = 8;
export const PAGE: number = 1 << PAGE_BITS;
export const PLACE: number = PAGE - 1;

/** Value in the place of a free record's key, also of one that was never used, because `undefined` is a key. */
const FREE = Symbol();

/** While there are at most this many records, the entry of a removed key is deleted at once, so none is outdated. */
const SMALL = 32;

/** A queue with at most this many pages keeps the memory of empty ones, because it is often filled again. */
const KEPT_PAGES = 4;

/**
 * Maximum number of entries per key: when a key is added, and when one is removed. The second is higher, because
 * further removals may follow.
 */
const MAX_ENTRIES = 5;
const MAX_ENTRIES_LEFT = 16;

/** Fields of some records. Their number is fixed, so that growing moves no memory. */
export class Page {
  /** Number of records that are in use. */
  used = 0;
  /** Place of the first free record, whose link is the place of the next one. Places from `end` on were never used. */
  free = NONE;
  end = 0;
  readonly number: number;
  readonly keys: unknown[] = new Array(PAGE).fill(FREE);
  /** State and link of each record, side by side: an array for each would take more memory. */
  readonly fields: Int32Array = new Int32Array(2 * PAGE);
  /** Created when a priority is first not 0. */
  priorities: Float64Array | undefined = undefined;
  /** `undefined` if each item is its own key. */
  readonly items: unknown[] | undefined;
  /** Entries that a discipline of the user has for keys. Created when it first has one. */
  entries: unknown[] | undefined = undefined;
  /**
   * Items and priorities of adds of processing keys. Each array is created when it first has a value; a priority of 0
   * needs none.
   */
  nextItems: unknown[] | undefined = undefined;
  nextPriorities: Float64Array | undefined = undefined;
  /** Fields of delays. Created when a key is first delayed. */
  delays: DelayFields | undefined = undefined;
  /** Fields of failures. Created when a failure of a key is first remembered. */
  failures: FailureFields | undefined = undefined;
  /** Fields of times, for an observer. Created when it first has a time for a key. */
  times: TimeFields | undefined = undefined;
  /** Time and turn of each record, side by side, and previous records: for an order other than first in, first out. */
  readonly numbers: Float64Array | undefined;
  previous: Int32Array | undefined;

  constructor(number: number, hasItems: boolean, isOrdered: boolean) {
    this.number = number;
    if (hasItems) this.items = new Array(PAGE);
    if (!isOrdered) return;
    this.numbers = new Float64Array(2 * PAGE);
    this.previous = new Int32Array(PAGE);
  }
}

/** Fields of the delays of records. */
class DelayFields {
  /** Created when a priority is first not 0. */
  priorities: Float64Array | undefined = undefined;
  readonly items: unknown[] | undefined;

  constructor(hasItems: boolean) {
    if (hasItems) this.items = new Array(PAGE);
  }
}

/** Fields of the records whose failures are remembered. */
export class FailureFields {
  /** Numbers of failures. */
  readonly numbers: Int32Array = new Int32Array(PAGE);
  /** Ends of the last delays after a failure. */
  readonly ends: Float64Array = new Float64Array(PAGE);
  /** Times of first failures. Created when one is first set. */
  times: Float64Array | undefined = undefined;
}

/** Mark of a record that is in no list of times, in the place of the previous record. */
export const UNLISTED = -2;

/** Fields of the times of records, for the observer that owns them. */
export class TimeFields {
  readonly owner: object;
  /** Time of each record in its list, and that of an add while the key is processing, side by side; `NaN` for none. */
  readonly times: Float64Array = new Float64Array(2 * PAGE).fill(NaN);
  /** Previous and next record of each record, side by side. */
  readonly links: Int32Array = new Int32Array(2 * PAGE).fill(UNLISTED);

  constructor(owner: object) {
    this.owner = owner;
  }
}

/**
 * One record for each key: everything that a queue knows of the key, from its first add until nothing about the key
 * must be remembered.
 *
 * A record is a small integer. Its fields are in the arrays of a page, so that a million keys cost the garbage
 * collector little, and no operation takes time proportional to the number of keys. A page without records frees its
 * memory.
 *
 * Removing a key doesn't look the key up: its entry in the map becomes outdated. An entry is current if its record has
 * its key. When there are too many outdated entries, a sweep removes them. Runtimes keep a deleted `Map` entry in its
 * hash chain until the map is rehashed, so a map from which the same keys are deleted again and again would be slow.
 */
export class Records {
  /** Number of keys. */
  size = 0;
  /** Number of times that a key got or lost its record. */
  changes = 0;
  #map: LargeMap<unknown, number> = new Map();
  /**
   * Record and key that were added first, while they are the only ones. They are not in the map, because most queues
   * are almost empty.
   */
  #only = NONE;
  #onlyKey: unknown = undefined;
  /** Whether there were at most `SMALL` records at any time since the last time when there was no record. */
  #isSmall = true;
  readonly #hasItems: boolean;
  readonly #isOrdered: boolean;
  /** Pages by number; `undefined` in the place of a page that was freed. Other files use `pageOf`. */
  pages: (Page | undefined)[] = [];
  /** Page from which the next record is taken. It is not freed. */
  #open: Page;
  /** Numbers of the other pages that have free records, or were freed. */
  #partial: number[] = [];

  /**
   * @param hasItems Whether an item may differ from its key.
   * @param isOrdered Whether the order needs times, turns and previous records.
   */
  constructor(hasItems: boolean, isOrdered: boolean) {
    this.#hasItems = hasItems;
    this.#isOrdered = isOrdered;
    this.#open = this.#openNext();
  }

  /** Returns the record of a key; {@linkcode NONE} if the key has none. */
  of(key: unknown): number {
    if (this.#only !== NONE) return isSameKey(this.#onlyKey, key) ? this.#only : NONE;
    const record = this.size === 0 ? undefined : this.#map.get(key);
    if (record === undefined) return NONE;
    if (this.#isSmall) return record;
    const page = this.pages[record >>> PAGE_BITS]; // not in a function, because this is called most often
    const place = record & PLACE;
    return page !== undefined && isSameKey(page.keys[place], key) ? record : NONE;
  }

  /**
   * Gives a key a record with a state, which must not be 0, an item and a priority. The key must have none.
   *
   * @throws {RangeError} If there are as many keys as the runtime's `Map` supports. Then, nothing has changed.
   */
  take(key: unknown, state: number, item: unknown, priority: number): number {
    let page = this.#open;
    if (page.used === PAGE) page = this.#openNext();
    const place = page.free === NONE ? page.end : page.free;
    const record = page.number << PAGE_BITS | place;
    if (this.size === 0 && this.#isSmall) {
      this.#only = record;
      this.#onlyKey = key;
    } else {
      if (this.#only !== NONE) this.#enterOnly();
      if (record >= SMALL) this.#isSmall = false;
      this.#enter(key, record);
    }
    page.used++;
    if (page.free === NONE) page.end++;
    else page.free = page.fields[2 * place + 1]!;
    page.keys[place] = key;
    page.fields[2 * place] = state;
    if (page.items !== undefined) page.items[place] = item;
    if (page.priorities !== undefined) page.priorities[place] = priority;
    else if (priority !== 0) this.setPriority(record, priority);
    this.size++;
    this.changes++;
    return record;
  }

  /** Frees the record of a key. */
  free(record: number): void {
    const page = this.pages[record >>> PAGE_BITS]!;
    const place = record & PLACE;
    this.size--;
    this.changes++;
    if (this.#only !== NONE) {
      this.#only = NONE;
      this.#onlyKey = undefined;
    } else if (this.#isSmall) this.#map.delete(page.keys[place]);
    page.keys[place] = FREE; // lets the key be garbage collected
    page.fields[2 * place] = 0;
    page.fields[2 * place + 1] = page.free;
    page.free = place;
    if (page.items !== undefined) page.items[place] = undefined;
    const used = --page.used;
    if (used === PAGE - 1 && page !== this.#open) this.#partial.push(page.number);
    if (this.#isSmall) return;
    if (used === 0) this.#empty(page);
    if (this.#map.size > MAX_ENTRIES_LEFT * this.size) this.#sweep();
  }

  /** Returns the page of a record, for code that needs several of its fields, at the place `record & PLACE`. */
  pageOf(record: number): Page {
    return this.pages[record >>> PAGE_BITS]!;
  }

  keyOf(record: number): unknown {
    return this.pages[record >>> PAGE_BITS]!.keys[record & PLACE];
  }

  /** Returns the state of a record; 0 if it is free, and for {@linkcode NONE}. */
  stateOf(record: number): number {
    const page = this.pages[record >>> PAGE_BITS];
    return page === undefined ? 0 : page.fields[2 * (record & PLACE)]!;
  }

  setState(record: number, state: number): void {
    this.pages[record >>> PAGE_BITS]!.fields[2 * (record & PLACE)] = state;
  }

  /** Sets the state, the item and the priority of a record. */
  set(record: number, state: number, item: unknown, priority: number): void {
    const page = this.pages[record >>> PAGE_BITS]!;
    const place = record & PLACE;
    page.fields[2 * place] = state;
    if (page.items !== undefined) page.items[place] = item;
    if (page.priorities !== undefined) page.priorities[place] = priority;
    else if (priority !== 0) this.setPriority(record, priority);
  }

  /** Returns the link of a record: usually another record. */
  linkOf(record: number): number {
    return this.pages[record >>> PAGE_BITS]!.fields[2 * (record & PLACE) + 1]!;
  }

  setLink(record: number, link: number): void {
    this.pages[record >>> PAGE_BITS]!.fields[2 * (record & PLACE) + 1] = link;
  }

  priorityOf(record: number): number {
    const { priorities } = this.pages[record >>> PAGE_BITS]!;
    return priorities === undefined ? 0 : priorities[record & PLACE]!;
  }

  setPriority(record: number, priority: number): void {
    const page = this.pages[record >>> PAGE_BITS]!;
    if (page.priorities !== undefined) page.priorities[record & PLACE] = priority;
    else if (priority !== 0) {
      page.priorities = new Float64Array(PAGE);
      page.priorities[record & PLACE] = priority;
    }
  }

  itemOf(record: number): unknown {
    const page = this.pages[record >>> PAGE_BITS]!;
    return (page.items ?? page.keys)[record & PLACE];
  }

  setItem(record: number, item: unknown): void {
    const { items } = this.pages[record >>> PAGE_BITS]!;
    if (items !== undefined) items[record & PLACE] = item;
  }

  /** Returns the item with which a processing key was added again. */
  nextItemOf(record: number): unknown {
    const { items, keys, nextItems } = this.pages[record >>> PAGE_BITS]!;
    return (items === undefined ? keys : nextItems!)[record & PLACE];
  }

  /** Returns the priority with which a processing key was added again. */
  nextPriorityOf(record: number): number {
    const { nextPriorities } = this.pages[record >>> PAGE_BITS]!;
    return nextPriorities === undefined ? 0 : nextPriorities[record & PLACE]!;
  }

  /** Sets the item and the priority with which a processing key was added again. */
  setNext(record: number, item: unknown, priority: number): void {
    const page = this.pages[record >>> PAGE_BITS]!;
    if (page.items !== undefined) (page.nextItems ??= new Array(PAGE))[record & PLACE] = item;
    if (page.nextPriorities === undefined && priority === 0) return;
    (page.nextPriorities ??= new Float64Array(PAGE))[record & PLACE] = priority;
  }

  /** Iterates over the records that are in use. Records that are taken or freed meanwhile may or may not appear. */
  *used(): Generator<number, void> {
    for (const page of [...this.pages]) {
      for (let place = 0; page !== undefined && place < page.end; place++) {
        if (page.fields[2 * place] !== 0) yield page.number << PAGE_BITS | place;
      }
    }
  }

  /** Reports whether a record is that of a key. */
  has(record: number, key: unknown): boolean {
    const page = this.pages[record >>> PAGE_BITS];
    const place = record & PLACE;
    return page !== undefined && isSameKey(page.keys[place], key);
  }

  /** Opens a page with free records. Creates one if there is none. */
  #openNext(): Page {
    const number = this.#partial.pop() ?? this.pages.length;
    return this.#open = this.pages[number] ??= new Page(number, this.#hasItems, this.#isOrdered);
  }

  /**
   * Frees the memory of a page without records or, if no record is left, of all pages. If there are only a few pages,
   * they keep their memory.
   */
  #empty(page: Page): void {
    if (page !== this.#open && this.pages.length > KEPT_PAGES) this.pages[page.number] = undefined;
    if (this.size > 0) return;
    this.#map = new Map();
    this.#isSmall = true;
    if (this.pages.length > KEPT_PAGES) this.pages = [];
    for (const page of this.pages) {
      page!.free = NONE;
      page!.end = 0;
    }
    this.#partial = [...this.pages.keys()].reverse();
    this.#openNext();
  }

  #enterOnly(): void {
    this.#enter(this.#onlyKey, this.#only);
    this.#only = NONE;
    this.#onlyKey = undefined;
  }

  #enter(key: unknown, record: number): void {
    if (!this.#isSmall) {
      if (this.#map.size > MAX_ENTRIES * this.size) this.#sweep();
      if (this.#map.size === MAX_KEYS) this.#map = divided(this.#map);
    }
    try {
      this.#map.set(key, record);
    } catch (cause) {
      if (this.#map.size === this.size) throw noRoom(this.size, cause);
      while (this.#map.size > this.size) this.#sweep();
      this.#map.set(key, record);
    }
  }

  /** Removes the outdated entries. If there are many entries, removes the outdated ones of one part. */
  #sweep(): void {
    this.#map = swept(this.#map, (record, key) => this.has(record, key));
  }
}

// Fields that few queues use. These are functions, because bundlers keep all methods of a class.

/** Returns the entry that a discipline of the user has for the key; `undefined` if it has none. */
export function entryOf(records: Records, record: number): unknown {
  return records.pages[record >>> PAGE_BITS]!.entries?.[record & PLACE];
}

export function setEntry(records: Records, record: number, entry: unknown): void {
  (records.pages[record >>> PAGE_BITS]!.entries ??= new Array(PAGE))[record & PLACE] = entry;
}

/** Begins the delay of an item: sets the state of the record, the item and the priority. */
export function setDelay(records: Records, record: number, state: number, item: unknown, priority: number): void {
  const page = records.pages[record >>> PAGE_BITS]!;
  const place = record & PLACE;
  page.fields[2 * place] = state;
  const delays = page.delays ??= new DelayFields(page.items !== undefined);
  if (delays.items !== undefined) delays.items[place] = item;
  if (delays.priorities !== undefined) delays.priorities[place] = priority;
  else if (priority !== 0) setDelayPriority(records, record, priority);
}

/** Returns the item of a key that is delayed. */
export function delayedItemOf(records: Records, record: number): unknown {
  const page = records.pages[record >>> PAGE_BITS]!;
  return (page.delays!.items ?? page.keys)[record & PLACE];
}

export function setDelayedItem(records: Records, record: number, item: unknown): void {
  const { items } = records.pages[record >>> PAGE_BITS]!.delays!;
  if (items !== undefined) items[record & PLACE] = item;
}

/** Returns the priority of a key that is delayed. */
export function delayPriorityOf(records: Records, record: number): number {
  const { priorities } = records.pages[record >>> PAGE_BITS]!.delays!;
  return priorities === undefined ? 0 : priorities[record & PLACE]!;
}

export function setDelayPriority(records: Records, record: number, priority: number): void {
  const delays = records.pages[record >>> PAGE_BITS]!.delays!;
  if (delays.priorities !== undefined) delays.priorities[record & PLACE] = priority;
  else if (priority !== 0) {
    delays.priorities = new Float64Array(PAGE);
    delays.priorities[record & PLACE] = priority;
  }
}

/** Returns the time at which the key became ready. */
export function timeOf(records: Records, record: number): number {
  return records.pages[record >>> PAGE_BITS]!.numbers![2 * (record & PLACE)]!;
}

export function setTime(records: Records, record: number, time: number): void {
  records.pages[record >>> PAGE_BITS]!.numbers![2 * (record & PLACE)] = time;
}

/** Returns the place of a record among equal ones. */
export function turnOf(records: Records, record: number): number {
  return records.pages[record >>> PAGE_BITS]!.numbers![2 * (record & PLACE) + 1]!;
}

export function setTurn(records: Records, record: number, turn: number): void {
  records.pages[record >>> PAGE_BITS]!.numbers![2 * (record & PLACE) + 1] = turn;
}

export function previousOf(records: Records, record: number): number {
  return records.pages[record >>> PAGE_BITS]!.previous![record & PLACE]!;
}

export function setPrevious(records: Records, record: number, previous: number): void {
  (records.pages[record >>> PAGE_BITS]!.previous ??= new Int32Array(PAGE))[record & PLACE] = previous;
}

/** Doubly linked list of records. A record is in at most one list. */
export class RecordList {
  readonly #records: Records;
  first: number = NONE;
  last: number = NONE;

  constructor(records: Records) {
    this.#records = records;
  }

  append(record: number): void {
    const records = this.#records;
    const { last } = this;
    setPrevious(records, record, last);
    records.setLink(record, NONE);
    if (last === NONE) this.first = record;
    else records.setLink(last, record);
    this.last = record;
  }

  remove(record: number): void {
    const records = this.#records;
    const previous = previousOf(records, record);
    const next = records.linkOf(record);
    if (previous === NONE) this.first = next;
    else records.setLink(previous, next);
    if (next === NONE) this.last = previous;
    else setPrevious(records, next, previous);
  }
}
