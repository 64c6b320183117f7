/**
 * Batches: handlers that work on several items at once.
 *
 * @module
 */

import { A_BOOLEAN, A_POSITIVE_INTEGER, requireRules } from "../base/arguments.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Duration, tryParseDuration } from "../base/duration.ts";
import { argumentError, invalidArgument } from "../base/errors.ts";
import type { HandlerContext } from "../contracts/handler.ts";
import type { QueueGroups } from "../contracts/queue_inspection.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { SourcedQueue } from "../contracts/work_source.ts";
import type { WorkerOptions, WorkerPool } from "../contracts/workers.ts";
import { nextTask } from "../structures/burst.ts";
import { type Pool, startPool } from "./pool.ts";

/** Handler of a batch. */
export type BatchHandler<T> = (
  items: readonly T[],
  context: BatchContext<T>,
) => BatchOutcome<T> | Promise<BatchOutcome<T>>;

/** Value that a {@linkcode BatchHandler} returns: nothing, or the items that failed, with their errors. */
export type BatchOutcome<T> = void | { readonly failed: ReadonlyMap<T, unknown> };

/** Second argument of a {@linkcode BatchHandler}. */
export interface BatchContext<T> {
  /** Aborts when the signals of all items have aborted. */
  readonly signal: AbortSignal;
  /** Returns the details of the attempt at one item of the batch. */
  of(item: T): HandlerContext;
}

/** Options of {@linkcode runBatches}: those of `runWorkers`, and the size of batches. */
export interface BatchOptions<T = unknown> extends WorkerOptions<T> {
  /** Maximum number of batches that run at once; a positive integer. */
  concurrency?: number | undefined;
  /** Maximum number of items in a batch; a positive integer. */
  size: number;
  /**
   * Longest time for which the first item of a batch waits for others. With a `throttle`, items don't wait, because
   * they would hold their permits: a batch then has the items that were ready at once.
   *
   * @default {0}
   */
  wait?: Duration | undefined;
  /**
   * Whether the handler is called again with each half of a batch that failed, until the failing items are alone. Only
   * these items count a failure. Items whose attempts were aborted meanwhile, such as cancelled ones, are left out. The
   * handler must be able to repeat what it did for the other items.
   *
   * @default {false}
   */
  split?: boolean | undefined;
  /**
   * Whether all items of a batch must be of the same group, by the discipline of the queue, which must have groups.
   * Then, its `maxPerGroup` caps the batches. Items of other groups that were taken meanwhile wait for their batch.
   *
   * @default {false}
   */
  sameGroup?: boolean | undefined;
}

const ACTION = "run batches";

/** Item that is part of a batch, until the batch has been worked on. */
interface Member<T> {
  readonly item: T;
  readonly context: HandlerContext;
  resolve(): void;
  reject(error: unknown): void;
}

/** Batch that has not begun. */
interface Gathering<T> {
  readonly group: unknown;
  readonly members: Member<T>[];
  timer: unknown;
  /** Whether the batch waits only for items that are ready. */
  isEnding: boolean;
  isDue: boolean;
}

/** Batch whose handler is running. */
interface Batch<T> {
  readonly members: readonly Member<T>[];
  /** Members that have ended, or whose attempts have timed out, so that other items may take their slots. */
  readonly gone: Set<Member<T>>;
}

/**
 * Takes items from the queue and runs the handler on several of them at once. Each item has an attempt of its own, with
 * its retries, its timeout and its permit, as with `runWorkers`: an item that fails is retried with its own delay, and
 * may then be in a batch with others. The timeout includes the time for which an item waits for others.
 *
 * A handler that throws fails all items of the batch, and one that returns `{ failed }` only some of them. With
 * `split`, the failing items are found by halves: one bad item among 100 takes at most 15 calls, and the other items
 * don't fail.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, runBatches } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "5ms", maxDelay: "1m" }));
 * for (const item of ["a", "b", "c", "d", "e"]) queue.add(item);
 *
 * const batches: string[] = [];
 * const pool = runBatches(queue, (items) => void batches.push(items.join("")), { size: 3 });
 * await queue.shutDownWithDrain();
 * await pool.finished;
 * assertEquals(batches, ["abc", "de"]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param queue The source of items, as for `runWorkers`.
 * @param handler Function that processes the items of a batch. No two items have the same key.
 * @param options The size of batches, and the options of `runWorkers`. `concurrency` is the number of batches.
 * @returns The running pool. Its numbers are those of items.
 * @throws {RangeError} If `size` or another option is a number out of range.
 * @throws {TypeError} If an option is unknown, missing or has the wrong type.
 */
