import { type Clock, isRealTime } from "../base/clock.ts";
import type { KeyListener, ObservedQueue, QueueObserver } from "../contracts/queue_inspection.ts";
import { burst } from "../structures/burst.ts";
import { NONE, PLACE, type Records, TimeFields, UNLISTED } from "../structures/records.ts";

/** Queue whose times are kept in its records. */
export interface TimedQueue extends ObservedQueue {
  readonly name: string;
  readonly records: Records;
  readonly time: Clock;
}

/** First and last record of a list: those of the ready and blocked keys, or those of the processing keys. */
interface Ends {
  first: number;
  last: number;
}

/**
 * Times of a queue's keys, in their records: when each became ready, or was handed out. Two linked lists of records
 * have the ready and blocked keys, and the processing keys, in the order of these times.
 */
export class KeyTimes implements QueueObserver {
  readonly clock: Clock;
  /** Listeners, in the order in which they are called. The array is replaced, not changed. */
  listeners: readonly KeyListener[] = [];
  readonly #records: Records;
  readonly #ready: Ends = { first: NONE, last: NONE };
  readonly #processing: Ends = { first: NONE, last: NONE };
  /** Start of the recording, and the number of remaining keys that were ready or blocked before it. */
  readonly createdAt: number;
  #earlier: number;
  /**
   * Time at which an item was last done, and the burst in which the next hand-out may use the same time; 0 for none.
   */
  #doneAt = 0;
  #sharedIn = 0;

  constructor({ records, time, size, processing }: TimedQueue) {
    this.#records = records;
    this.clock = time;
    this.createdAt = time.now();
    this.#earlier = size - processing;
  }

  /** Time at which the oldest ready or blocked key became ready; `undefined` if no key is ready or blocked. */
  get oldestReadyAt(): number | undefined {
    return this.#earlier > 0 ? this.createdAt : this.#timeOf(this.#ready.first);
  }

  /** Time of the earliest hand-out among the processing keys; `undefined` if no key is processing. */
  get firstHandOutAt(): number | undefined {
    return this.#timeOf(this.#processing.first);
  }

  /** Adds up the values of a function for the times at which the processing keys were handed out. */
  sumOfHandOuts(valueOf: (time: number) => number): number {
    let sum = 0;
    for (let record = this.#processing.first; record !== NONE;) {
      const { times, links } = this.#fieldsOf(record);
      sum += valueOf(times[2 * (record & PLACE)]!);
      record = links[2 * (record & PLACE) + 1]!;
    }
    return sum;
  }

  added(record: number): void {
    const now = this.#look();
    const records = this.#records;
    const isKnown = records.stateOf(record) !== 0; // if not, a discipline has taken the key and finished it
    if (isKnown) this.#append(this.#ready, record, now);
    const key = isKnown ? records.keyOf(record) : undefined;
    const priority = isKnown ? records.priorityOf(record) : 0;
    for (const listener of this.listeners) listener.added(key, priority, now);
  }

  addedAgain(record: number, priority: number): void {
    const now = this.#look();
    this.#fieldsOf(record).times[2 * (record & PLACE) + 1] = now;
    const key = this.#records.keyOf(record);
    for (const listener of this.listeners) listener.addedAgain(key, priority, now);
  }

  unmarked(record: number): void {
    this.#fieldsOf(record).times[2 * (record & PLACE) + 1] = NaN;
    const key = this.#records.keyOf(record);
    for (const listener of this.listeners) listener.unmarked(key);
  }

  removed(record: number): void {
    this.#remove(this.#ready, record) ?? this.#takeEarlier();
    this.unmarked(record);
  }

  ready(record: number): void {
    const now = this.#look();
    this.#append(this.#ready, record, now);
    const key = this.#records.keyOf(record);
    for (const listener of this.listeners) listener.ready(key, now);
  }

