import { INSPECTION } from "../base/brands.ts";
import type { ReadyEntry } from "../contracts/discipline.ts";
import type {
  BlockedRetries,
  DelayedItem,
  InspectedQueue,
  KeyListener,
  QueueGroups,
  QueueInspection,
} from "../contracts/queue_inspection.ts";
import { listen } from "../metrics/key_times.ts";
import type { LimitedQueue } from "../queue/limited_queue.ts";
import { AGAIN, BLOCKED, POSITION, PROCESSING } from "../queue/positions.ts";
import { delayedItemOf, delayPriorityOf } from "../structures/records.ts";
import type { ServedQueue } from "../queue/served_queue.ts";

/**
 * Returns the view of a queue in memory, for displays. Nothing is made for a queue before it is inspected, and only
 * programs that call this function contain its code.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { inspectionOf } from "@workqueue/core/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<string>();
 * queue.add("a");
 * assertEquals(inspectionOf(queue)?.stateOf("a"), "ready");
 * ```
 *
 * @typeParam T The type of the items.
 * @param queue The queue.
 * @returns The view; `undefined` if the queue is not in memory, or is from another package.
 */
export function inspectionOf<T>(queue: object): QueueInspection<T> | undefined {
  const inspected = (queue as InspectedQueue)[INSPECTION];
  const isInMemory = inspected !== undefined && "observe" in inspected;
  return isInMemory ? new RecordsInspection(inspected as ServedQueue<T>) : undefined;
}

/** Queue of any layer. */
type AnyQueue<T> =
  & ServedQueue<T>
  & Partial<Pick<LimitedQueue<T>, "dueAt" | "dueAtOf" | "firstDelayed" | "isFailing" | "keepsGivenUp">>;

/** View of a queue that reads its records. */
class RecordsInspection<T> implements QueueInspection<T> {
  readonly #queue: AnyQueue<T>;

  constructor(queue: AnyQueue<T>) {
    this.#queue = queue;
  }

  get handedOut(): number {
    return this.#queue.handedOut;
  }

  get keepsGivenUp(): boolean {
    return this.#queue.keepsGivenUp ?? false;
  }

  get resumesInMs(): number {
    const { held, time } = this.#queue;
    return Math.max((held?.pausedUntil ?? -Infinity) - time.now(), 0);
  }

  get groups(): QueueGroups | undefined {
    return this.#queue.groups;
  }

  get blockedRetries(): BlockedRetries<T> | undefined {
    const queue = this.#queue;
    const { records, ordering, time } = queue;
    const retries = ordering?.retries;
    if (retries === undefined) return undefined;
    const isBlocked = (record: number) => (records.stateOf(record) & POSITION) === BLOCKED;
    const entryOf = (record: number): ReadyEntry<T> => ({
      key: records.keyOf(record),
      item: records.itemOf(record) as T,
      priority: records.priorityOf(record),
      readyAt: time.now(),
    });
    return {
      retries: {
        length: retries.length,
        *keys() {
          for (const record of records.used()) if (isBlocked(record)) yield entryOf(record);
        },
        has: ({ key }) => isBlocked(records.of(key)),
      },
      opensAt: retries.opensAt,
      makeReady({ key }) {
        const record = records.of(key);
        if (!isBlocked(record)) return false;
        retries.letThrough(record);
        queue.serve();
        return true;
      },
    };
  }

  stateOf(item: T): "ready" | "processing" | "addedAgain" | undefined {
    const { records } = this.#queue;
    const position = records.stateOf(records.of(this.#queue.key(item))) & POSITION;
    if (position === 0) return undefined;
    return position < PROCESSING ? "ready" : position === AGAIN ? "addedAgain" : "processing";
  }

  isFailing(item: T): boolean {
    return this.#queue.isFailing?.(this.#queue.key(item)) ?? false;
  }

  dueAt(item: T): number | undefined {
    return this.#queue.dueAt?.(item);
  }

  nextDueAt(): number | undefined {
    const first = this.#queue.firstDelayed?.(1)[0];
    return first === undefined ? undefined : this.#queue.dueAtOf!(first);
  }

  allDelayed(): Iterable<DelayedItem<T>> {
    return this.#delayedAmong(this.#queue.records.used());
  }

  *#delayedAmong(used: Iterable<number>): Generator<DelayedItem<T>, void> {
    const { records } = this.#queue;
    for (const record of used) {
      const dueAt = this.#queue.dueAtOf?.(record);
      if (dueAt === undefined) continue;
      yield { item: delayedItemOf(records, record) as T, priority: delayPriorityOf(records, record), dueAt };
    }
  }

  listen(listener: KeyListener): () => void {
    return listen(this.#queue, () => listener);
  }
}
