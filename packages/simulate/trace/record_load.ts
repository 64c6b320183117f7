import { type RateLimitingQueue, systemClock, type WorkerPool } from "@workqueue/core";
import { inspectionOf } from "@workqueue/core/hooks";
import { A_BOOLEAN, argumentError, requireRule, requireRules } from "@workqueue/core/internal";
import { watchFailures } from "@workqueue/core/metrics";
import { KeyNames } from "./key_names.ts";
import { LoadObserver } from "./load_observer.ts";
import { TraceWriter } from "./trace_writer.ts";

/** Options of {@linkcode recordLoad}. */
export interface RecordLoadOptions {
  /**
   * Whether the trace contains the keys themselves. By default, it contains hashes of them, with a random salt.
   *
   * @default {false}
   */
  plainKeys?: boolean | undefined;
  /**
   * Text that ends the name of the group in a key, as in the `separator` of a fair discipline. The group is then hashed
   * on its own, so that a simulation of the trace has the same groups, under other names.
   *
   * @default {keys have no groups}
   */
  separator?: string | undefined;
}

/**
 * Recording of a load. Disposing it ends the recording, and writes what has not been written. With `await using`, the
 * last lines are written before the program goes on.
 */
export interface LoadRecording extends Disposable, AsyncDisposable {
  /** Number of events that are missing in the trace because `write` was too slow or failed. */
  readonly dropped: number;
}

const ACTION = "record load";

/**
 * Records the load of a queue as a trace that {@linkcode simulate} can replay: when items are added, how long attempts
 * take, and which of them fail. Items that were ready before count as added at the beginning. An item that is added
 * with a delay counts as added when the delay ends.
 *
 * The trace is text in lines of JSON. Events are formatted later, in slices of at most a few milliseconds. If `write`
 * is so slow that 100,000 events are waiting, further events are dropped and counted. If `write` fails, its events are
 * counted too.
 *
 * @example A trace in a file
 * ```ts ignore
 * import { createWriteStream } from "node:fs";
 * import { recordLoad } from "@workqueue/simulate";
 *
 * const file = createWriteStream("trace.jsonl");
 * const write = (lines: string) => new Promise<void>((resolve) => file.write(lines, () => resolve()));
 * await using recording = recordLoad(queue, pool, write);
 * ```
 *
 * @typeParam T The type of the items.
 * @param queue The queue, in memory.
 * @param pool The pool that works on the items.
 * @param write Writes some lines. The next lines are passed after the promise, if there is one, has resolved.
 * @param options All are optional.
 * @returns The recording.
 * @throws {TypeError} If the queue or the pool can't be recorded, because it is not from this package, or an option is
 * unknown or has the wrong type.
 */
export function recordLoad<T>(
  queue: RateLimitingQueue<T>,
  pool: WorkerPool<T>,
  write: (lines: string) => void | Promise<void>,
  options: RecordLoadOptions = {},
): LoadRecording {
  requireRule(ACTION, "write", write, [(value) => typeof value === "function", "must be a function"]);
  requireRules(ACTION, options, {
    plainKeys: A_BOOLEAN,
    separator: [(value: unknown) => typeof value === "string" && value !== "", "must be a text, and not empty"],
  });
  const { plainKeys = false, separator } = options;
  const inspection = inspectionOf<T>(queue);
  if (inspection === undefined) throw argumentError(ACTION, "the queue must be one of this package, in memory");
  const clock = queue.clock ?? systemClock;
  const startedAt = clock.now();
  const writer = new TraceWriter({ write, names: new KeyNames(plainKeys, separator), separator, startedAt });
  const dueAt = (item: T) => inspection.dueAt(item);
  const { ready, blocked } = queue.snapshot({ limit: 0 });
  const observer = new LoadObserver<T>({ writer, startedAt, dueAt, earlier: ready + blocked });
  const endWatch = watchFailures<T>(pool, {
    failed: (attempt) => observer.failed(attempt),
    ended: (key) => observer.ended(key),
  });
  if (endWatch === undefined) throw argumentError(ACTION, "the pool must be one of runWorkers");
  const stop = inspection.listen(observer);
  const end = () => {
    endWatch();
    stop();
    return writer.end();
  };
  return {
    get dropped() {
      return writer.dropped;
    },
    [Symbol.dispose]: () => void end(),
    [Symbol.asyncDispose]: end,
  };
}
