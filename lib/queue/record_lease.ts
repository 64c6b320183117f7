import { AGAIN, POSITION, PROCESSING } from "./positions.ts";
import type { Lease } from "../contracts/work_queue.ts";
import type { Records } from "../structures/records.ts";

/** Queue that has handed out a lease. */
interface LeasingQueue {
  /** Returns the position of a key during a hand-out; 0 after it. */
  positionOf(record: number, handOut: number): number;
  /** Ends a hand-out, unless it has already ended. */
  endHandOut(record: number, handOut: number): void;
}

/**
 * Lease on a key, for a single hand-out of the key. A lease is stale once its key is done, even if the key is handed
 * out again.
 */
export class RecordLease<T> implements Lease<T> {
  readonly item: T;
  readonly priority: number;
  readonly key: unknown;
  // Few leases have the following properties, so they cost the others nothing.
  /** Time at which an attempt of a pool began, if the queue remembers failures of the key. */
  declare startedAt?: number;
  /** Whether the limiter has said that the failure of the attempt is not counted. Then, `retry` doesn't ask it. */
  declare isIgnored?: boolean;
  readonly #queue: LeasingQueue;
  readonly #record: number;
  readonly #handOut: number;

  constructor(queue: LeasingQueue, record: number, handOut: number, key: unknown, item: T, priority: number) {
    this.item = item;
    this.priority = priority;
    this.key = key;
    this.#queue = queue;
    this.#record = record;
    this.#handOut = handOut;
  }

  get shutdown(): false {
    return false;
  }

  /**
   * Returns a new function each time, so that the function also works when it is destructured. The function takes no
   * memory until the property is read.
   */
  get addedAgain(): () => boolean {
    return () => this.position === AGAIN;
  }

  /** Position of the key while the hand-out lasts; 0 after it. */
  get position(): number {
    return this.#queue.positionOf(this.#record, this.#handOut);
  }

  /** Returns the record of the key, even if the hand-out is over; `NONE` if the key has none. */
  recordIn(records: Records): number {
    const isHeld = (records.stateWith(this.#record, this.#handOut) & POSITION) >= PROCESSING;
    return isHeld ? this.#record : records.of(this.key);
  }

  [Symbol.dispose](): void {
    this.#queue.endHandOut(this.#record, this.#handOut);
  }
}
