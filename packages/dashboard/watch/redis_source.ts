import type { WorkerPool } from "@workqueue/core";
import { hasMethods } from "@workqueue/core/arguments";
import type { QueueOnRedis } from "../contract.ts";
import { type Look, type LookWaiting, MAX_LISTED, type Source, type Waiting } from "./source.ts";

/** Whether a queue is one on Redis: by its methods, so that nobody needs that package who has none. */
export function isOnRedis(queue: unknown): queue is QueueOnRedis<unknown> {
  return hasMethods(queue, "details", "retryNow", "cancelAfter", "forget", "pause", "resume");
}

/** A queue on a server, as all processes have it, and the pool of this one. */
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
        pool?.resume(); // somebody may have paused that by hand
      },
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
    const details = await this.#queue.details({ limit });
    const { length, heldBack, waiting, held, failing, paused, oldestReady, totals } = details;
    const pool = this.#pool?.snapshot({ limit: MAX_LISTED });
    const here = new Map(pool?.runningItems.map((running) => [this.#knownBy(running.item), running]));
    const ago = new Map(pool?.failingItems.map((failing) => [this.#knownBy(failing.item), failing]));
    const { handedOut, failed, givenUp } = totals;
    return {
      ready: length,
      heldBack,
      waiting,
      held,
      failing,
      totals: { handedOut, attempts: Math.max(handedOut - held, 0), failed, givenUp },
      oldestReady: length === 0 ? null : oldestReady,
      isFifo: true,
      workers: pool === undefined ? null : {
        active: pool.active,
        abandoned: pool.abandoned,
        concurrency: pool.concurrency,
        paused: pool.paused,
      },
      isPaused: paused,
      readyItems: details.readyItems,
      waitingItems: details.waitingItems,
      failingItems: details.failingItems.map(({ item, attempts, error, dueIn = null }) => {
        const known = ago.get(this.#knownBy(item));
        return { item, attempts, error, ago: known?.attempts === attempts ? known.agoMs : null, dueIn };
      }),
      runningItems: details.heldItems.map(({ item }) => {
        const running = here.get(this.#knownBy(item));
        return { item, attempt: running?.attempt ?? null, for: running?.forMs ?? null };
      }),
    };
  }

  /** The key of an item. Processes of another kind may have added what has none here. */
  readonly #knownBy = (item: unknown): unknown => {
    try {
      return this.keyOf(item);
    } catch {
      return {};
    }
  };

  async allWaiting(): Promise<Waiting> {
    const look = await this.look(MAX_LISTED);
    const items = waitingIn(look, this.#knownBy);
    return { items, more: Math.max(look.waiting - items.length, 0) };
  }

  findable(look: Look): number {
    return look.waiting <= MAX_LISTED ? look.waiting : waitingIn(look, this.#knownBy).length;
  }

  async retry({ item }: LookWaiting): Promise<boolean> {
    return await this.#queue.retryNow(item);
  }

  async takeBack({ item }: LookWaiting): Promise<boolean> {
    if (!await this.#queue.cancelAfter(item)) return false;
    await this.#queue.forget(item);
    return true;
  }
}

/** What waits of what is listed: those that are due first; and of those that fail, what is due later. */
function waitingIn({ waiting, waitingItems, failingItems }: Look, knownBy: (item: unknown) => unknown): LookWaiting[] {
  if (waiting <= waitingItems.length) return [...waitingItems];
  const first = new Set(waitingItems.map(({ item }) => knownBy(item)));
  const later = failingItems.flatMap(({ item, dueIn }) =>
    dueIn === null || first.has(knownBy(item)) ? [] : { item, priority: 0, dueIn }
  );
  return [...waitingItems, ...later.sort((a, b) => a.dueIn - b.dueIn)];
}
