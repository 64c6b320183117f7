import type { SOURCE } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import type { GiveUpReason } from "./handler.ts";
import type { MetricsProvider } from "./metrics.ts";
import type { TokenSource } from "./token_source.ts";
import type { Lease, Shutdown } from "./work_queue.ts";

/**
 * A queue that offers pools a source of its own, under `Symbol.for("workqueue.source")`: one that is not in memory. To
 * write one, import `SOURCE`, which is that symbol, from `@workqueue/core/hooks`.
 */
export interface SourcedQueue<T> {
  /** Opens a source for one pool: `runWorkers` calls it once. */
  [SOURCE](): WorkSource<T>;
}

/**
 * All that the pool of {@linkcode runWorkers} knows of a queue: where its items come from, and who carries out what it
 * decides on them. A source serves one pool.
 *
 * The pool decides (which failure gives an item up, what was interrupted, how many handlers may begin), and the source
 * carries out. For each lease, the pool calls `finish` once, and then disposes the lease: where `finish` ends it
 * already, there is nothing left to do. A lease that is disposed without `finish` was not worked on, and goes back.
 */
export interface WorkSource<T> {
  /** The name of the queue. */
  readonly name: string;

  /** The pool's clock, unless it was given one. Left out, that is the system's. */
  readonly clock?: Clock | undefined;

  /**
   * Where the pool sends what it measures, under the queue's name. Left out, or without a name, it measures nothing.
   */
  readonly metrics?: MetricsProvider | undefined;

  /** The key of the item of a lease. If it throws, the pool ends, and the item goes back. */
  keyOf(lease: WorkLease<T>): unknown;

  /** A lease that is there already; `undefined` if there is none right now. What it throws ends the pool. */
  tryTake(): WorkLease<T> | undefined;

  /**
   * Waits for leases. The first one comes by the promise, and others that came with it by `tryTake`, which the pool
   * calls for as long as more handlers may begin. The pool has one such wait at a time.
   *
   * @returns The lease, or `Shutdown` when nothing more will come.
   * @throws The signal's reason (as a rejection), if the signal aborts first. What comes all the same is given back by
   * the source; the pool does so with the lease of a promise that had been resolved. Any other rejection ends the pool.
   */
  take(request: WorkRequest): Promise<WorkLease<T> | Shutdown>;

  /**
   * Gives back the leases that came and were not taken by `tryTake`: the pool begins no more handlers for now, as it is
   * paused, stopped or full. Left out by a source that brings no more than one lease at a time.
   */
  giveBackUnused?(): void;

  /** Which attempt this is of the item, which has this key: 1 the first time. What it throws ends the pool. */
  attemptOf(lease: WorkLease<T>, key: unknown): number;

  /**
   * Carries out what the pool decided on an item. The pool goes on at once, whatever it returns.
   *
   * @param attempt The attempt that ended, or would have begun.
   * @param ending What becomes of the item.
   * @param report Is told of what went wrong and changes nothing of the ending.
   * @returns Nothing if it is done. A promise if that takes a while, for which the pool waits before it ends: `true`
   * when it is done; `false` if the lease was lost, so that the ending counts for nothing; or that the item was given
   * up instead, as its limiter threw. The pool reports the last two, and a rejection as well, which says that nobody
   * knows whether it is done.
   * @throws If it cannot be done, and nothing has changed. Where the handler asked for it (`requeue`, `requeueAfter`)
   * or was interrupted (`handedBack`), the attempt has failed; where the attempt has failed, the item is given up.
   */
  finish(
    attempt: WorkAttempt<T>,
    ending: Ending,
    report: (error: unknown, attempt: WorkAttempt<T>) => void,
  ): void | Promise<boolean | GivenUpEnding>;