export function runBatches<T>(
  queue: RateLimitingQueue<T> | SourcedQueue<T>,
  handler: BatchHandler<T>,
  options: BatchOptions<T>,
): WorkerPool<T> {
  if (typeof handler !== "function") throw invalidArgument(ACTION, "handler", "must be a function", handler);
  const { size, wait, split, sameGroup, concurrency, ...others } = Object(options) as BatchOptions<T>;
  const isDuration = (value: unknown) => tryParseDuration(value) !== undefined;
  requireRules(ACTION, { size, wait, split, sameGroup, concurrency }, {
    size: A_POSITIVE_INTEGER,
    wait: [isDuration, "must be a duration"],
    split: A_BOOLEAN,
    sameGroup: A_BOOLEAN,
    concurrency: A_POSITIVE_INTEGER,
  });
  if (size === undefined) throw argumentError(ACTION, "missing required option 'size' (most items in a batch)");
  const clock = others.clock ?? (queue as RateLimitingQueue<T>).clock ?? systemClock;
  const most = concurrency ?? 1;
  const waitMs = others.throttle === undefined ? Math.max(tryParseDuration(wait ?? 0)!, 0) : 0;
  const groupOf = sameGroup ? (queue as { groups?: QueueGroups }).groups?.groupOf : undefined;
  if (sameGroup && groupOf === undefined) throw argumentError(ACTION, "'sameGroup' is for a queue with groups");
  const groups = groupOf && (queue as unknown as { groups: QueueGroups }).groups;
  // A pool that makes room for the event loop takes the rest of the ready items later.
  const takesMore = (): boolean => {
    if (others.throttle !== undefined || !(Number((queue as RateLimitingQueue<T>).length) > 0)) return false;
    const { state, active, abandoned, settings: { concurrency } } = pool.view;
    return state === "open" && active - abandoned + batches.reserved < concurrency;
  };
  const batches = new Batches(handler, {
    size,
    most,
    waitMs,
    split: split === true,
    timeoutMs: tryParseDuration(others.timeout),
    groups,
    clock,
    takesMore,
    reserve: (slots) => pool.reserve(slots),
    timedOut() {
      const timedOut = [...pool.view.running].filter(({ attempt: { rare } }) => rare?.timedOut !== undefined);
      return new Set(timedOut.map(({ attempt: { lease } }) => lease.item));
    },
  });
  const isEnding = () =>
    (queue as Partial<RateLimitingQueue<T>>).shuttingDown === true || others.signal?.aborted === true;
  const pool: Pool<T> = startPool<T>(queue, (item, context) => batches.join(item, context, isEnding()), {
    ...others,
    concurrency: most * size,
  });
  const stop = pool.stop.bind(pool);
  pool.stop = () => {
    batches.flush(); // a batch that waits for others would hold up the end
    return stop();
  };
  batches.watch(queue as Partial<{ watch(callback: () => void): () => void }>, isEnding, pool.finished);
  return pool;
}

interface Terms {
  readonly size: number;
  readonly most: number;
  readonly waitMs: number;
  readonly split: boolean;
  readonly timeoutMs: number | undefined;
  readonly groups: QueueGroups | undefined;
  readonly clock: Clock;
  /** Reports whether the pool is about to take ready items. */
  readonly takesMore: () => boolean;
  /** Keeps this number of slots of the pool free. */
  readonly reserve: (slots: number) => void;
  /** Returns the items whose attempts have timed out, although their handler still runs. */
  readonly timedOut: () => ReadonlySet<unknown>;
}

