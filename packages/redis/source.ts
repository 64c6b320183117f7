import type { BucketDescription, MetricsProvider, Shutdown } from "@workqueue/core";
import { hasMethods, invalidArgument } from "@workqueue/core/internal";
import {
  type Ending,
  type GivenUpItem,
  onBucketChange,
  type TokenSource,
  type WorkAttempt,
  type WorkLease,
  type WorkRequest,
  type WorkSource,
} from "@workqueue/core/hooks";
import type { Dispatcher, Want } from "./dispatcher.ts";
import type { HeldLease } from "./lease.ts";
import { type BucketPlan, planThrottle } from "./limiter_plan.ts";
import { type EndAnswer, type LeaseEnding, noPriorities } from "./outcome.ts";
import { SHUTDOWN } from "./shutdown.ts";

/** What a document calls the bucket of a queue's `throttle`, and where it stands. */
export type ThrottleName = Pick<BucketDescription, "name" | "path">;

/** What a source knows of its queue. */
export interface SourceQueue<T> {
  readonly name: string;
  readonly metrics: MetricsProvider | undefined;
  readonly dispatcher: Dispatcher<T>;
  /** What the document calls the bucket of the queue's `throttle` now, if it does. */
  throttleName(): ThrottleName;
  isOver(): boolean;
  /** Tells of what was given up as each of its holders was lost. */
  watchGivenUp(callback: (given: GivenUpItem<T>) => void): () => void;
}

/** A wait of the pool for leases. */
interface Wait<T> {
  readonly request: WorkRequest;
  /** Ends the watch of the bucket. */
  readonly unwatch: (() => void) | undefined;
  resolve(lease: WorkLease<T> | Shutdown): void;
}

/** Brings the work of a queue to one pool, and what the pool decides to the queue. */
export class RedisSource<T> implements WorkSource<T>, Want<T> {
  /** They are shared by all processes. */
  readonly takesTokens = true;
  readonly name: string;
  readonly metrics: MetricsProvider | undefined;
  readonly #queue: SourceQueue<T>;
  #wait: Wait<T> | undefined = undefined;
  /** What came and the pool has not begun. */
  #brought: HeldLease<T>[] = [];

  constructor(queue: SourceQueue<T>) {
    this.#queue = queue;
    this.name = queue.name;
    this.metrics = queue.metrics;
  }

  get isOver(): boolean {
    return this.#queue.isOver();
  }

  keyOf(lease: WorkLease<T>): string {
    return (lease as PoolLease<T>).held.key;
  }

  watchGivenUp(callback: (given: GivenUpItem<T>) => void): () => void {
    return this.#queue.watchGivenUp(callback);
  }

  attemptOf(lease: WorkLease<T>): number {
    return (lease as PoolLease<T>).held.attempt;
  }

  tryTake(): WorkLease<T> | undefined {
    while (this.#brought.length > 0) {
      const held = this.#brought.shift()!;
      if (this.#queue.dispatcher.mayBegin(held)) return new PoolLease(held);
    }
    return undefined;
  }

  async take(request: WorkRequest): Promise<WorkLease<T> | Shutdown> {
    const { signal, throttle } = request;
    signal.throwIfAborted();
    if (throttle !== undefined) requireBucket(throttle);
    if (this.#queue.isOver()) return SHUTDOWN;
    return await new Promise((resolve, reject) => {
      const abort = () => {
        this.#endWait();
        reject(signal.reason);
      };
      signal.addEventListener("abort", abort, { once: true });
      // At another rate there may be tokens at once. A bucket of somebody else's tells nobody.
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

  giveBackUnused(): void {
    for (const held of this.#brought.splice(0)) held.giveBack();
  }

  /**
   * A handler that fails once its signal has told it to stop has not failed, be the lease lost or not: others may have
   * it.
   */
  finish({ lease }: WorkAttempt<T>, ending: Ending): Promise<EndAnswer> {
    const { held } = lease as PoolLease<T>;
    if (held.isLost && "error" in ending) return held.end({ kind: "handedBack" }).then(() => false);
    return held.end(endingOf(ending));
  }

  request(): { count: number; throttle?: BucketPlan; pause?: number } {
    if (this.#wait === undefined) return { count: 0 };
    const { wanted, throttle } = this.#wait.request;
    const count = wanted();
    if (throttle === undefined) return { count };
    const { rate, burst } = requireBucket(throttle);
    // Nothing may begin while the bucket is paused. Reserving no tokens tells for how long.
    return {
      count,
      throttle: planThrottle({ ...this.#queue.throttleName(), rate, burst }),
      pause: throttle.reserve(0).delay,
    };
  }

  /** The first one ends the wait of the pool, which asks for the others that came with it. */
  accept(held: HeldLease<T>): void {
    const wait = this.#endWait();
    if (wait === undefined) this.#brought.push(held);
    else wait.resolve(new PoolLease(held));
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

/** A lease as a pool knows it: to dispose it without having finished it means that nobody has worked on it. */
class PoolLease<T> implements WorkLease<T> {
  readonly shutdown = false;
  readonly priority = 0;
  readonly held: HeldLease<T>;

  constructor(held: HeldLease<T>) {
    this.held = held;
  }

  get item(): T {
    return this.held.item;
  }

  get token(): bigint {
    return this.held.token;
  }

  get signal(): AbortSignal {
    return this.held.signal;
  }

  /** The server does not say. */
  addedAgain(): boolean {
    return false;
  }

  [Symbol.dispose](): void {
    this.held.giveBack();
  }
}

function endingOf(ending: Ending): LeaseEnding {
  if ("priority" in ending && ending.priority !== undefined) throw noPriorities("requeue item");
  switch (ending.kind) {
    case "requeue":
      return { kind: "retry", minDelay: 0 };
    case "failed":
      return { kind: "retry", minDelay: ending.minDelay, error: ending.error };
    default:
      return ending;
  }
}

function requireBucket(throttle: TokenSource): TokenSource & { rate: number; burst: number } {
  const { rate, burst } = throttle as { rate?: unknown; burst?: unknown };
  if (typeof rate === "number" && typeof burst === "number" && hasMethods(throttle, "reserve")) {
    return throttle as never;
  }
  throw invalidArgument("run workers", "throttle", "must be a TokenBucket for a queue on Redis", throttle);
}
