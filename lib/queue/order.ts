import type { QueueDiscipline } from "../contracts/discipline.ts";
import type { QueueGroups } from "../contracts/queue_inspection.ts";

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
   * While there is such a time, `length` and `blocked` are as of the latest call of `look`.
   */
  readonly nextChangeAt?: number | undefined;
  /** Groups of the keys; absent if they have none. */
  readonly groups?: OrderGroups | undefined;
  /** Whether the order reads the times at which the keys became ready. */
  readonly usesTime: boolean;
  /** Whether `done` must be called for each popped record. May become true during `pop`, for the popped record too. */
  readonly awaitsDone: boolean;

  /** Called before the first record enters an empty order. Throws if another queue uses the discipline of the order. */
  begin?(): void;

  /** Makes those records ready whose time has come. */
  look?(): void;

  /**
   * Adds the record of a key that became ready.
   *
   * @param marks Kind of the next attempt, if the order is the line of a queue: see {@linkcode Line}.
   * @throws Any error thrown by a function of the user. After an error, the order doesn't have the record, unless the
   * record was popped before the error.
   */
  push(record: number, marks?: number): void;

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

/** Ready keys of a queue: those in an {@linkcode Order}, in the simplest case. */
export interface Line extends Pick<Order, "length" | "pop" | "peek"> {
  /**
   * Adds the record of a key that became ready.
   *
   * @param marks Kind of the next attempt: 0 for a first attempt, and in a queue without a retry budget.
   * @param isKept Whether the key stays ready if the line refuses it. If not, its position is cleared.
   */
  push(record: number, marks: number, isKept: boolean): void;
  /** Removes a record that is ready or blocked. Absent only in layers whose items can't be cancelled. */
  remove?(record: number, state: number): void;
}

/** Groups of the keys in an order: the members of a discipline that concern groups. */
export interface OrderGroups extends QueueGroups, Pick<QueueDiscipline<unknown>, "resumeGroup"> {
  pauseGroup(group: unknown, until: number): void;
}
