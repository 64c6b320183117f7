import { FailureFields, NONE, PAGE, type Records } from "./records.ts";

/** Bits of a record that are its place in its page. */
const PLACE = PAGE - 1;

/** Fields of records for failures, outside of {@linkcode Records}, because only rate limiting queues have them. */
export class FailureRecords {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Begins to remember the failures of a key: none so far. */
  begin(record: number): void {
    const { numbers } = this.#records.pageOf(record).failures ??= new FailureFields();
    numbers[2 * (record & PLACE)] = 0;
    numbers[2 * (record & PLACE) + 1] = NONE;
  }

  /** Returns the number of failures of a key that is remembered. */
  countOf(record: number): number {
    return this.#fieldsOf(record).numbers[2 * (record & PLACE)]!;
  }

  /** Counts one more failure. `end` is the end of the delay after it. */
  add(record: number, end: number): void {
    this.#fieldsOf(record).numbers[2 * (record & PLACE)]!++;
    this.setEnd(record, end);
  }

  setEnd(record: number, end: number): void {
    this.#fieldsOf(record).ends[record & PLACE] = end;
  }

  /** Returns the end of the last delay after a failure. */
  endOf(record: number): number {
    return this.#fieldsOf(record).ends[record & PLACE]!;
  }

  /** Returns the slot in the heap of keys whose failures expire; {@linkcode NONE} if the key is not in the heap. */
  slotOf(record: number): number {
    return this.#fieldsOf(record).numbers[2 * (record & PLACE) + 1]!;
  }

  setSlot(record: number, slot: number): void {
    this.#fieldsOf(record).numbers[2 * (record & PLACE) + 1] = slot;
  }

  /** Returns the time of the first failure of a key that is failing; `undefined` if the queue sets no such times. */
  firstFailureOf(record: number): number | undefined {
    return this.#records.pageOf(record).failures?.times?.[record & PLACE];
  }

  setFirstFailure(record: number, time: number): void {
    (this.#fieldsOf(record).times ??= new Float64Array(PAGE))[record & PLACE] = time;
  }

  #fieldsOf(record: number): FailureFields {
    return this.#records.pageOf(record).failures!;
  }
}