  /**
   * Whether the source takes the item back now, to be handed out again for this reason. Where it does not, a failure
   * gives the item up, a `requeue` is plain success, and what would be handed back is worked on. Left out, it always
   * does.
   */
  takesBack?(attempt: WorkAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean;

  /**
   * Whether each lease comes with a token of the request's `throttle`, because many processes share it. Otherwise the
   * pool takes the tokens itself, and wants one lease at a time.
   */
  readonly takesTokens?: boolean;

  /**
   * How many items are ready to be taken, if that is known. By this and by `isOver`, a pool that takes a token for each
   * attempt knows when it needs none: no item will come.
   */
  readonly length?: number;

  /** Whether nothing will come beyond what is ready. */
  readonly isOver?: boolean;

  /**
   * Whether an item that somebody else holds will be ready once it is done, though the source has said `Shutdown`. The
   * pool does not end before, and looks again each time that `watch` calls back, which such a source must have.
   */
  readonly mayComeBack?: boolean;

  /** Calls back when `isOver` may have become true, or `mayComeBack` may have changed. Returns what ends that. */
  watch?(callback: () => void): () => void;

  /**
   * Calls back for each item that is given up without an attempt of this pool to end, as each process that worked on it
   * was lost. Only one pool of a queue is told of an item. Returns what ends that. Left out by a source where that
   * can't happen.
   */
  watchGivenUp?(callback: (given: GivenUpItem<T>) => void): () => void;

  /**
   * Whether what failed is still to be tried again, as far as is known here. Left out, it is until the pool knows
   * better.
   */
  isFailing?(key: unknown, item: T): boolean;

  /** In how many milliseconds an item is due that waits; `undefined` if it does not, or if that is not known here. */
  dueInMs?(item: T): number | undefined;
}

/** An item that is given up, and why. */
export interface GivenUpItem<T> {
  /** The item. */
  readonly item: T;
  /** Its key. */
  readonly key: unknown;
  /** How many attempts there were. */
  readonly attempts: number;
  /** The last error. */
  readonly error: unknown;
  /** Why it is given up. */
  readonly reason: GiveUpReason;
}

/** What a pool asks for when it waits for leases. */
export interface WorkRequest {
  /** Aborts when the pool wants none any more. */
  readonly signal: AbortSignal;
  /** How many handlers may begin now: how many leases are wanted at most. The number changes while the pool waits. */
  wanted(): number;
  /** Where each lease needs a token of, if `takesTokens` of the source is true and the pool was given some. */
  readonly throttle?: TokenSource | undefined;
}

/** A lease that may be lost, as it is not in this process that items are kept. */
export interface WorkLease<T> extends Lease<T> {
  /**
   * Aborts when the lease is lost, with the reason: so does the handler's signal. From then on `finish` gives `false`.
   */
  readonly signal?: AbortSignal | undefined;
  /** What a handler finds as its `token`. */
  readonly token?: bigint | undefined;
}

/** An attempt of a pool, as its source knows it. */
export interface WorkAttempt<T> {
  /** The right to work on the item. */
  readonly lease: WorkLease<T>;
  /** The item's key. */
  readonly key: unknown;
  /** What `attemptOf` said: 1 the first time. */
  readonly number: number;
}

/**
 * What becomes of an item when its attempt has ended:
 *
 * - `"succeeded"`: its failures are forgotten;
 * - `"requeueAfter"`: so they are, and it is added again after a delay in milliseconds;
 * - `"requeue"`: it is added again when the limiter says so, and the attempt counts;
 * - `"failed"`: likewise, and no sooner than after `minDelay` milliseconds;
 * - `"givenUp"`: its failures are forgotten, and it is not tried again, for a reason;
 * - `"handedBack"`: it is ready again as it came, and the attempt does not count.
 *
 * An item that is added again keeps the priority of its lease, unless there is another `priority`. A source that knows
 * no priorities throws then.
 */
export type Ending =
  | { readonly kind: "succeeded" }
  | { readonly kind: "requeueAfter"; readonly delay: number; readonly priority?: number | undefined }
  | { readonly kind: "requeue"; readonly priority?: number | undefined }
  | { readonly kind: "failed"; readonly error: unknown; readonly minDelay: number }
  | GivenUpEnding
  | { readonly kind: "handedBack" };

/** The {@linkcode Ending} of an item that is not tried again. */
export interface GivenUpEnding {
  /** Tells it from other endings. */
  readonly kind: "givenUp";
  /** The last failure. */
  readonly error: unknown;
  /** Why the item is not tried again. */
  readonly reason: GiveUpReason;
}
