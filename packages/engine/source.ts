import type { MetricsProvider, Shutdown, ThrottleDescription } from "@workqueue/core";
import { hasMethods } from "@workqueue/core/internal";
import {
  type Ending,
  type GivenUpItem,
  type HeldNews,
  onBucketChange,
  type RetryLimits,
  type Throttle,
  type TokenSource,
  type WorkAttempt,
  type WorkLease,
  type WorkRequest,
  type WorkSource,
} from "@workqueue/core/hooks";
import type { Dispatch, Want } from "./dispatcher.ts";
import type { AttemptBucket } from "./engine.ts";
import type { HeldLease } from "./lease.ts";
import type { EndAnswer, LeaseEnding } from "./outcome.ts";
import { SHUTDOWN } from "./shutdown.ts";

/** Name and path of the `throttle` bucket in a document. Without a document, the path is empty. */
export type ThrottleName = Pick<ThrottleDescription, "name" | "path">;

/** Parts of a queue that its source uses. */
export interface SourceQueue<T> {
  readonly name: string;
  /** Name of the product, for messages. */
  readonly product: string;
  readonly metrics: MetricsProvider | undefined;
  readonly dispatcher: Dispatch<T>;
  /** Returns the current path of the `throttle` bucket in the document, and its name, if it has one. */
  throttleName(): ThrottleName;
  /** Returns the throttle that all processes share and that has the given throttle as its local part, if any. */
  sharedThrottle(throttle: Throttle): Throttle | undefined;
  /** Notes that the work on a lease begins now. */
  noteStart(held: HeldLease<T>): void;
  /** Pauses the group of a key, or the queue. Returns whether that is possible. */
  pause(key: string, scope: "group" | "queue", ms: number): boolean;
  isOver(): boolean;
  onShutDown(callback: () => void): () => void;
  /** Calls `callback` for each item given up because all of its holders were lost. Returns an unsubscribe function. */
  watchGivenUp(callback: (given: GivenUpItem<T>) => void): () => void;
}

/** Call to `take` that is waiting for a lease. */
interface Wait<T> {
  readonly request: WorkRequest;
  /** Stops watching the bucket. */
  readonly unwatch: (() => void) | undefined;
  resolve(lease: WorkLease<T> | Shutdown): void;
}

/** Passes the queue's work to one pool, and outcomes from the pool to the queue. */
export class RemoteSource<T> implements WorkSource<T>, Want<T> {
  readonly name: string;
  readonly metrics: MetricsProvider | undefined;
  readonly #queue: SourceQueue<T>;
  #wait: Wait<T> | undefined = undefined;
  /** Leases that have arrived but that the pool has not taken yet. */
  #brought: HeldLease<T>[] = [];
  #onNews: ((news: HeldNews) => void) | undefined = undefined;
  /** Lease that the pool has waited for, until its attempt begins. */
  #first: HeldLease<T> | undefined = undefined;

  constructor(queue: SourceQueue<T>) {
    this.#queue = queue;
    this.name = queue.name;
    this.metrics = queue.metrics;
  }

  get isOver(): boolean {
    return this.#queue.isOver();
  }

  readonly clock = undefined;
  readonly isRemote = true;
  readonly mayComeBack = false;
  readonly failing = "unknown";

  get isPaused(): boolean {
    return this.#queue.dispatcher.isPaused;
  }

  /** Calls back when the queue object is shut down. */
  watch(callback: () => void): () => void {
    return this.#queue.onShutDown(callback);
  }

  get length(): number {
    return this.#brought.length;
  }

  /** Number of leases that have arrived and whose attempts have not begun. */
  get unbegun(): number {
    return this.#brought.length + (this.#first === undefined ? 0 : 1);
  }

  /** Tokens of a queue's own bucket are taken in the store together with the items. */
  takesPermits(throttle: Throttle): boolean {
    return isBucket(throttle) && this.sharedThrottle(throttle) === undefined;
  }

  sharedThrottle(throttle: Throttle): Throttle | undefined {
    return this.#queue.sharedThrottle(throttle);
  }

  watchGivenUp(callback: (given: GivenUpItem<T>) => void): () => void {
    return this.#queue.watchGivenUp(callback);
  }

