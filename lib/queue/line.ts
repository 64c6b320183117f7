/**
 * The keys of a work queue, each with its ticket, and whose turn it is.
 *
 * It is as at a counter: a key that becomes ready draws a ticket, and is called in its turn. The ticket tells all there
 * is to know of a key:
 *
 * | ticket | the key is |
 * | --- | --- |
 * | none | not here |
 * | greater than {@linkcode Line.called} | ready |
 * | from 1 to {@linkcode Line.called} | held |
 * | minus one of those | held, and added again meanwhile |
 */
export interface Line<T> {
  /** The number of keys that may be called now. */
  readonly length: number;
  /** The number of keys that are ready and may not be called now. */
  readonly blocked: number;
  /** The number of keys that are held. */
  readonly processing: number;
  /** The number of keys that are here: the sum of the three. */
  readonly size: number;
  /** The ticket that was called last. */
  readonly called: number;

  ticketOf(key: unknown): number | undefined;

  /**
   * Makes a key ready that is not here, and returns the ticket that it draws.
   *
   * @throws What the runtime or a discipline throws. The key is not here in that case.
   */
  join(key: unknown, item: T, priority: number): number;

  /**
   * Likewise for a key that is held, with the priority that it was added again with.
   *
   * @throws What a discipline throws. The key is ready all the same.
   */
  rejoin(key: unknown, item: T): number;

  /**
   * Makes a key ready that is not here and that a discipline refused: it goes before the keys that the discipline has.
   *
   * @throws What the runtime throws. The key is not here in that case.
   */
  keep?(key: unknown, item: T, priority: number): number;

  /** Calls the next key and returns it. There must be one. Its ticket is {@linkcode Line.called} from now on. */
  next(): unknown;

  /** The ticket that the key called last had drawn. */
  readonly drawn: number;

  /** The priority that it was called with. */
  readonly priority: number;

  /**
   * Notes that a key with this ticket, which is held, was added again. Of several adds, the highest priority counts.
   */
  addAgain(key: unknown, ticket: number, priority: number): void;

  /** Notes that a ready key was added again, perhaps with a newer item or a higher priority. */
  touch(key: unknown, item: T, priority: number): void;

  /** Lets go of a key that is held. */
  leave(key: unknown): void;

  /**
   * How many batches of keys that became ready together are joining. Unless keys that join later change nothing about
   * who is next, no key may be called meanwhile.
   */
  batches: number;

  /** When keys that join now became ready, if they are of a batch. */
  readyAt: number | undefined;

  /** When the last key became ready, where that is noted. */
  readonly latest: number;

  /** Keys that may be called now, the next one first as far as that is known; `limit` at most. */
  listReady(limit: number): ListedKey[];

  /** Keys that are held; `limit` at most. */
  listHeld(limit: number): ListedKey[];
}

/** What a snapshot shows of a key. */
export interface ListedKey {
  readonly key: unknown;
  readonly priority: number;
}
