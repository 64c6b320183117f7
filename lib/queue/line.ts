/**
 * Keys of a work queue, each with its ticket, in the order in which they are called.
 *
 * A line works like the tickets at a counter: a key draws a ticket when it becomes ready, and is called in its turn. A
 * key's ticket is its whole state:
 *
 * | ticket | the key is |
 * | --- | --- |
 * | none | not in the queue |
 * | greater than {@linkcode Line.called} | ready |
 * | from 1 to {@linkcode Line.called} | processing |
 * | from minus {@linkcode Line.called} to -1 | processing, and added again |
 */
export interface Line<T> {
  /** Number of keys that may be called now. */
  readonly length: number;
  /** Number of keys that are ready but may not be called now. */
  readonly blocked: number;
  /** Number of keys that are processing. */
  readonly processing: number;
  /** Number of keys in the line: the sum of the three counts above. */
  readonly size: number;
  /** Ticket called last. */
  readonly called: number;

  ticketOf(key: unknown): number | undefined;

  /**
   * Makes a key ready that is not in the line. Returns the ticket that it draws.
   *
   * @throws Any error of the runtime or a discipline. The key is not in the line then.
   */
  join(key: unknown, item: T, priority: number): number;

  /**
   * Makes a processing key ready, with the priority with which it was added again. Returns the ticket that it draws.
   *
   * @throws Any error of a discipline. The key is ready all the same.
   */
  rejoin(key: unknown, item: T): number;

  /**
   * Makes a key ready that is not in the line because a discipline refused it. It comes before the discipline's keys.
   * Returns the ticket that it draws.
   *
   * @throws Any error of the runtime. The key is not in the line then.
   */
  keep?(key: unknown, item: T, priority: number): number;

  /** Calls the next key and returns it. There must be one. {@linkcode Line.called} becomes its ticket. */
  next(): unknown;

  /** Ticket that the key called last drew when it became ready. */
  readonly drawn: number;

  /** Priority with which that key was called. */
  readonly priority: number;

  /** Records that a processing key with this ticket was added again. Of several adds, the highest priority counts. */
  addAgain(key: unknown, ticket: number, priority: number): void;

  /** Records that a ready key was added again, possibly with a newer item or a higher priority. */
  touch(key: unknown, item: T, priority: number): void;

  /** Removes a processing key. */
  leave(key: unknown): void;

  /**
   * Number of batches that are joining. The keys of a batch became ready together. Meanwhile no key may be called,
   * unless keys that join later cannot change which one is next.
   */
  batches: number;

  /** Time at which the keys of the current batch became ready; `undefined` outside of a slice of a batch. */
  readyAt: number | undefined;

  /** Time at which the latest key became ready; `-Infinity` if the line does not record it. */
  readonly latest: number;

  /** Returns keys that may be called now, in order as far as it is known; at most `limit`. */
  listReady(limit: number): ListedKey[];

  /** Returns keys that are processing; at most `limit`. */
  listProcessing(limit: number): ListedKey[];
}

/** Key and priority, as a snapshot shows them. */
export interface ListedKey {
  readonly key: unknown;
  readonly priority: number;
}
