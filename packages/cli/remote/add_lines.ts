import type { RemoteQueue } from "@workqueue/engine";
import { UsageError } from "../system/usage_error.ts";

/** Largest number of lines that one call adds. */
const BATCH = 1000;

/** Options of {@linkcode addLines}. */
export interface AddLinesOptions {
  readonly priority?: number | undefined;
  /** Delay in milliseconds. */
  readonly delay?: number | undefined;
  /** Number of items in the queue below which more are added. */
  readonly whenBelow?: number | undefined;
}

/** Numbers of lines that were added to a queue. */
export interface AddedLines {
  readonly added: number;
  /** Number of these lines that are not new items, because the queue already had them. */
  readonly folded: number;
}

/**
 * Adds lines to a queue, in batches.
 *
 * @param queue The queue.
 * @param chunks The lines.
 * @param options The priority and delay of the items, and the limit on the length of the queue.
 * @returns The number of added lines, and of those that were folded into items of the queue.
 * @throws {UsageError} If the lines can't be read or added. The message says how many were added before.
 */
export async function addLines(
  queue: RemoteQueue,
  chunks: AsyncIterable<readonly string[]>,
  { priority, delay, whenBelow }: AddLinesOptions = {},
): Promise<AddedLines> {
  const size = Math.min(BATCH, whenBelow ?? BATCH);
  let added = 0;
  let folded = 0;
  try {
    for await (const lines of chunks) {
      for (let start = 0; start < lines.length; start += size) {
        const batch = lines.slice(start, start + size);
        if (whenBelow !== undefined) await queue.whenBelow(whenBelow);
        folded += (await queue.addAll(batch, { priority, delay })).folded;
        added += batch.length;
      }
    }
  } catch (error) {
    throw added === 0
      ? error
      : new UsageError(`${(error as Error).message} (after ${countLines(added)} had been added)`, { cause: error });
  }
  return { added, folded };
}

/** Describes how many lines were added, and how many were folded. */
export function describeAdded({ added, folded }: AddedLines, to = ""): string {
  const items = added - folded === 1 ? "1 item" : `${added - folded} items`;
  return `Added ${countLines(added)}${to}${folded === 0 ? "" : `: ${items}, ${folded} folded`}`;
}

/** Returns a number of lines in words. */
export function countLines(lines: number): string {
  return lines === 1 ? "1 line" : `${lines} lines`;
}
