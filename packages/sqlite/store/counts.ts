import type { QueueCounts } from "@workqueue/engine";
import { Line, placeInTurn } from "./item.ts";
import type { Queue } from "./queue.ts";

/** Counts the keys of a queue. Takes the same time for any number of keys. */
export function countKeys(queue: Queue): QueueCounts {
  const { tx, order } = queue;
  tx.flush();
  const { ready, lines, delayed, processing, failing, kept } = tx.state;
  const due = tx.behind === undefined ? 0 : tx.sql.get<{ count: number }>(
    "SELECT COUNT(*) AS count FROM items WHERE queue = ? AND due <= ?",
    tx.queue,
    tx.now,
  )!.count;
  const blockedByGroup = ready - order.ready;
  return {
    ready: order.ready + lines[Line.EARLIER] + lines[Line.STALLED] + lines[Line.SUSPECT] + due,
    blocked: blockedByGroup + lines[Line.BLOCKED_RETRY],
    delayed: delayed - due,
    processing,
    failing,
    givenUp: kept,
    oldestReadyMs: (tx.now - oldest(queue)) / 1000,
  };
}

/**
 * Returns the time when the oldest ready key became ready. Keys that were handed out and came back have negative
 * places, and are treated as ready since their hand-out.
 */
function oldest({ tx }: Queue): number {
  let oldest = tx.behind ?? tx.now;
  const { state } = tx;
  const few = [Line.STALLED, Line.SUSPECT, Line.BLOCKED_RETRY].filter((line) => state.lines[line] > 0);
  const lines: number[] = [...few];
  for (let line = state.firstLine; line <= state.line; line++) lines.push(line);
  for (const line of lines) {
    const first = (from: number) =>
      tx.sql.get<{ place: number }>(
        "SELECT place FROM items WHERE queue = ? AND line = ? AND place >= ? ORDER BY place LIMIT 1",
        tx.queue,
        line,
        from,
      )?.place ?? Infinity;
    const place = first(Number.MIN_SAFE_INTEGER);
    oldest = Math.min(oldest, placeInTurn(place), place < 0 ? first(0) : Infinity);
  }
  return oldest;
}
