import { INSPECTION } from "../base/brands.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type {
  InspectedQueue,
  ObservedKeys,
  ObservedQueue,
  QueueObserver,
  TimesRecorder,
} from "../contracts/queue_inspection.ts";
import { TicketTimes } from "../structures/ticket_times.ts";
import { Recorders } from "./recorders.ts";

/** Times of a queue that are being recorded. Disposing this object ends the recording. */
export interface RecordedTimes extends Disposable {
  /**
   * Time since the oldest ready or blocked item became ready, in milliseconds. `undefined` if no item is ready or
   * blocked, or if the queue is outside this process. In a queue with metrics, the time is exact. In other queues,
   * items that became ready before the recording began are counted as ready since then, so the time is a lower bound
   * until these items are handed out.
   */
  readonly oldestReadyMs: number | undefined;
}

/**
 * Begins to record the times of a queue's items: how long items are ready before they are handed out, how long they are
 * then processing, and the age of the oldest ready item. A queue whose times are not recorded doesn't read the clock
 * for them.
 *
 * Waiting that began before the recording is counted from the beginning of the recording. Work that began before the
 * recording is not passed to `recorder`. For a queue outside this process, only items that this process takes are
 * recorded.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { recordTimes } from "@workqueue/core/metrics";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const queue = createWorkQueue<string>();
 * const recorded: string[] = [];
 * using times = recordTimes(queue, {
 *   waited: (ms) => recorded.push(`waited ${ms} ms`),
 *   worked: (ms) => recorded.push(`worked ${ms} ms`),
 * });
 * queue.add("a");
 * time.tick(250);
 * assertEquals(times?.oldestReadyMs, 250);
 * const lease = queue.tryGet();
 * time.tick(1000);
 * lease?.[Symbol.dispose]();
 * assertEquals(recorded, ["waited 250 ms", "worked 1000 ms"]);
 * ```
 *
 * @param queue The queue: in memory, or a queue object of `@workqueue/redis`.
 * @param recorder Receives the times.
 * @returns The recorded times; `undefined` for a third-party queue that can't be inspected.
 */
export function recordTimes(queue: object, recorder: TimesRecorder): RecordedTimes | undefined {
  const inspected = (queue as InspectedQueue)[INSPECTION];
  if (inspected === undefined) return undefined;
  if ("observe" in inspected) return recordByObserving(queue, inspected, recorder);
  return { oldestReadyMs: undefined, [Symbol.dispose]: inspected.recordTimes(recorder) };
}

/** Records times with an observer, which all recorders of the queue share. */
function recordByObserving(
  { clock = systemClock }: { clock?: Clock },
  queue: ObservedQueue,
  recorder: TimesRecorder,
): RecordedTimes {
  let observer!: TimesObserver;
  queue.observe((current, keys) =>
    observer = current instanceof TimesObserver ? current : new TimesObserver(current, keys, clock)
  );
  const end = observer.recorders.add(recorder);
  return {
    get oldestReadyMs() {
      return observer.oldestReadyMs;
    },
    [Symbol.dispose]() {
      end();
      if (observer.recorders.size > 0) return;
      queue.observe((current) => current === observer ? observer.observed : current);
    },
  };
}

/** Observer that passes times to recorders, and all calls to the observer that it replaces. */
class TimesObserver implements QueueObserver {
  readonly recorders = new Recorders();
  /** Observer that this observer replaces. */
  readonly observed: QueueObserver | undefined;
  readonly #clock: Clock;
  /** For each ticket, the time at which its key became ready. Removed when the key is handed out. */
  readonly #readyAt = new TicketTimes();
  /** For each ticket, the time at which its item was handed out. Removed when the item is done. */
  readonly #startedAt = new TicketTimes();
  /** Time at which this observer was created, and the number of keys left that were ready or blocked before. */
  readonly #createdAt: number;
  #earlier: number;

  constructor(observed: QueueObserver | undefined, { size, processing }: ObservedKeys, clock: Clock) {
    this.observed = observed;
    this.#clock = clock;
    this.#createdAt = clock.now();
    this.#earlier = size - processing;
  }

  get oldestReadyAt(): number | undefined {
    const createdAt = this.#earlier > 0 ? this.#createdAt : undefined;
    return this.observed?.oldestReadyAt ?? createdAt ?? this.#readyAt.first;
  }

  get oldestReadyMs(): number | undefined {
    const { oldestReadyAt } = this;
    return oldestReadyAt === undefined ? undefined : Math.max(this.#clock.now() - oldestReadyAt, 0);
  }

  added(ticket: number, key: unknown, priority: number): void {
    this.observed?.added(ticket, key, priority);
    this.#readyAt.set(ticket, this.#clock.now());
  }

  addedAgain(key: unknown, priority: number): void {
    this.observed?.addedAgain(key, priority);
  }

  unmarked(key: unknown): void {
    this.observed?.unmarked(key);
  }

  ready(ticket: number): void {
    this.observed?.ready(ticket);
    this.#readyAt.set(ticket, this.#clock.now());
  }

  taken(key: unknown, ticket: number, called: number): void {
    this.observed?.taken(key, ticket, called);
    const now = this.#clock.now();
    const readyAt = this.#readyAt.take(ticket) ?? this.#takeEarlier();
    this.#startedAt.set(called, now);
    if (readyAt !== undefined) this.recorders.waited(now - readyAt);
  }

  finished(called: number): void {
    this.observed?.finished(called);
    const startedAt = this.#startedAt.take(called);
    if (startedAt !== undefined) this.recorders.worked(this.#clock.now() - startedAt);
  }

  stop(): void {
    this.observed?.stop();
  }

  end(): void {
    this.observed?.end();
  }

  #takeEarlier(): number | undefined {
    if (this.#earlier === 0) return undefined;
    this.#earlier--;
    return this.#createdAt;
  }
}
