import type { FailingItem, PoolSnapshot, RunningItem, WorkerPool } from "@workqueue/core";
import type { RemoteQueueSnapshot } from "@workqueue/core/hooks";
import { hasMethods } from "@workqueue/core/internal";
import type { RemoteQueueLike } from "../contract.ts";
import type { Failures, KnownFailure } from "./failures.ts";
import { RemoteGroups } from "./remote_groups.ts";
import {
  type DelayedItems,
  type DelayedLook,
  type Look,
  type LookFailing,
  MAX_LISTED,
  type Source,
  workersOf,
} from "./source.ts";

/**
 * Reports whether processes share a queue. Checks which members the queue has, so that this package doesn't need to
 * import the packages of the engines.
 */
export function isRemote(queue: unknown): queue is RemoteQueueLike<unknown> {
  return typeof (queue as { engine?: unknown } | null | undefined)?.engine === "string" &&
    hasMethods(queue, "snapshot", "promoteDelayed", "cancelDelayed", "forget", "pause", "resume");
}

/** Source for a queue that processes share, with the pool of this process. */
export class RemoteSource implements Source {
  readonly engine: string;
  readonly failures: Failures;
  readonly pausing: Source["pausing"];
  readonly groups: RemoteGroups | undefined;
  readonly #queue: RemoteQueueLike<unknown>;
  readonly #pool: WorkerPool<unknown> | undefined;

  constructor(queue: RemoteQueueLike<unknown>, pool: WorkerPool<unknown> | undefined, failures: Failures) {
    this.engine = queue.engine;
    this.#queue = queue;
    this.#pool = pool;
    this.failures = failures;
    this.groups = hasMethods(queue, "pauseGroup", "resumeGroup") ? new RemoteGroups(queue) : undefined;
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
    this.groups?.update(snapshot, limit);
    const { ready, blocked, delayed, processing, failing, paused, oldestReadyMs, totals } = snapshot;
    // Abandoned handlers run longest, so all of them are listed.
    const pool = this.#pool?.snapshot({ limit: Math.max(MAX_LISTED, this.#pool.active) });
    const here = new Map(pool?.runningItems.map((running) => [this.#knownBy(running.item), running]));
    const { handedOut, failed, givenUp, givenUpFor = null } = totals;
    // The engine learns of these failures only when their handlers end.
    const abandoned = pool?.runningItems.filter(({ abandonedMs }) => abandonedMs !== undefined) ?? [];
    const failingItems = this.#failingItems(snapshot, pool, here);
    if (limit >= MAX_LISTED) this.failures.replace(failingItems.filter(({ key }) => typeof key === "string"));
    return {
      ready,
      blocked,
      delayed,
      processing,
      failing: failing + abandoned.filter(({ attempt }) => attempt === 1).length,
      totals: {
        handedOut,
        attempts: Math.max(handedOut - processing, 0) + abandoned.length,
        failed: failed + abandoned.length,
        givenUp,
        givenUpFor,
      },
      oldestReadyMs: ready + blocked === 0 ? null : oldestReadyMs,
      workers: workersOf(pool),
      isPaused: paused,
      hasGroups: snapshot.blockedGroups !== undefined,
      blockedRetries: snapshot.blockedRetries,
      readyItems: snapshot.readyItems,
      delayedItems: snapshot.delayedItems,
      failingItems,
      runningItems: [
        ...abandoned.map(({ item, attempt, runningMs, abandonedMs }) => ({
          ...{ item, attempt, for: runningMs, abandonedFor: abandonedMs },
        })),
        ...snapshot.processingItems.flatMap(({ item }) => {
          const running = here.get(this.#knownBy(item));
          if (running?.abandonedMs !== undefined) return [];
          return { item, attempt: running?.attempt ?? null, for: running?.runningMs ?? null };
        }),
      ].slice(0, limit),
    };
  }

  /** Returns the failing items that the engine lists, and first those whose handlers are abandoned in this process. */
  #failingItems(
    { failingItems }: RemoteQueueSnapshot<unknown>,
    pool: PoolSnapshot | undefined,
    here: ReadonlyMap<unknown, RunningItem<unknown>>,
  ): (LookFailing & { key: unknown })[] {
    const abandoned = new Map<unknown, LookFailing & { key: unknown }>();
    const known = new Map<unknown, FailingItem<unknown>>();
    for (const failing of pool?.failingItems ?? []) {
      const { item, attempts, error, failedAgoMs: ago } = failing;
      const key = this.#knownBy(item);
      const abandonedFor = here.get(key)?.abandonedMs;
      if (abandonedFor === undefined) known.set(key, failing);
      else abandoned.set(key, { item, key, attempts, error, ago, dueInMs: null, abandonedFor });
    }
    const listed = failingItems.flatMap(({ item, attempts, error, dueInMs = null }) => {
      const key = this.#knownBy(item);
      if (abandoned.has(key)) return [];
      const ago = known.get(key)?.attempts === attempts ? known.get(key)!.failedAgoMs : null;
      return { item, key, attempts, error, ago, dueInMs };
    });
    return [...abandoned.values(), ...listed];
  }

  failureOf(item: unknown): KnownFailure | undefined {
    return this.failures.get(this.#knownBy(item));
  }

  isFailing(item: unknown): boolean {
    return this.failureOf(item) !== undefined;
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

  async delayedItems(): Promise<DelayedItems> {
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

  get cancel(): Source["cancel"] {
    const queue = this.#queue;
    return hasMethods(queue, "cancel") ? (item) => queue.cancel!(item) : undefined;
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