  taken(record: number): void {
    const { times } = this.#fieldsOf(record);
    const at = 2 * (record & PLACE);
    const readyAt = this.#remove(this.#ready, record) ?? this.#takeEarlier();
    const addedAt = times[at + 1]!;
    times[at + 1] = NaN;
    const isShared = this.#sharedIn !== 0 && this.#sharedIn === burst.number;
    this.#sharedIn = 0; // a handler may begin now, and take time
    const now = isShared ? this.#doneAt : this.clock.now(); // may throw; the record is in no list then
    this.#append(this.#processing, record, now);
    const key = this.#records.keyOf(record);
    for (const listener of this.listeners) listener.taken(key, now, readyAt, addedAt === addedAt ? addedAt : readyAt);
  }

  leaving(record: number): number | undefined {
    return this.#remove(this.#processing, record);
  }

  finished(key: unknown, startedAt: number | undefined, handOut: number): void {
    const now = this.#doneAt = this.clock.now();
    this.#sharedIn = isRealTime(this.clock) ? burst.number : 0;
    for (const listener of this.listeners) listener.finished(key, now, startedAt, handOut);
  }

  stop(): void {
    for (const listener of this.listeners) listener.stop?.();
  }

  end(): void {
    for (const listener of this.listeners) listener.end?.();
  }

  #look(): number {
    this.#sharedIn = 0;
    return this.clock.now();
  }

  #takeEarlier(): number | undefined {
    if (this.#earlier === 0) return undefined;
    this.#earlier--;
    return this.createdAt;
  }

  #timeOf(record: number): number | undefined {
    return record === NONE ? undefined : this.#fieldsOf(record).times[2 * (record & PLACE)];
  }

  #fieldsOf(record: number): TimeFields {
    const page = this.#records.pageOf(record);
    return page.times?.owner === this ? page.times : page.times = new TimeFields(this);
  }

  /** Appends a record to a list, unless it is in one: a discipline may take a key before the key is known here. */
  #append(ends: Ends, record: number, time: number): void {
    const { times, links } = this.#fieldsOf(record);
    const at = 2 * (record & PLACE);
    if (links[at] !== UNLISTED) return;
    times[at] = time;
    links[at] = ends.last;
    links[at + 1] = NONE;
    if (ends.last === NONE) ends.first = record;
    else this.#fieldsOf(ends.last).links[2 * (ends.last & PLACE) + 1] = record;
    ends.last = record;
  }

  /** Removes a record from its list, and returns its time; `undefined` if it is in no list. */
  #remove(ends: Ends, record: number): number | undefined {
    const { times, links } = this.#fieldsOf(record);
    const at = 2 * (record & PLACE);
    const previous = links[at]!;
    if (previous === UNLISTED) return undefined;
    const next = links[at + 1]!;
    if (previous === NONE) ends.first = next;
    else this.#fieldsOf(previous).links[2 * (previous & PLACE) + 1] = next;
    if (next === NONE) ends.last = previous;
    else this.#fieldsOf(next).links[2 * (next & PLACE)] = previous;
    links[at] = UNLISTED;
    return times[at]!;
  }
}

/**
 * Begins to call a listener for the keys of a queue in memory. `makeListener` gets the times of the keys, and may
 * return a listener that is already being called. Returns a function that ends the calls.
 */
export function listen(queue: ObservedQueue, makeListener: (times: KeyTimes) => KeyListener): () => void {
  let listener: KeyListener;
  queue.observe((current) => {
    const times = (current ?? new KeyTimes(queue as TimedQueue)) as KeyTimes;
    listener = makeListener(times);
    if (!times.listeners.includes(listener)) times.listeners = [...times.listeners, listener];
    return times;
  });
  return () =>
    queue.observe((current) => {
      if (current === undefined) return undefined;
      const times = current as KeyTimes;
      times.listeners = times.listeners.filter((one) => one !== listener);
      return times.listeners.length === 0 ? undefined : times;
    });
}
