import type { WorkerPool } from "@workqueue/core";
import { hasMethods } from "@workqueue/core/internal";
import type { QueueOnRedis } from "../contract.ts";
import { type DelayedItems, type DelayedLook, type Look, MAX_LISTED, type Source } from "./source.ts";

/**
 * Reports whether a queue is on Redis. Checks which methods the queue has, so that this package doesn't need to import
 * `@workqueue/redis`.
 */
export function isOnRedis(queue: unknown): queue is QueueOnRedis<unknown> {
  return hasMethods(queue, "snapshot", "promoteDelayed", "cancelDelayed", "forget", "pause", "resume");
}

/** Source for a queue on a Redis server, with the pool of this process. All processes share the queue. */
export class RedisSource implements Source {
  readonly engine = "redis";
  readonly pausing: Source["pausing"];
  readonly #queue: QueueOnRedis<unknown>;
  readonly #pool: WorkerPool<unknown> | undefined;

  constructor(queue: QueueOnRedis<unknown>, pool: WorkerPool<unknown> | undefined) {
    this.#queue = queue;
    this.#pool = pool;
    this.pausing = {
      pause: () => queue.pause(),
      async resume() {
        await queue.resume();
        pool?.resume(); // the pool itself may have been paused
      },
      end: (pause) => queue.resume(typeof pause === "number" ? { pause } : {}),
    };
  }

  get queueName(): string {
    return this.#queue.name;
  }

  get hasTexts(): boolean {
    return this.#queue.keyOf === undefined;
  }

  keyOf(item: unknown): unknown {
    return this.#queue.keyOf === undefined ? item : this.#queue.keyOf(item);
  }

  async look(limit: number): Promise<Look> {
    const snapshot = await this.#queue.snapshot({ limit });
    const { ready, blocked, delayed, processing, failing, paused, oldestReadyMs, totals } = snapshot;
    const pool = this.#pool?.snapshot({ limit: MAX_LISTED });
    const here = new Map(pool?.runningItems.map((running) => [this.#knownBy(running.item), running]));
    const ago = new Map(pool?.failingItems.map((failing) => [this.#knownBy(failing.item), failing]));
    const { handedOut, failed, givenUp, givenUpFor = null } = totals;
    return {
      ready,
      blocked,
      delayed,
      processing,
      failing,
      totals: { handedOut, attempts: Math.max(handedOut - processing, 0), failed, givenUp, givenUpFor },
      oldestReadyMs: ready === 0 ? null : oldestReadyMs,
      workers: pool === undefined ? null : {
        active: pool.active,
        abandoned: pool.abandoned,
        concurrency: pool.concurrency,
        paused: pool.paused,
      },
      isPaused: paused,
      readyItems: snapshot.readyItems,
      delayedItems: snapshot.delayedItems,
      failingItems: snapshot.failingItems.map(({ item, attempts, error, dueInMs = null }) => {
        const known = ago.get(this.#knownBy(item));
        return { item, attempts, error, ago: known?.attempts === attempts ? known.failedAgoMs : null, dueInMs };
      }),
      runningItems: snapshot.processingItems.map(({ item }) => {
        const running = here.get(this.#knownBy(item));
        return { item, attempt: running?.attempt ?? null, for: running?.runningMs ?? null };
      }),
    };
  }

  /**
   * Returns the key of an item, or a unique object if `keyOf` fails. Another program may have added items of a
   * different form.
   */
  readonly #knownBy = (item: unknown): unknown => {
    try {
      return this.keyOf(item);
    } catch {
      return {};
    }
  };

  async allDelayed(): Promise<DelayedItems> {
    const look = await this.look(MAX_LISTED);
    const items = delayedIn(look, this.#knownBy);
    return { items, more: Math.max(look.delayed - items.length, 0) };
  }

  findable(look: Look): number {
    return look.delayed <= MAX_LISTED ? look.delayed : delayedIn(look, this.#knownBy).length;
  }

  async retry({ item }: DelayedLook): Promise<boolean> {
    return await this.#queue.promoteDelayed(item);
  }

  async takeBack({ item }: DelayedLook): Promise<boolean> {
    if (!await this.#queue.cancelDelayed(item)) return false;
    await this.#queue.forget(item);
    return true;
  }
}

/**
 * Returns the delayed items in a look's lists: the items that are due first, and failing items that are due later.
 */
function delayedIn({ delayed, delayedItems, failingItems }: Look, knownBy: (item: unknown) => unknown): DelayedLook[] {
  if (delayed <= delayedItems.length) return [...delayedItems];
  const first = new Set(delayedItems.map(({ item }) => knownBy(item)));
  const later = failingItems.flatMap(({ item, dueInMs }) =>
    dueInMs === null || first.has(knownBy(item)) ? [] : { item, priority: 0, dueInMs }
  );
  return [...delayedItems, ...later.sort((a, b) => a.dueInMs - b.dueInMs)];
}
