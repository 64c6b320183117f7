import { INSPECTION } from "../base/brands.ts";
import type { InspectedQueue, KeyListener, ObservedQueue, TimesRecorder } from "../contracts/queue_inspection.ts";
import { type KeyTimes, listen } from "./key_times.ts";
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
  if ("observe" in inspected) return recordByListening(inspected, recorder);
  return { oldestReadyMs: undefined, [Symbol.dispose]: inspected.recordTimes(recorder) };
}

/** Records times with a listener, which all recorders of the queue share. */
function recordByListening(queue: ObservedQueue, recorder: TimesRecorder): RecordedTimes {
  let times!: KeyTimes;
  let listener!: TimesListener;
  const stop = listen(queue, (given) => {
    times = given;
    return listener = times.listeners.find((one) => one instanceof TimesListener) ??
      new TimesListener(times.clock.now(), queue.handedOut);
  });
  const end = listener.recorders.add(recorder);
  return {
    get oldestReadyMs() {
      const { oldestReadyAt } = times;
      return oldestReadyAt === undefined ? undefined : Math.max(times.clock.now() - oldestReadyAt, 0);
    },
    [Symbol.dispose]() {
      end();
      if (listener.recorders.size === 0) stop();
    },
  };
}

/** Listener that passes times to recorders. */
class TimesListener implements KeyListener {
  readonly recorders = new Recorders();
  /** Time at which this listener was created, and the number of hand-outs before. */
  readonly #createdAt: number;
  readonly #handOuts: number;

  constructor(createdAt: number, handOuts: number) {
    this.#createdAt = createdAt;
    this.#handOuts = handOuts;
  }

  added(): void {}

  addedAgain(): void {}

  unmarked(): void {}

  ready(): void {}

  taken(_key: unknown, now: number, readyAt: number | undefined): void {
    if (readyAt !== undefined) this.recorders.waited(now - Math.max(readyAt, this.#createdAt));
  }

  finished(_key: unknown, now: number, startedAt: number | undefined, handOut: number): void {
    const isRecorded = (handOut - this.#handOuts | 0) > 0; // numbers of hand-outs are 32-bit numbers
    if (isRecorded && startedAt !== undefined) this.recorders.worked(now - startedAt);
  }
}
