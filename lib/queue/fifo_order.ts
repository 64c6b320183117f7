import { NONE, type Records } from "../structures/records.ts";
import type { Order } from "./order.ts";

/** First in, first out: the default order of a queue, and within a group. Ignores priorities. */
export class FifoOrder implements Order {
  length = 0;
  readonly blocked = 0;
  readonly isFifo = true;
  readonly usesTime = false;
  readonly awaitsDone = false;
  readonly #records: Records;
  #first = NONE;
  #last = NONE;

  constructor(records: Records) {
    this.#records = records;
  }

  push(record: number): void {
    if (this.length++ === 0) this.#first = record;
    else this.#records.setLink(this.#last, record);
    this.#last = record;
  }

  pop(): number {
    if (this.length === 0) return NONE;
    const first = this.#first;
    if (--this.length > 0) this.#first = this.#records.linkOf(first);
    return first;
  }

  touch(): void {}

  done(): void {}

  peek(limit: number): number[] {
    let record = NONE;
    return Array.from({ length: Math.min(limit, this.length) }, (_, i) => {
      return record = i === 0 ? this.#first : this.#records.linkOf(record);
    });
  }
}