  attemptOf(lease: WorkLease<T>): number | undefined {
    const { held } = lease as PoolLease<T>;
    if (held === this.#first) this.#first = undefined;
    held.hasBegun = true;
    if (!this.#queue.dispatcher.mayBegin(held)) return undefined;
    this.#queue.noteStart(held);
    return held.attempt;
  }

  /** Returns `false`, because only the engine can tell: it does so when the attempt ends. */
  mayRetry({ lease }: WorkAttempt<T>, limits: RetryLimits): boolean {
    (lease as PoolLease<T>).held.limits = limits;
    return false;
  }

  tryTake(): WorkLease<T> | undefined {
    const held = this.#brought.shift();
    return held && new PoolLease(held, this.#queue.dispatcher);
  }

  async take(request: WorkRequest): Promise<WorkLease<T> | Shutdown> {
    const { signal } = request;
    const throttle = request.throttle as Bucket | undefined;
    signal.throwIfAborted();
    if (this.#queue.isOver()) return SHUTDOWN;
    return await new Promise((resolve, reject) => {
      const abort = () => {
        this.#endWait();
        reject(signal.reason);
      };
      signal.addEventListener("abort", abort, { once: true });
      // A new rate may make tokens available immediately.
      const unwatch = throttle && onBucketChange(throttle, () => this.#queue.dispatcher.look());
      this.#wait = {
        request,
        unwatch,
        resolve: (lease) => {
          signal.removeEventListener("abort", abort);
          resolve(lease);
        },
      };
      this.#queue.dispatcher.want(this);
    });
  }

  takesBack(): true {
    return true;
  }

  timedOut(): void {}

  isFailing(): true {
    return true;
  }

  watchHeld(callback: (news: HeldNews) => void, tellsAdds: boolean): () => void {
    if (tellsAdds) this.#queue.dispatcher.tellAdds();
    this.#onNews = callback;
    return () => void (this.#onNews = undefined);
  }

  /** Tells the pool what has happened to an item on which it may be working. */
  tell(news: HeldNews): void {
    this.#onNews?.(news);
  }

  watchForgotten(): () => void {
    return () => {};
  }

  dueInMs(): undefined {}

  giveBackUnused(): void {
    for (const held of this.#brought.splice(0)) held.giveBack();
  }

  /**
   * Ends an attempt. If the handler failed and the lease may have been lost, hands the item back instead and resolves
   * to `false`. Such a failure is not counted, because other processes may have the item.
   */
  finish({ lease }: WorkAttempt<T>, ending: Ending): Promise<EndAnswer> {
    const { held } = lease as PoolLease<T>;
    if (held.isLost && "error" in ending) return held.end({ kind: "handedBack" }).then(() => false);
    return held.end(endingOf(ending));
  }

  /** Pauses the group of an item, or the queue, for all processes. */
  pause({ lease }: WorkAttempt<T>, scope: "group" | "queue", ms: number): boolean {
    return this.#queue.pause((lease as PoolLease<T>).held.key, scope, ms);
  }

  request(): { count: number; throttle?: AttemptBucket; pause?: number } {
    if (this.#wait === undefined) return { count: 0 };
    const { wanted, throttle } = this.#wait.request;
    const count = wanted();
    if (throttle === undefined) return { count };
    const bucket = throttle as Bucket;
    // Attempts must not begin while the bucket is paused. Reserving 0 tokens returns the remaining pause.
    return {
      count,
      throttle: { id: idOf(this.#queue.throttleName()), rate: bucket.rate, burst: bucket.burst },
      pause: bucket.reserve(0).delay,
    };
  }

  /** Resolves the pool's call to `take` with the first lease. The pool collects further leases with `tryTake`. */
  accept(leases: readonly HeldLease<T>[]): void {
    const [first, ...others] = leases;
    this.#brought.push(...others);
    this.#first = first;
    this.#endWait()!.resolve(new PoolLease(first!, this.#queue.dispatcher));
  }

  end(): void {
    this.#endWait()?.resolve(SHUTDOWN);
  }

  #endWait(): Wait<T> | undefined {
    const wait = this.#wait;
    this.#wait = undefined;
    wait?.unwatch?.();
    this.#queue.dispatcher.unwant(this);
    return wait;
  }
}

/** Lease in the form that a pool uses. Disposing an unfinished lease hands its item back. */
class PoolLease<T> implements WorkLease<T> {
  readonly shutdown = false;
  readonly held: HeldLease<T>;
  readonly #dispatcher: Dispatch<T>;

  constructor(held: HeldLease<T>, dispatcher: Dispatch<T>) {
    this.held = held;
    this.#dispatcher = dispatcher;
  }

  get item(): T {
    return this.held.item;
  }

  get key(): string {
    return this.held.key;
  }

  get priority(): number {
    return this.held.priority;
  }

  get trace(): string | undefined {
    return this.held.trace;
  }

  get token(): bigint {
    return this.held.token;
  }

  get signal(): AbortSignal {
    return this.held.signal;
  }

  /** Whether the item was added again. From the first use on, the engine tells this process of such adds. */
  get addedAgain(): () => boolean {
    this.#dispatcher.tellAdds();
    return () => this.held.isAddedAgain;
  }

  [Symbol.dispose](): void {
    this.held.giveBack();
  }
}

function endingOf(ending: Ending): LeaseEnding {
  if (ending.kind === "cancelled") return { kind: "done" };
  return ending.kind === "requeue" ? { kind: "retry", minDelay: 0, priority: ending.priority } : ending;
}

/**
 * Returns the identity of the bucket from which each attempt takes a token. If the document refers to the bucket by a
 * limiter's name, the bucket is that limiter's bucket.
 */
export function idOf({ name, path }: ThrottleName): string {
  return name === undefined ? "throttle" : path.toWellFormed();
}

/** Token bucket, possibly from another copy of the core. */
type Bucket = Throttle & TokenSource & { readonly rate: number; readonly burst: number };

/** Reports whether a throttle is a token bucket. */
export function isBucket(throttle: object): throttle is Bucket {
  return "rate" in throttle && "burst" in throttle && hasMethods(throttle, "reserve");
}
