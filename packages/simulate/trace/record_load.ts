import { type RateLimitingQueue, systemClock, type WorkerPool } from "@workqueue/core";
import { type HookedQueue, HOOKS, type QueueObserver } from "@workqueue/core/hooks";
import { A_BOOLEAN, argumentError, requireRule, requireRules } from "@workqueue/core/internal";
import { watchFailures } from "@workqueue/core/metrics";
import { KeyNames } from "./key_names.ts";
import { TraceWriter } from "./trace_writer.ts";

/** Options of {@linkcode recordLoad}. */
export interface RecordLoadOptions {
  /**
   * Whether the trace contains the keys themselves. By default, it contains hashes of them, with a random salt.
   *
   * @default {false}
   */
  plainKeys?: boolean | undefined;
}

/** Recording of a load. Disposing it ends the recording, and writes what has not been written. */
export interface LoadRecording extends Disposable {
  /** Number of events that are missing in the trace because `write` was too slow. */
  readonly dropped: number;
}

/** A running attempt. */
interface Running {
  readonly key: unknown;
  readonly at: number;
  hasFailed: boolean;
}

const ACTION = "record load";

/**
 * Records the load of a queue as a trace that {@linkcode simulate} can replay: when items are added, how long attempts
 * take, and which of them fail.
 *
 * The trace is text in lines of JSON. Events are formatted later, in slices of at most a few milliseconds. If `write`
 * is so slow that 100,000 events are waiting, further events are dropped and counted.
 *
 * @example A trace in a file
 * ```ts ignore
 * import { createWriteStream } from "node:fs";
 * import { recordLoad } from "@workqueue/simulate";
 *
 * const file = createWriteStream("trace.jsonl");
 * using recording = recordLoad(queue, pool, (lines) => new Promise((resolve) => file.write(lines, () => resolve())));
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
  requireRules(ACTION, options, { plainKeys: A_BOOLEAN });
  const { observe, dueAt } = (queue as HookedQueue<T>)[HOOKS] ?? {};
  if (observe === undefined) throw argumentError(ACTION, "the queue must be one of this package, in memory");
  const clock = queue.clock ?? systemClock;
  const names = new KeyNames(options.plainKeys ?? false);
  const startedAt = clock.now();
  const writer = new TraceWriter(write, names, startedAt);
  const byCall = new Map<number, Running>();
  const byKey = new Map<unknown, Running>();
  /** Keys whose last attempt failed. The next time they become ready, it is for a retry. */
  const failing = new Set<unknown>();

  let observer!: QueueObserver;
  let before: QueueObserver | undefined;
  observe((current) => {
    before = current;
    return observer = {
      get oldestReadyAt() {
        return before?.oldestReadyAt;
      },
      added(ticket, key, priority) {
        before?.added(ticket, key, priority);
        const isRetry = failing.has(key) && dueAt?.(key as T) === undefined; // otherwise, the retry is still to come
        if (isRetry) failing.delete(key);
        else writer.add(clock.now(), key, priority);
      },
      addedAgain(key, priority) {
        before?.addedAgain(key, priority);
        writer.add(clock.now(), key, priority);
      },
      ready: (ticket) => before?.ready(ticket),
      taken(key, ticket, called) {
        before?.taken(key, ticket, called);
        const running = { key, at: clock.now(), hasFailed: false };
        byCall.set(called, running);
        byKey.set(key, running);
      },
      finished(called) {
        before?.finished(called);
        const running = byCall.get(called);
        if (running === undefined) return;
        byCall.delete(called);
        if (byKey.get(running.key) === running) byKey.delete(running.key);
        writer.attempt(running.at, running.key, clock.now() - running.at, running.hasFailed);
      },
      stop: () => before?.stop(),
      end: () => before?.end(),
    };
  });
  const endWatch = watchFailures<T>(pool, {
    failed: ({ key }) => {
      failing.add(key);
      const running = byKey.get(key);
      if (running !== undefined) running.hasFailed = true;
    },
    ended: (key) => void failing.delete(key),
  });
  if (endWatch === undefined) throw argumentError(ACTION, "the pool must be one of runWorkers");
  return {
    get dropped() {
      return writer.dropped;
    },
    [Symbol.dispose]() {
      endWatch();
      observe((current) => current === observer ? before : current);
      writer.end();
    },
  };
}
