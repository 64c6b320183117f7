import { setReplaceableBrand } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import type { QueueDiscipline } from "../contracts/discipline.ts";
import type { QueueGroups } from "../contracts/queue_inspection.ts";
import type { Records } from "../structures/records.ts";

/**
 * Order of a queue's ready keys. It has the records of these keys, except of those that it refused.
 *
 * From `push` to `pop`, the links and the turn of a record belong to the order or, if it has inner orders, to the
 * innermost.
 */
export interface Order {
  /** Number of records that `pop` can return. */
  readonly length: number;
  /** Number of records that are blocked, until `done` is called for another record or until a time. */
  readonly blocked: number;
  /**
   * Next time at which blocked records become ready although nothing is done; `Infinity` or absent if there is none.
   * While there is one, `length` and `blocked` are those of the latest call of `look`.
   */
  readonly nextChangeAt?: number | undefined;
  /** Groups of the keys; absent if they have none. */
  readonly groups?: OrderGroups | undefined;
  /** Whether records that are pushed later are always popped later. */
  readonly isFifo: boolean;
  /** Whether the order reads the times at which the keys became ready. */
  readonly usesTime: boolean;
  /** Whether `done` must be called for each popped record. May become true during `pop`, for the popped record too. */
  readonly awaitsDone: boolean;

  /** Called before the first record enters an empty order. Throws if another queue uses the discipline of the order. */
  begin?(): void;

  /** Makes the records ready whose time has come. */
  look?(): void;

  /**
   * Adds the record of a key that became ready.
   *
   * @throws Any error thrown by a function of the user. After an error, the order doesn't have the record, unless the
   * record was popped before the error.
   */
  push(record: number): void;

  /**
   * Removes the next record and returns it; `NONE` if there is none.
   *
   * @throws An error if there is a next record, but a discipline of the user doesn't return its entry.
   */
  pop(): number;

  /**
   * Called when a ready key was added again. Its record already has the newest item and the highest priority.
   *
   * @param before The earlier priority.
   */
  touch(record: number, before: number): void;

  /**
   * Removes a record that `pop` has not returned. Absent only in layers whose items can't be cancelled.
   *
   * @throws Any error thrown by a discipline of the user. Then, the order still has the record.
   */
  remove?(record: number): void;

  /** Reports whether a record can't be popped now, as far as the order knows. Absent if no record is ever blocked. */
  isBlocked?(record: number): boolean;

  /**
   * Called when a popped record is done.
   *
   * @param durationMs Time since the record was popped, if the caller knows it.
   */
  done(record: number, durationMs?: number): void;

  /** Returns at most `limit` of the records that will be popped next, in order as far as the order is known. */
  peek(limit: number): number[];
}

/** Groups of the keys in an order: the members of a discipline that concern them. */
export interface OrderGroups extends QueueGroups, Pick<QueueDiscipline<unknown>, "resumeGroup"> {
  pauseGroup(group: unknown, until: number): void;
  /**
   * Converts a duration to milliseconds, or throws. A work queue contains no parser, so without this method, it accepts
   * only numbers. The layers above a work queue accept any duration.
   */
  readDuration?(action: string, option: string, duration: unknown): number;
}

/**
 * Key of a discipline's {@linkcode OrderMaker}. The symbol is not in the global registry, because the queue and the
 * order must be of one copy of the package.
 */
const ORDER = /* @__PURE__ */ Symbol();

/**
 * Makes an order for a queue that has a discipline.
 *
 * @param given The discipline as the queue has it: perhaps an object that wraps the discipline.
 */
export type OrderMaker = (given: object, records: Records, clock: Clock) => Order;

/**
 * Sets the function that makes orders for a discipline. The function is not a class member, because bundlers would then
 * keep the class even if nothing uses it.
 */
export function setOrderMaker(discipline: object, make: OrderMaker): void {
  setReplaceableBrand(discipline, ORDER, make);
}

/** Reports whether a value is a discipline that makes orders. */
export function makesOrder(discipline: unknown): discipline is { [ORDER]: OrderMaker } {
  return typeof (discipline as { [ORDER]?: unknown } | null | undefined)?.[ORDER] === "function";
}

/** Returns an order that a discipline makes. */
export function orderOf(discipline: object, records: Records, clock: Clock): Order {
  return (discipline as { [ORDER]: OrderMaker })[ORDER](discipline, records, clock);
}
