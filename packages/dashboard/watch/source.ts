/** Snapshots of a queue on any engine, and calls to it. */

import {
  type Clock,
  type FailingItem,
  type PoolSnapshot,
  type QueueSnapshot,
  type RateLimitingQueue,
  type RunningItem,
  systemClock,
  type WorkerPool,
} from "@workqueue/core";
import {
  type DelayedItem,
  inspectionOf,
  type QueueInspection,
  type QueueTotals,
  type ReadyEntry,
  type RemoteBlockedGroup,
  type RemoteQueueSnapshot,
} from "@workqueue/core/hooks";
import { hasMethods } from "@workqueue/core/internal";
import { type RecordedTimes, totalsOf, watchFailures } from "@workqueue/core/metrics";
import type { RemoteQueueLike } from "../contract.ts";
import { BlockedGroups, type Groups } from "./blocked_groups.ts";
import type { Failures, KnownFailure } from "./failures.ts";

/** Type in which each value may be missing or unknown. */
type Unsure<Type> = { readonly [Name in keyof Type]?: Type[Name] | undefined };

/** Snapshot of a queue on any engine. Only the snapshot of a shared queue has the optional members. */
type Snapshot =
  & QueueSnapshot<unknown>
  & Unsure<Omit<RemoteQueueSnapshot<unknown>, keyof QueueSnapshot<unknown>>>;

/**
 * State of a queue when the dashboard last looked at it: the snapshot of the queue, completed by what only this process
 * knows. A missing member is unknown.
 */
export interface Look extends Omit<Snapshot, "totals" | "failingItems"> {
  /** Whether the pool (of an in-memory queue) or the shared queue is paused. No item is handed out during a pause. */
  readonly paused: boolean;
  readonly totals: Unsure<QueueTotals> & {
    /** Attempts that have ended. */
    readonly attempts?: number | undefined;
  };
  readonly failingItems: readonly LookFailing[];
  /** Items whose handlers are running. */
  readonly runningItems: readonly LookRunning[];
  /** Pool in this process; `null` if there is none. */
  readonly workers: Pick<PoolSnapshot, "active" | "abandoned" | "concurrency" | "paused"> | null;
  /** Time until the queue hands out items again, in milliseconds; 0 if no item asked for a pause of the queue. */
  readonly resumesInMs?: number | undefined;
  /** Whether the items have groups that can be paused. */
  readonly hasGroups?: boolean;
}

/** Running item. */
export type LookRunning = { readonly item: unknown } & Unsure<RunningItem<unknown>>;

/** Failing item. `abandonedMs` is present while the handler of its last attempt still runs in this process. */
export type LookFailing =
  & Pick<FailingItem<unknown>, "item" | "attempts" | "error">
  & Unsure<Pick<FailingItem<unknown> & RunningItem<unknown>, "failedAgoMs" | "dueInMs" | "abandonedMs">>;

type KeyedFailing = LookFailing & { readonly key: unknown };

/** Delayed item, or a retry that is due and blocked because there is no budget: then `blocked` is its entry. */
export type DelayedLook = Snapshot["delayedItems"][number] & { readonly blocked?: ReadyEntry<unknown> };

/** Delayed items of a queue. */
export interface DelayedItems {
  /** Items in no particular order. The iteration may continue in later turns of the event loop. */
  readonly items: Iterable<DelayedLook>;
  /** Number of delayed items that were not read. */
  readonly more: number;
}

/**
 * Maximum length of a list. Engines return at most this many items at once, and pools list at most this many failing
 * items.
 */
export const MAX_LISTED = 1000;

/** Members of a queue that the dashboard calls. Those of shared queues return promises. */
interface AnyQueue
  extends
    Pick<RateLimitingQueue<unknown>, "name" | "keyOf" | "clock" | "delayed" | "shuttingDown" | "add" | "addAfter"> {
  snapshot(options: { limit: number }): Snapshot | Promise<Snapshot>;
  cancelDelayed(item: unknown): boolean | Promise<boolean>;
  cancel?(item: unknown): string | undefined | Promise<string | undefined>;
  forget(item: unknown): void | Promise<void>;
  pauseGroup?(group: unknown, ms: number): void | Promise<void>;
  resumeGroup?(group: unknown): void | Promise<void>;
  promoteDelayed?(item: unknown): Promise<boolean>;
}

