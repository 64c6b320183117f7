import type { GiveUpReason, QueueSnapshot, RateLimitingQueue, WorkerPool, WorkQueueConfig } from "@workqueue/core";

/** Says whether a request may do something. */
export type Access = (request: Request) => boolean | Promise<boolean>;

/**
 * As much of a queue of `@workqueue/redis` as is used here, so that nobody needs that package who has no such queue.
 */
export interface QueueOnRedis<T> {
  /** Its name. */
  readonly name: string;
  /** The key of an item, where that is not the item itself. */
  readonly keyOf?: ((item: T) => string) | undefined;
  /** Shows what is in the queue, in lists of up to `limit` items each. */
  snapshot(options?: { limit?: number }): Promise<QueueOnRedisSnapshot<T>>;
  /** Takes back an item that waits. */
  cancelDelayed(item: T): Promise<boolean>;
  /** Forgets the failures of an item. */
  forget(item: T): Promise<void>;
  /** Makes an item ready that waits. */
  promoteDelayed(item: T): Promise<boolean>;
  /** Gives out nothing more, to any process. */
  pause(): Promise<void>;
  /** Ends that. */
  resume(): Promise<void>;
}

/** What is in a queue on Redis. */
export interface QueueOnRedisSnapshot<T> extends QueueSnapshot<T> {
  /** Whether it is paused. */
  readonly paused: boolean;
  /** How many keys have failures that are not forgotten. */
  readonly failing: number;
  /** For how long the oldest of the ready items has been so, in milliseconds. */
  readonly oldestReadyMs: number;
  /** What has been counted since the queue was first used. */
  readonly totals: {
    readonly handedOut: number;
    readonly failed: number;
    readonly givenUp: number;
    readonly givenUpFor?: Readonly<Partial<Record<GiveUpReason, number>>>;
  };
  /** What fails, with its last error. */
  readonly failingItems: readonly { item: T; attempts: number; error: string; dueInMs?: number }[];
}

/** A queue that is shown. */
export interface DashboardQueue<T> {
  /** The queue, in memory or on Redis. */
  readonly queue: RateLimitingQueue<T> | QueueOnRedis<T>;
  /**
   * The pool that works on it in this process. Without it, what runs and what fails is not known of a queue in memory.
   */
  readonly pool?: WorkerPool<T> | undefined;
  /**
   * The text of an item, by which it is shown and searched for.
   *
   * @default the item, if it is a text; otherwise its key, as JSON
   */
  readonly keyText?: ((item: T) => string) | undefined;
  /** Is told of each item that somebody takes back by the dashboard: nobody else hears of it. */
  readonly onTakeBack?: ((item: T) => void) | undefined;
}

/** The options of {@linkcode createDashboard}. */
export interface DashboardOptions {
  /** What is shown, by the name that it is shown under. */
  // deno-lint-ignore no-explicit-any -- queues of different items stand beside each other
  readonly queues: Readonly<Record<string, DashboardQueue<any>>>;
  /** Where the queues come from: their limiters and buckets are shown. */
  readonly config?: WorkQueueConfig | undefined;
  /** Who may look. Errors carry secrets, so there is no default. */
  readonly view: Access;
  /** Who may steer. Without it nobody may. */
  readonly control?: Access | undefined;
  /** Reads the config anew, for the button that reloads it: `() => readConfigFile(path)`. Without it, there is none. */
  readonly readConfig?: (() => string | object | Promise<string | object>) | undefined;
}

/** A page, and the API that it uses. */
export interface Dashboard extends Disposable {
  /** Answers a request. It needs no `this`. `info` is what servers give beside the request. */
  readonly fetch: (request: Request, info?: unknown) => Promise<Response>;
}
