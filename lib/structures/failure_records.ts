import { FailureFields, type Links, PAGE, type Records } from "./records.ts";

/** Bits of a record that are its place in its page. */
const PLACE = PAGE - 1;

/** Fields of records for failures, outside of {@linkcode Records}, because only rate limiting queues have them. */
export class FailureRecords implements Links {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Returns the number of attempts at a key that is remembered. */
  attemptsOf(record: number): number {
    return this.#records.pageOf(record).failures!.numbers[3 * (record & PLACE)]!;
  }

  setAttempts(record: number, attempts: number): void {
    (this.#records.pageOf(record).failures ??= new FailureFields()).numbers[3 * (record & PLACE)] = attempts;
  }

  linkOf(record: number): number {
    return this.#records.pageOf(record).failures!.numbers[3 * (record & PLACE) + 1]!;
  }

  setLink(record: number, link: number): void {
    this.#records.pageOf(record).failures!.numbers[3 * (record & PLACE) + 1] = link;
  }

  previousOf(record: number): number {
    return this.#records.pageOf(record).failures!.numbers[3 * (record & PLACE) + 2]!;
  }

  setPrevious(record: number, previous: number): void {
    this.#records.pageOf(record).failures!.numbers[3 * (record & PLACE) + 2] = previous;
  }

  /** Returns the time of the first failure of a key that is failing; `undefined` if the queue sets no such times. */
  firstFailureOf(record: number): number | undefined {
    return this.#records.pageOf(record).failures?.times?.[record & PLACE];
  }

  setFirstFailure(record: number, time: number): void {
    (this.#records.pageOf(record).failures!.times ??= new Float64Array(PAGE))[record & PLACE] = time;
  }
}