/**
 * Reports whether processes share a queue. Checks which members the queue has, so that this package doesn't need to
 * import the packages of the engines.
 */
export function isRemote(queue: unknown): queue is RemoteQueueLike<unknown> {
  return typeof (queue as { engine?: unknown } | null | undefined)?.engine === "string" &&
    hasMethods(queue, "snapshot", "promoteDelayed", "cancelDelayed", "forget", "pause", "resume");
}

/** Key of an item whose key can't be determined. */
class NoKey {}

/** Queue on any engine, with the pool of this process. */
export class Source implements Disposable {
  /** Name of the engine: `"memory"`, or that of a shared queue. */
  readonly engine: string;
  /** Last errors of the failing items. For a shared queue, only of those that the engine lists. */
  readonly failures: Failures;
  /** Groups of the items; `undefined` if items have none, or none that can be paused. */
  readonly groups: BlockedGroups | undefined;
  readonly #queue: AnyQueue;
  readonly #isShared: boolean;
  /** View of a queue in memory; `undefined` for a shared queue, or if the queue is from another package. */
  readonly #inspection: QueueInspection<unknown> | undefined;
  readonly #pool: WorkerPool<unknown> | undefined;
  readonly #times: RecordedTimes | undefined;
  /**
   * Ends the watch of the pool's failures; `undefined` for a shared queue, or if the pool is missing or from another
   * package.
   */
  readonly #unwatch: (() => void) | undefined;
  /** Groups with blocked items in the latest snapshot of a shared queue. */
  #blocked: ReadonlyMap<unknown, RemoteBlockedGroup> = new Map();
  /** Whether `#blocked` contains all groups with blocked items. */
  #hasAllBlocked = false;

  constructor(
    queue: RateLimitingQueue<unknown> | RemoteQueueLike<unknown>,
    pool: WorkerPool<unknown> | undefined,
    failures: Failures,
    times: RecordedTimes | undefined,
  ) {
    this.#isShared = isRemote(queue);
    this.engine = isRemote(queue) ? queue.engine : "memory";
    this.#queue = queue as AnyQueue;
    this.#inspection = inspectionOf(queue);
    this.#pool = pool;
    this.#times = times;
    this.failures = failures;
    const groups = this.#isShared ? this.#sharedGroups() : this.#groupsHere();
    this.groups = groups && new BlockedGroups(groups);
    if (pool === undefined || this.#isShared) return;
    failures.replace(listedIn(this.#failingItems(pool.snapshot({ limit: MAX_LISTED }))));
    this.#unwatch = watchFailures(pool, {
      failed: (failed) => failures.add(failed, Date.now()),
      ended: (key) => failures.delete(key),
    });
  }

  [Symbol.dispose](): void {
    this.#unwatch?.();
  }

  /** Name given to the queue when it was created. */
  get queueName(): string {
    return this.#queue.name;
  }

  /** Whether each item is a string. Such an item can be retried or taken back without a search. */
  get hasTexts(): boolean {
    return this.#isShared && this.#queue.keyOf === undefined;
  }

  keyOf(item: unknown): unknown {
    return this.#queue.keyOf === undefined ? item : this.#queue.keyOf(item);
  }

  /**
   * Returns the key of an item, or a unique object if it can't be determined. Another program may have added items of a
   * different form to a shared queue, whose keys are strings.
   */
  readonly #knownBy = (item: unknown): unknown => {
    try {
      const key = this.keyOf(item);
      return this.#isShared && typeof key !== "string" ? new NoKey() : key;
    } catch {
      return new NoKey();
    }
  };

