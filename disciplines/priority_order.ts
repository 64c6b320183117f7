import type { Order } from "../lib/queue/order.ts";
import { headStartOf, priorityWithin } from "../lib/policy/priority.ts";
import { NumberHeap } from "../lib/structures/number_heap.ts";
import { RecordHeap } from "../lib/structures/record_heap.ts";
import { NONE, RecordList, type Records, setTurn, timeOf, turnOf } from "../lib/structures/records.ts";

/** Maximum number of priorities that have a lane. */
const MAX_LANES = 1024;

/** Records of one priority, first in, first out. */
class Lane {
  readonly list: RecordList;
  readonly priority: number;
  /** Head start of the priority. */
  readonly headStart: number;
  /** Slot of the lane in the heap of lanes. */
  slot = NONE;
  /** Whether the lane is in the list of lanes that may be empty. */
  isListed = false;

  constructor(records: Records, priority: number, headStart: number) {
    this.list = new RecordList(records);
    this.priority = priority;
    this.headStart = headStart;
  }
}

/**
 * Order by priority. Each record has a number, and the record with the smallest number is next. On a tie, the
 * record with the smaller turn is next. Neither depends on the current time, so the order never becomes outdated.
 *
 * Within a priority, numbers and turns ascend from push to push. So each priority has a lane, and only the first record
 * of each lane is in a heap. Records for which this is not true are loose, in a heap of their own: raised records,
 * records that became ready before the last record of their lane, and records beyond the maximum number of lanes.
 */
export class PriorityOrder implements Order {
  length = 0;
  readonly blocked = 0;
  readonly awaitsDone = false;
  begin?: () => void;
  readonly usesTime: boolean;
  readonly #records: Records;
  readonly #min: number;
  readonly #max: number;
  /** Head start of one point of priority, in milliseconds; `Infinity` for strict priorities. */
  readonly #headStart: number;
  readonly #lanes = new Map<number, Lane>();
  /** Lane of the latest push. */
  #latest: Lane | undefined;
  /** Lanes that may be empty, whose place another priority may take. */
  readonly #empty: Lane[] = [];
  /** Lanes with a record, by their first record. */
  readonly #heads = new NumberHeap<Lane>();
  readonly #loose = new RecordHeap();
  /** Number of turns that were given to records. */
  #turns = 0;

  constructor(records: Records, min: number, max: number, headStart: number) {
    this.#records = records;
    this.#min = min;
    this.#max = max;
    this.#headStart = headStart;
    this.usesTime = headStart < Infinity;
  }

  push(record: number): void {
    this.length++;
    setTurn(this.#records, record, ++this.#turns);
    this.#place(record, priorityWithin(this.#min, this.#max, this.#records.priorityOf(record)));
  }

  pop(): number {
    if (this.length === 0) return NONE;
    this.length--;
    const heads = this.#heads;
    const loose = this.#loose;
    const isLoose = loose.length > 0 && (loose.smallest < heads.smallest ||
      loose.smallest === heads.smallest && loose.smallestOrder < heads.smallestOrder);
    if (isLoose) return loose.shift();
    const lane = heads.top!;
    const record = lane.list.first;
    this.#takeFrom(lane, record);
    return record;
  }

  touch(record: number, before: number): void {
    const records = this.#records;
    const from = priorityWithin(this.#min, this.#max, before);
    const priority = priorityWithin(this.#min, this.#max, records.priorityOf(record));
    if (priority <= from) return;
    if (this.#loose.has(record)) this.#loose.delete(record);
    else this.#takeFrom(this.#lanes.get(from)!, record);
    if (this.usesTime) this.#setLoose(record, priority, headStartOf(this.#min, this.#headStart, priority));
    else {
      setTurn(records, record, ++this.#turns);
      this.#place(record, priority);
    }
  }

  remove(record: number): void {
    this.length--;
    if (this.#loose.has(record)) this.#loose.delete(record);
    else {this.#takeFrom(
        this.#lanes.get(priorityWithin(this.#min, this.#max, this.#records.priorityOf(record)))!,
        record,
      );}
  }

  done(): void {}

  peek(limit: number): number[] {
    const found: number[] = [];
    const candidates = new NumberHeap<{ record: number; lane: Lane | undefined }>();
    const add = (record: number, lane?: Lane) => {
      if (record === NONE) return;
      const priority = lane?.priority ?? priorityWithin(this.#min, this.#max, this.#records.priorityOf(record));
      candidates.push(
        { record, lane },
        this.#numberOf(record, priority, headStartOf(this.#min, this.#headStart, priority)),
        turnOf(this.#records, record),
      );
    };
    for (const lane of this.#heads.first(limit)) add(lane.list.first, lane);
    for (const record of this.#loose.list(limit)) add(record);
    while (found.length < limit && candidates.length > 0) {
      const { record, lane } = candidates.pop()!;
      found.push(record);
      if (lane !== undefined) add(this.#records.linkOf(record), lane);
    }
    return found;
  }

  #numberOf(record: number, priority: number, headStart: number): number {
    return this.usesTime ? timeOf(this.#records, record) - headStart : -priority;
  }

  /** Puts a record at the end of a lane, or among the loose records. */
  #place(record: number, priority: number): void {
    const records = this.#records;
    const lane = this.#latest?.priority === priority ? this.#latest : this.#laneOf(priority);
    if (lane === undefined) return this.#setLoose(record, priority, headStartOf(this.#min, this.#headStart, priority));
    const { last } = lane.list;
    if (last === NONE) {
      lane.list.append(record);
      lane.slot = this.#heads.push(
        lane,
        this.#numberOf(record, priority, lane.headStart),
        turnOf(this.#records, record),
      );
    } else if (this.usesTime && timeOf(records, record) < timeOf(records, last)) {
      this.#setLoose(record, priority, lane.headStart);
    } else lane.list.append(record);
  }

  #setLoose(record: number, priority: number, headStart: number): void {
    this.#loose.add(record, this.#numberOf(record, priority, headStart), turnOf(this.#records, record));
  }

  #takeFrom(lane: Lane, record: number): void {
    const isFirst = lane.list.first === record;
    lane.list.remove(record);
    if (!isFirst) return;
    const { first } = lane.list;
    if (first !== NONE) {
      this.#heads.increase(
        lane.slot,
        this.#numberOf(first, lane.priority, lane.headStart),
        turnOf(this.#records, first),
      );
      return;
    }
    this.#heads.remove(lane.slot);
    if (lane.isListed) return;
    lane.isListed = true;
    this.#empty.push(lane);
  }

  /** Returns the lane of a priority; `undefined` if there is none and each lane has a record. */
  #laneOf(priority: number): Lane | undefined {
    let lane = this.#lanes.get(priority);
    if (lane === undefined) {
      if (this.#lanes.size === MAX_LANES && !this.#dropEmptyLane()) return undefined;
      lane = new Lane(this.#records, priority, this.usesTime ? headStartOf(this.#min, this.#headStart, priority) : 0);
      this.#lanes.set(priority, lane);
    }
    return this.#latest = lane;
  }

  #dropEmptyLane(): boolean {
    for (let lane = this.#empty.pop(); lane !== undefined; lane = this.#empty.pop()) {
      lane.isListed = false;
      if (lane.list.first !== NONE) continue;
      this.#lanes.delete(lane.priority);
      return true;
    }
    return false;
  }
}
