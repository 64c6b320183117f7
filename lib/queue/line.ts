import type { Clock } from "../base/clock.ts";
import { argumentError } from "../base/errors.ts";
import type { QueueDiscipline } from "../contracts/discipline.ts";
import type { QueueGroups } from "../contracts/queue_hooks.ts";

/**
 * Offset added to the tickets of ready keys in a line that calls keys in any order: the ticket of a ready key must
 * always be greater than the most recently called ticket.
 */
export const READY = 2 ** 52;

/** Creates the error for a discipline that returned something other than a ready item of its queue. */
export function noReadyItem(): Error {
  return argumentError("get an item", "the discipline returned no ready item: each queue needs its own", Error);
}

/**
 * Key of a discipline's {@linkcode LineMaker}. The symbol is not in the global registry, because the queue and the line
 * must be of one copy of the package.
 */
const LINE = /* @__PURE__ */ Symbol();

/**
 * Makes a line for a discipline.
 *
 * @param given The discipline as the queue has it: perhaps an object that wraps the discipline.
 * @returns The line; `undefined` if the queue must use the methods of `given`.
 */
export type LineMaker = (given: object, clock: Clock) => Line<unknown> | undefined;

/**
 * Sets the function that makes lines for a discipline. The function is not a class member, because bundlers would then
 * keep the class even if nothing uses it.
 */
export function setLineMaker(discipline: object, make: LineMaker): void {
  // Not with `setBrand`: configurable, so that a proxy of the discipline may return another function.
  const property = { __proto__: null, value: make, configurable: true };
  Object.defineProperty(discipline, LINE, property as PropertyDescriptor);
}

/**
 * Returns the line that a discipline makes; `undefined` if it makes none.
 *
 * @param given The discipline as the queue has it: perhaps an object that wraps the discipline.
 */
export function lineOf(discipline: object, clock: Clock, given = discipline): Line<unknown> | undefined {
  return (discipline as { [LINE]?: LineMaker })[LINE]?.(given, clock);
}

/**
 * Keys of a work queue, each with its ticket, in the order in which they are called.
 *
 * A line works like the numbered tickets at a service counter: a key draws a ticket when it becomes ready, and is
 * called when its turn comes. The state of a key depends only on its ticket:
 *
 * | ticket | the key is |
 * | --- | --- |
 * | none | not in the queue |
 * | greater than {@linkcode Line.called} | ready |
 * | from 1 to {@linkcode Line.called} | processing |
 * | from minus {@linkcode Line.called} to -1 | processing, and added again |
 */
export interface Line<T> {
  /** Number of keys that can be called now. */
  readonly length: number;
  /** Number of keys that are ready but can't be called now. */
  readonly blocked: number;
  /**
   * Next time at which blocked keys become ready although nothing is done; `Infinity` if there is none. Absent if keys
   * are never blocked until a time.
   */
  readonly nextChangeAt?: number | undefined;
  /** Groups of the keys; absent if they have none. */
  readonly groups?: LineGroups | undefined;
  /** Number of keys that are processing. */
  readonly processing: number;
  /** Number of keys in the line: the sum of `length`, `blocked` and `processing`. */
  readonly size: number;
  /** Ticket called last. */
  readonly called: number;

  ticketOf(key: unknown): number | undefined;

  /**
   * Makes a key ready. The key must not be in the line. Returns the ticket that the key draws.
   *
   * @throws Any error thrown by the runtime or a discipline. After an error, the key is not in the line, unless the
   * discipline caused the key to be handed out before the error.
   */
  join(key: unknown, item: T, priority: number): number;

  /**
   * Makes a processing key ready, with the priority with which it was added again. Returns the ticket that the key
   * draws.
   *
   * @throws Any error thrown by a discipline. The key becomes ready despite the error.
   */
  rejoin(key: unknown, item: T): number;

  /**
   * Makes a key ready even though a discipline refused it. The key must not be in the line. The key is called before
   * the discipline's keys. Returns the ticket that the key draws.
   *
   * @throws Any error thrown by the runtime. In that case, the key is not in the line.
   */
  keep?(key: unknown, item: T, priority: number): number;

  /** Calls the next key and returns it. There must be a ready key. {@linkcode Line.called} becomes the key's ticket. */
  next(): unknown;

  /** Ticket that was drawn by the most recently called key when that key became ready. */
  readonly drawn: number;

  /** Priority of the most recently called key at the time of the call. */
  readonly priority: number;

  /**
   * Records that a processing key with this ticket was added again. If the key is added several times, the highest
   * priority applies.
   */
  addAgain(key: unknown, ticket: number, priority: number): void;

  /**
   * Takes back the record that a processing key was added again. Returns the priority with which the key was added
   * again.
   */
  unmark(key: unknown): number;

  /** Records that a ready key was added again, possibly with a newer item or a higher priority. */
  touch(key: unknown, item: T, priority: number): void;

  /** Removes a processing key. */
  leave(key: unknown): void;

  /**
   * Number of batches whose keys are being added. All keys of a batch become ready together. During a batch, no key may
   * be called, unless the order of the line guarantees that keys added later are also called later.
   */
  batches: number;

  /** Time at which the keys of the current batch became ready; `undefined` if no slice of a batch is being added. */
  readyAt: number | undefined;

  /** Time at which the latest key became ready; `-Infinity` if the line does not record this time. */
  readonly latest: number;

  /** Returns at most `limit` of the keys that can be called now, in order as far as the order is known. */
  listReady(limit: number): ListedKey[];

  /** Returns at most `limit` processing keys. */
  listProcessing(limit: number): ListedKey[];
}

/** Groups of the keys in a line: the members of a discipline that concern them. */
export interface LineGroups extends QueueGroups, Pick<QueueDiscipline<unknown>, "resumeGroup"> {
  pauseGroup(group: unknown, until: number): void;
  /**
   * Converts a duration to milliseconds, or throws. A work queue contains no parser, so without this method, it accepts
   * only numbers. The layers above a work queue accept any duration.
   */
  readDuration?(action: string, option: string, duration: unknown): number;
}

/** Key and priority, as a snapshot shows them. */
export interface ListedKey {
  readonly key: unknown;
  readonly priority: number;
}