  /** Returns the last failure of an item, if it is failing and its error is known. */
  failureOf(item: unknown): KnownFailure | undefined {
    return this.failures.get(this.#knownBy(item));
  }

  /** Returns the time until an item is due, in milliseconds, if the item is delayed and the time is known. */
  dueInMs(item: unknown): number | undefined {
    const dueAt = this.#inspection?.dueAt(item);
    return dueAt === undefined ? undefined : Math.max(dueAt - (this.#queue.clock ?? systemClock).now(), 0);
  }

  /** Reports whether the last attempt at an item failed, as far as this process knows. */
  isFailing(item: unknown): boolean {
    try {
      return this.#inspection?.isFailing(item) ?? this.failureOf(item) !== undefined;
    } catch { // `keyOf` threw
      return false;
    }
  }

  /**
   * Returns the current state of the queue. The lists of its snapshot contain at most `limit` items. The time that this
   * takes depends on `limit`, not on the size of the queue.
   */
  async look(limit: number): Promise<Look> {
    const read = this.#queue.snapshot({ limit });
    const snapshot = read instanceof Promise ? await read : read; // in memory, both snapshots are of the same moment
    // Abandoned handlers run longest. Those of a shared queue are counted below, so all of them are listed.
    const pool = this.#pool?.snapshot({ limit: this.#isShared ? Math.max(MAX_LISTED, this.#pool.active) : MAX_LISTED });
    const failingItems = this.#failingItems(pool, snapshot.failingItems);
    this.#noteFailures(failingItems, pool, limit);
    if (this.#isShared) this.#noteGroups(snapshot.blockedGroups, limit);
    // An engine learns of these failures only when their handlers end.
    const unreported = this.#isShared ? pool?.runningItems.filter(isAbandoned) ?? [] : [];
    const firstFailures = unreported.filter(({ attempt }) => attempt === 1).length;
    const { ready, blocked, processingItems } = snapshot;
    return {
      ...snapshot,
      paused: snapshot.paused ?? pool?.paused ?? false,
      resumesInMs: this.#inspection?.resumesInMs,
      failing: snapshot.failing === undefined ? failingOf(pool) : snapshot.failing + firstFailures,
      totals: this.#totals(snapshot, unreported.length),
      oldestReadyMs: ready + blocked === 0 ? undefined : snapshot.oldestReadyMs ?? this.#times?.oldestReadyMs,
      workers: pool ?? null,
      hasGroups: (snapshot.blockedGroups ?? this.#inspection?.groups) !== undefined,
      blockedRetries: snapshot.blockedRetries ?? this.#inspection?.blockedRetries?.retries.length,
      failingItems,
      runningItems: this.#isShared
        ? [...unreported, ...this.#processingIn(snapshot, pool)]
        : pool?.runningItems ?? processingItems,
    };
  }

  /** Returns the processing items of a shared queue, except those of abandoned handlers in this process. */
  #processingIn({ processingItems }: Snapshot, pool: PoolSnapshot | undefined): LookRunning[] {
    const here = new Map(pool?.runningItems.map((running) => [this.#knownBy(running.item), running]));
    const running = processingItems.map(({ item }): LookRunning => here.get(this.#knownBy(item)) ?? { item });
    return running.filter((one) => !isAbandoned(one));
  }

  /**
   * Returns the failing items that a shared queue, or else the pool, lists. Begins with those whose handlers are
   * abandoned in this process, because their queue may not know yet that they failed.
   */
  #failingItems(pool: PoolSnapshot | undefined, listed: Snapshot["failingItems"] = pool?.failingItems): KeyedFailing[] {
    const running = new Map(pool?.runningItems.map(({ item, abandonedMs }) => [this.#knownBy(item), abandonedMs]));
    const here = new Map(
      pool?.failingItems.map((failing): [unknown, KeyedFailing] => {
        const key = this.#knownBy(failing.item);
        return [key, { ...failing, key, abandonedMs: running.get(key) }];
      }),
    );
    const others = listed?.flatMap((failing) => {
      const key = this.#knownBy(failing.item);
      const known = here.get(key);
      if (known !== undefined && isAbandoned(known)) return [];
      return { ...failing, key, failedAgoMs: known?.attempts === failing.attempts ? known.failedAgoMs : undefined };
    });
    return [...[...here.values()].filter(isAbandoned), ...others ?? []];
  }

  /** Completes the failures by those of a look. */
  #noteFailures(failingItems: readonly KeyedFailing[], pool: PoolSnapshot | undefined, limit: number): void {
    // An item that was forgotten while its handler was abandoned is failing again, although no other attempt failed.
    const isMissing = this.#unwatch !== undefined && (pool?.failing ?? 0) > this.failures.size;
    if (isMissing) this.failures.addMissing(listedIn(failingItems));
    const isWhole = !this.#isShared || limit >= MAX_LISTED;
    if (this.#unwatch === undefined && isWhole) this.failures.replace(listedIn(failingItems));
  }

  #totals({ totals, processing }: Snapshot, unreported: number): Look["totals"] {
    if (totals !== undefined) {
      const attempts = Math.max(totals.handedOut - processing, 0) + unreported;
      return { ...totals, attempts, failed: totals.failed + unreported };
    }
    const { succeeded, failed, givenUp, givenUpFor } = this.#pool === undefined ? {} : totalsOf(this.#pool);
    const attempts = succeeded === undefined || failed === undefined ? undefined : succeeded + failed;
    return { handedOut: this.#inspection?.handedOut, attempts, failed, givenUp, givenUpFor };
  }

  /**
   * Returns all delayed items; of a shared queue, at most as many as can be fetched at once. If a queue in memory is
   * from another package, all items are read at once, which blocks the event loop.
   */
  delayedItems(): DelayedItems | Promise<DelayedItems> {
    const { delayed, clock = systemClock } = this.#queue;
    if (this.#isShared) return this.#delayedListed();
    const all = this.#inspection?.allDelayed();
    if (all !== undefined) return { items: withDueIn(all, delayed, clock), more: 0 };
    return { items: (this.#queue.snapshot({ limit: delayed }) as Snapshot).delayedItems, more: 0 };
  }

  async #delayedListed(): Promise<DelayedItems> {
    const look = await this.look(MAX_LISTED);
    const items = this.#delayedIn(look);
    return { items, more: Math.max(look.delayed - items.length, 0) };
  }

  /**
   * Returns the number of delayed items that `delayedItems` would return. The lists of `look` must have been read with
   * the limit `MAX_LISTED`.
   */
  findable(look: Look): number {
    return this.#isShared && look.delayed > MAX_LISTED ? this.#delayedIn(look).length : look.delayed;
  }

  /**
   * Returns the delayed items in a look's lists: the items that are due first, and failing items that are due later.
   */
  #delayedIn({ delayed, delayedItems, failingItems }: Look): readonly DelayedLook[] {
    if (delayed <= delayedItems.length) return delayedItems;
    const first = new Set(delayedItems.map(({ item }) => this.#knownBy(item)));
    const later = failingItems.flatMap(({ item, dueInMs }) =>
      dueInMs === undefined || first.has(this.#knownBy(item)) ? [] : { item, priority: 0, dueInMs }
    );
    return [...delayedItems, ...later.sort((a, b) => a.dueInMs - b.dueInMs)];
  }

  /** Returns the retries of a queue in memory that are due and blocked because there is no budget. */
  *blockedRetries(): Generator<DelayedLook, void> {
    for (const entry of this.#inspection?.blockedRetries?.retries.keys() ?? []) {
      yield { item: entry.item, priority: entry.priority, dueInMs: 0, blocked: entry };
    }
  }

  /** Reason why delayed items can't be made ready; `undefined` if they can be made ready. */
  get cannotRetry(): string | undefined {
    if (this.#isShared || !this.#queue.shuttingDown) return undefined;
    return "The queue is shutting down: delayed items run when they are due.";
  }

  /**
   * Makes a delayed item or a blocked retry ready. Returns `false` if that is not possible, for example because the
   * item is no longer delayed.
   */
  async retry({ item, priority, dueInMs, blocked }: DelayedLook): Promise<boolean> {
    const queue = this.#queue;
    if (this.#isShared) return await queue.promoteDelayed!(item);
    if (blocked !== undefined) return this.#inspection!.blockedRetries!.makeReady(blocked);
    if (queue.shuttingDown || !queue.cancelDelayed(item)) return false;
    const options = priority === 0 ? undefined : { priority };
    try {
      queue.add(item, options);
    } catch (error) { // the discipline threw: don't lose the item
      queue.addAfter(item, dueInMs, options);
      throw error;
    }
    return true;
  }

  /** Removes a delayed item and forgets its failures. Returns `false` if the item was not delayed. */
  async takeBack(item: unknown): Promise<boolean> {
    if (!await this.#queue.cancelDelayed(item)) return false;
    await this.#queue.forget(item);
    return true;
  }

  /** Cancels an item. Returns the state in which it was; `undefined` if it was in none. Missing if not possible. */
  get cancel(): ((item: unknown) => string | undefined | Promise<string | undefined>) | undefined {
    const queue = this.#queue;
    return hasMethods(queue, "cancel") ? (item) => queue.cancel!(item) : undefined;
  }

  /** Returns the groups of a queue in memory; `undefined` if it has none. */
  #groupsHere(): Groups | undefined {
    const queue = this.#queue;
    const groups = this.#inspection?.groups;
    if (groups === undefined) return undefined;
    const isListed = hasMethods(groups, "groupNames", "blockOf");
    const blockOf = isListed ? (group: unknown) => groups.blockOf!(group) : undefined;
    return {
      ...blockOf && { blockOf, groupNames: () => groups.groupNames!() },
      pause(group, ms) {
        queue.pauseGroup!(group, ms);
        return blockOf?.(group)?.resumesInMs ?? ms;
      },
      resume(group) {
        const reason = blockOf?.(group)?.reason;
        queue.resumeGroup!(group);
        return blockOf === undefined || reason === "paused" || reason === "probing";
      },
    };
  }

  /** Returns the groups of a shared queue, of which the latest snapshot lists those with blocked items. */
  #sharedGroups(): Groups | undefined {
    const queue = this.#queue;
    if (!hasMethods(queue, "pauseGroup", "resumeGroup")) return undefined;
    return {
      groupNames: () => this.#blocked.keys(),
      blockOf: (group) => this.#blocked.get(group),
      isWhole: () => this.#hasAllBlocked,
      async pause(group, ms) {
        await queue.pauseGroup!(group, ms);
        return ms;
      },
      async resume(group) {
        await queue.resumeGroup!(group);
        return true;
      },
    };
  }

  #noteGroups(blockedGroups: readonly RemoteBlockedGroup[] = [], limit: number): void {
    this.#blocked = new Map(blockedGroups.map((block) => [block.group, block]));
    this.#hasAllBlocked = blockedGroups.length < limit;
    this.groups?.forget();
  }
}

/** Reports whether an attempt timed out and its handler still runs. */
function isAbandoned({ abandonedMs }: { readonly abandonedMs?: number | undefined }): boolean {
  return abandonedMs !== undefined;
}

/** Returns the number of failing items; `undefined` if unknown. Pools list at most `MAX_LISTED` failing items. */
function failingOf(pool: PoolSnapshot | undefined): number | undefined {
  if (pool === undefined) return undefined;
  const { failing, failingItems } = pool;
  return failing ?? (failingItems.length < MAX_LISTED ? failingItems.length : undefined);
}

/** Returns the items whose keys are known, the latest failure last. */
function listedIn(failingItems: readonly KeyedFailing[]): KeyedFailing[] {
  return failingItems.filter(({ key }) => !(key instanceof NoKey))
    .sort((a, b) => (b.failedAgoMs ?? 0) - (a.failedAgoMs ?? 0));
}

/** Yields at most `limit` items. The limit is needed because more items may become delayed during the iteration. */
function* withDueIn(
  delayed: Iterable<DelayedItem<unknown>>,
  limit: number,
  clock: Clock,
): Generator<DelayedLook, void> {
  const now = clock.now();
  for (const { item, priority, dueAt } of delayed) {
    if (limit-- <= 0) return;
    yield { item, priority, dueInMs: Math.max(dueAt - now, 0) };
  }
}
