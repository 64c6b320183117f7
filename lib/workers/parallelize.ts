/**
 * Work that comes in a known number of pieces.
 *
 * @module
 */

import { A_NON_NEGATIVE_INTEGER, A_POSITIVE_INTEGER, A_SIGNAL, requireRule, requireRules } from "../base/arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import { burst } from "../structures/burst.ts";

/** The options of {@linkcode parallelizeUntil}. */
export interface ParallelizeOptions {
  /** Once it aborts, no further piece is begun. */
  signal?: AbortSignal | undefined;
  /**
   * How many pieces a worker takes at a time. More than one keeps neighbouring pieces with one worker.
   *
   * @default {1}
   */
  chunkSize?: number | undefined;
}

const ACTION = "parallelize";

/**
 * Runs `doWorkPiece` for each piece from 0 up to `pieces`, at most `workers` of them at a time, until all
 * are done or the signal aborts. As client-go's `ParallelizeUntil`.
 *
 * @example Usage
 * ```ts
 * import { parallelizeUntil } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const squares: number[] = [];
 * await parallelizeUntil(4, 5, async (piece) => {
 *   squares[piece] = await Promise.resolve(piece * piece);
 * });
 * assertEquals(squares, [0, 1, 4, 9, 16]);
 * ```
 *
 * @param workers How many pieces are worked on at once; a positive integer.
 * @param pieces The number of pieces; a non-negative integer.
 * @param doWorkPiece Does the piece with this index.
 * @param options A signal to stop early and the size of a chunk.
 * @returns Resolves when no piece is being worked on any more: all are done, or the signal has aborted
 * (look at `signal.aborted` to tell).
 * @throws {RangeError} If `workers`, `pieces` or `chunkSize` is out of its bounds.
 * @throws {TypeError} If `doWorkPiece` is no function, `signal` no signal, or an option is unknown.
 * @throws What the first piece that failed threw. No further piece is begun after it, and those being
 * worked on are waited for.
 */
export async function parallelizeUntil(
  workers: number,
  pieces: number,
  doWorkPiece: (piece: number) => void | Promise<void>,
  options: ParallelizeOptions = {},
): Promise<void> {
  requireRule(ACTION, "workers", workers, A_POSITIVE_INTEGER);
  requireRule(ACTION, "pieces", pieces, A_NON_NEGATIVE_INTEGER);
  if (typeof doWorkPiece !== "function") {
    throw invalidArgument(ACTION, "doWorkPiece", "must be a function", doWorkPiece);
  }
  requireRules(ACTION, options, { signal: A_SIGNAL, chunkSize: A_POSITIVE_INTEGER });
  const { signal, chunkSize = 1 } = options;

  let next = 0;
  let failure: { error: unknown } | undefined;

  async function work(): Promise<void> {
    while (next < pieces) {
      const begin = next;
      const end = Math.min(begin + chunkSize, pieces);
      next = end;
      for (let piece = begin; piece < end; piece++) {
        if (burst.isTooLong()) await burst.turn(); // the signal may be a timer's
        if (signal?.aborted || failure !== undefined) return;
        try {
          await doWorkPiece(piece);
        } catch (error) {
          failure ??= { error };
        }
      }
    }
  }

  const chunks = Math.ceil(pieces / chunkSize);
  await Promise.all(Array.from({ length: Math.min(workers, chunks) }, work));
  if (failure !== undefined) throw failure.error;
}
