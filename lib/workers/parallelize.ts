/**
 * Parallel work on a known number of pieces.
 *
 * @module
 */

import { A_NON_NEGATIVE_INTEGER, A_POSITIVE_INTEGER, A_SIGNAL, requireRule, requireRules } from "../base/arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import { burst } from "../structures/burst.ts";

/** Options of {@linkcode parallelizeUntil}. */
export interface ParallelizeOptions {
  /** Signal to stop. Once the signal aborts, no further pieces start. */
  signal?: AbortSignal | undefined;
  /**
   * Number of pieces that a worker takes at a time; a positive integer. A larger number keeps neighboring pieces on one
   * worker.
   *
   * @default {1}
   */
  chunkSize?: number | undefined;
}

const ACTION = "parallelize";

/**
 * Calls `doWorkPiece` for each piece from 0 up to but not including `pieces`, with at most `workers` calls at a time,
 * until all pieces are done or the signal aborts. Equivalent to client-go's `ParallelizeUntil`.
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
 * @param workers Maximum number of pieces at a time; a positive integer.
 * @param pieces The number of pieces; a non-negative integer.
 * @param doWorkPiece Function that processes the piece with the given index.
 * @param options `signal`: stops early; `chunkSize`: pieces that a worker takes at a time.
 * @returns A promise that resolves when no piece is running any more: all pieces are done, or the signal has aborted
 * (check `signal.aborted`).
 * @throws {RangeError} If `workers`, `pieces` or `chunkSize` is a number out of range.
 * @throws {TypeError} If `doWorkPiece` is not a function, `signal` is not an `AbortSignal`, or an option is unknown or
 * has the wrong type.
 * @throws The error of the first piece that failed. No further piece starts after the failure. The promise rejects once
 * the running pieces have ended.
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
        if (burst.isTooLong()) await burst.turn(); // gives timers a turn, because one of them may abort the signal
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