/**
 * Gathers items to batches, and runs the handler on them. A batch that is not full keeps the rest of its slots, so that
 * the pool takes no item that would have to wait until a batch ends.
 */
class Batches<T> {
  readonly #handler: BatchHandler<T>;
  readonly #terms: Terms;
  /** Batches that have not begun, the oldest first. With groups, more batches may be due than may run. */
  readonly #gatherings = new Set<Gathering<T>>();
  /** Batches that have not begun and are not full, by group. */
  readonly #open = new Map<unknown, Gathering<T>>();
  /** Running batches, except batches whose attempts have all timed out. */
  readonly #running = new Set<Batch<T>>();
  /** Number of slots that running batches keep free. */
  reserved = 0;

  constructor(handler: BatchHandler<T>, terms: Terms) {
    this.#handler = handler;
    this.#terms = terms;
  }

  /** Adds an item to a batch. Resolves when the work on it is done, and rejects if it failed. */
  join(item: T, context: HandlerContext, isEnding: boolean): Promise<void> {
    const { groups, size, most, timeoutMs } = this.#terms;
    const group = groups?.groupOf?.({ item, key: context.key });
    return new Promise((resolve, reject) => {
      const gathering = this.#open.get(group) ?? this.#gather(group, isEnding);
      gathering.members.push({ item, context, resolve, reject });
      if (gathering.members.length === size) {
        this.#open.delete(group);
        this.#due(gathering);
      }
      if (timeoutMs !== undefined && this.#running.size === most) this.#look(); // a timeout may have made room
    });
  }

  #gather(group: unknown, isEnding: boolean): Gathering<T> {
    const { waitMs, clock } = this.#terms;
    const gathering: Gathering<T> = { group, members: [], timer: undefined, isEnding: false, isDue: false };
    this.#gatherings.add(gathering);
    this.#open.set(group, gathering);
    if (isEnding || waitMs === 0) this.#dueWhenTaken(gathering);
    else gathering.timer = clock.setTimeout(() => this.#due(gathering), waitMs);
    return gathering;
  }

  /** Lets a batch begin once the pool has taken all ready items. */
  #dueWhenTaken(gathering: Gathering<T>): void {
    if (gathering.isEnding) return;
    gathering.isEnding = true;
    const look = () => {
      if (!gathering.isDue && this.#terms.takesMore()) nextTask(look);
      else this.#due(gathering);
    };
    afterTakes(look);
  }

  /** Begins all batches that wait for more items. */
  flush(): void {
    for (const gathering of this.#gatherings) gathering.isDue = true;
    this.#begin();
  }

  /** When the queue begins to shut down, lets batches wait only for items that are ready by then. */
  watch(
    queue: Partial<{ watch(callback: () => void): () => void }>,
    isEnding: () => boolean,
    finished: Promise<void>,
  ): void {
    const end = queue.watch?.(() => {
      if (!isEnding()) return;
      for (const gathering of this.#gatherings) this.#dueWhenTaken(gathering);
    });
    if (end !== undefined) finished.then(end, end);
  }

  #due(gathering: Gathering<T>): void {
    gathering.isDue = true;
    this.#begin();
  }

  /** Begins due batches as long as more may run. Items whose attempts were aborted meanwhile are left out. */
  #begin(): void {
    const { most, waitMs, groups, clock } = this.#terms;
    const mayHaveWaited = waitMs > 0 || groups !== undefined;
    for (const gathering of this.#gatherings) {
      if (this.#running.size === most) return;
      if (!gathering.isDue) continue;
      this.#gatherings.delete(gathering);
      if (this.#open.get(gathering.group) === gathering) this.#open.delete(gathering.group);
      if (gathering.timer !== undefined) clock.clearTimeout(gathering.timer);
      const members = mayHaveWaited ? withoutAborted(gathering.members) : gathering.members;
      if (members.length > 0) void this.#run({ members, gone: new Set() });
    }
  }

  async #run(batch: Batch<T>): Promise<void> {
    this.#running.add(batch);
    const handled = this.#handle(batch, batch.members);
    this.#reserve(); // not earlier, because the pool then takes items for the next batch
    const { timeoutMs, clock } = this.#terms;
    const timer = timeoutMs === undefined ? undefined : clock.setTimeout(() => this.#look(), timeoutMs);
    await handled;
    if (timer !== undefined) clock.clearTimeout(timer);
    this.#ended(batch);
  }

  /**
   * Lets other items begin in place of members whose attempts have timed out, although the handler of the batch still
   * runs.
   */
  #look(): void {
    const timedOut = this.#terms.timedOut();
    for (const batch of this.#running) {
      for (const member of batch.members) if (timedOut.has(member.item)) batch.gone.add(member);
      if (batch.gone.size === batch.members.length) this.#running.delete(batch);
    }
    this.#reserve();
    this.#begin();
  }

  #ended(batch: Batch<T>): void {
    if (!this.#running.delete(batch)) return;
    this.#reserve();
    this.#begin();
  }

  #reserve(): void {
    const { size, reserve } = this.#terms;
    this.reserved = 0;
    for (const { members, gone } of this.#running) this.reserved += size - members.length + gone.size;
    reserve(this.reserved);
  }

  /** Calls the handler, and again with each half if it fails and batches are split. Never rejects. */
  async #handle(batch: Batch<T>, members: readonly Member<T>[]): Promise<void> {
    let failed: ReadonlyMap<T, unknown> | undefined;
    let error: { thrown: unknown } | undefined;
    try {
      failed = (await this.#handler(members.map(({ item }) => item), contextOf(members)))?.failed;
    } catch (thrown) {
      if (this.#terms.split && members.length > 1) {
        const half = members.length >> 1;
        await this.#handleHalf(batch, members.slice(0, half));
        return await this.#handleHalf(batch, members.slice(half));
      }
      error = { thrown };
    }
    this.#leave(batch, members);
    for (const { item, resolve, reject } of members) {
      if (error !== undefined) reject(error.thrown);
      else if (failed?.has(item)) reject(failed.get(item));
      else resolve();
    }
  }

  /** Calls the handler with a half of a batch, without items whose attempts were aborted meanwhile. */
  async #handleHalf(batch: Batch<T>, half: readonly Member<T>[]): Promise<void> {
    const members = withoutAborted(half);
    if (members.length < half.length) this.#leave(batch, half.filter(({ context }) => context.signal.aborted));
    if (members.length > 0) await this.#handle(batch, members);
  }

  /** Lets a batch go on without members that have ended. */
  #leave(batch: Batch<T>, members: readonly Member<T>[]): void {
    if (members.length === batch.members.length) return; // the batch ends with them
    for (const member of members) batch.gone.add(member);
    this.#reserve();
  }
}

/** Rejects the members whose attempts were aborted, and returns the others. */
function withoutAborted<T>(members: readonly Member<T>[]): readonly Member<T>[] {
  return members.filter(({ context: { signal }, reject }) => {
    if (signal.aborted) reject(signal.reason);
    return !signal.aborted;
  });
}

function contextOf<T>(members: readonly Member<T>[]): BatchContext<T> {
  let controller: AbortController | undefined;
  return {
    get signal() {
      if (controller === undefined) {
        const all = controller = new AbortController();
        const look = () => {
          if (members.every(({ context }) => context.signal.aborted)) all.abort(members[0]!.context.signal.reason);
        };
        for (const { context: { signal } } of members) signal.addEventListener("abort", look, { once: true });
        look();
      }
      return controller.signal;
    },
    of(item) {
      const member = members.find((one) => one.item === item);
      if (member === undefined) throw argumentError("get context", "the item is not in the batch", Error);
      return member.context;
    },
  };
}

/** Calls `callback` after the pool has taken the items that are ready now, unless it makes room for the event loop. */
function afterTakes(callback: () => void): void {
  Promise.resolve().then(() => Promise.resolve()).then(callback);
}
