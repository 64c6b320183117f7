import { NONE, previousOf, type Records, setPrevious } from "../structures/records.ts";
import type { Order } from "./order.ts";
import { NEEDS_BUDGET, REPEATED } from "./positions.ts";

/** First in, first out: the default order of a queue, and within a group. Ignores priorities. */
export class FifoOrder implements Order {
  length = 0;
  readonly blocked = 0;
  readonly usesTime = false;
  readonly awaitsDone = false;
  protected readonly records: Records;
  protected first = NONE;
  protected last = NONE;

  constructor(records: Records) {
    this.records = records;
  }

  push(record: number): void {
    if (this.length++ === 0) this.first = record;
    else this.records.setLink(this.last, record);
    this.last = record;
  }

  pop(): number {
    if (this.length === 0) return NONE;
    const first = this.first;
    if (--this.length > 0) this.first = this.records.linkOf(first);
    return first;
  }

  touch(): void {}

  done(): void {}

  peek(limit: number): number[] {
    let record = NONE;
    return Array.from({ length: Math.min(limit, this.length) }, (_, i) => {
      return record = i === 0 ? this.first : this.records.linkOf(record);
    });
  }
}

/**
 * First in, first out, for queues whose items can be cancelled. From the first removal on, each record knows the
 * previous one.
 */
export class RemovableFifo extends FifoOrder {
  #isDouble = false;

  override push(record: number): void {
    const previous = this.last;
    super.push(record);
    if (this.#isDouble) setPrevious(this.records, record, previous);
  }

  remove(record: number): void {
    const { records } = this;
    if (!this.#isDouble) this.#makeDouble();
    const [previous, next] = [previousOf(records, record), records.linkOf(record)];
    if (record === this.first) this.first = next;
    else records.setLink(previous, next);
    if (record === this.last) this.last = previous;
    else setPrevious(records, next, previous);
    this.length--;
  }

  #makeDouble(): void {
    this.#isDouble = true;
    let previous = NONE;
    for (const record of this.peek(this.length)) {
      setPrevious(this.records, record, previous);
      previous = record;
    }
  }
}

/** First in, first out, but retries go before all other records. */
export class RetriesFirst implements Order {
  readonly blocked = 0;
  readonly usesTime = false;
  readonly awaitsDone = false;
  readonly #records: Records;
  readonly #retries: RemovableFifo;
  readonly #others: RemovableFifo;

  constructor(records: Records) {
    this.#records = records;
    this.#retries = new RemovableFifo(records);
    this.#others = new RemovableFifo(records);
  }

  get length(): number {
    return this.#retries.length + this.#others.length;
  }

  push(record: number, marks = 0): void {
    if (marks !== 0) setRepeated(this.#records, record);
    this.#lineOf(record).push(record);
  }

  pop(): number {
    return (this.#retries.length > 0 ? this.#retries : this.#others).pop();
  }

  remove(record: number): void {
    this.#lineOf(record).remove(record);
  }

  touch(): void {}

  done(): void {}

  peek(limit: number): number[] {
    const retries = this.#retries.peek(limit);
    return [...retries, ...this.#others.peek(limit - retries.length)];
  }

  #lineOf(record: number): RemovableFifo {
    return (this.#records.stateOf(record) & REPEATED) === 0 ? this.#others : this.#retries;
  }
}

/** Marks a key that becomes ready as one whose next attempt is not the first. */
export function setRepeated(records: Records, record: number): void {
  records.setState(record, records.stateOf(record) & ~NEEDS_BUDGET | REPEATED);
}
