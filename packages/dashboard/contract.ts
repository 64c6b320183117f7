import type { RateLimitingQueue, WorkerPool, WorkQueueConfig } from "@workqueue/core";
import type { RemoteQueueSnapshot } from "@workqueue/core/hooks";

/**
 * Function that decides whether a request is allowed. `true` allows the request. A non-empty string also allows it: the
 * string is the user's name, which the audit list shows. Anything else denies access, and so does a function that
 * throws, rejects, or takes longer than five seconds.
 */
export type Access = (request: Request) => boolean | string | Promise<boolean | string>;

/** Act of a user who controls queues (see {@linkcode DashboardOptions.onSteer}). */
export interface SteerEvent {
  /** Time when the act ended, as returned by `Date.now()`. */
  readonly time: number;
  /** Name returned by `control`, or else by `view`; `null` if neither returned a name. */
  readonly by: string | null;
  /**
   * Name of the queue on the dashboard; `null` for a reload of the config, or if a throttle was changed by its name.
   */
  readonly queue: string | null;
  /** Name of the throttle, if a throttle was changed by its name. */
  readonly throttle?: string;
  /** Name of the act, as in its address: `pause`, `take-back`, `reload`. */
  readonly action: string;
  /** Body of the request, such as `{ concurrency: 10 }`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Result or error, as a sentence. */
  readonly message: string;
  /** Whether the act failed, or may have failed because it took too long. */
  readonly isError: boolean;
}

/**
 * Queue that processes share, as the dashboard uses it: the part of the `RemoteQueue` of `@workqueue/redis` and
 * `@workqueue/sqlite` that it calls. The dashboard doesn't depend on these packages.
 */
export interface RemoteQueueLike<T> {
  /** Name of the queue. */
  readonly name: string;
  /** Name of the engine that stores the items, such as `"redis"`. */
  readonly engine: string;
  /** Returns the key of an item. If omitted, the item itself is the key. */
  readonly keyOf?: ((item: T) => string) | undefined;
  /** Returns the counts of the queue, and lists of up to `limit` items each. */
  snapshot(options?: { limit?: number }): Promise<RemoteQueueSnapshot<T>>;
  /** Removes a delayed item. Resolves with `false` if the item was not delayed. */
  cancelDelayed(item: T): Promise<boolean>;
  /** Cancels the work on an item. Resolves with the state in which the item was; `undefined` if it was in none. */
  cancel?(item: T): Promise<string | undefined>;
  /** Forgets the failures of an item. */
  forget(item: T): Promise<void>;
  /** Makes a delayed item ready. Resolves with `false` if the item was not delayed. */
  promoteDelayed(item: T): Promise<boolean>;
  /** Pauses the queue in all processes. Resolves with the number of this pause. */
  pause(): Promise<number | void>;
  /** Resumes the queue in all processes; with the number of a pause, only if that was the last pause. */
  resume(options?: { pause?: number }): Promise<void>;
  /** Pauses a group of items, for a number of milliseconds. Rejects if the queue has no groups. */
  pauseGroup?(group: string, ms: number): Promise<void>;
  /** Ends the pause of a group. Rejects if the queue has no groups. */
  resumeGroup?(group: string): Promise<void>;
}

/** Queue on the dashboard. */
export interface DashboardQueue<T> {
  /** Queue in memory, or queue that processes share: on Redis or in a file. */
  readonly queue: RateLimitingQueue<T> | RemoteQueueLike<T>;
  /**
   * Pool that processes the queue in this process. Without a pool, the running and failing items of an in-memory queue
   * are unknown.
   */
  readonly pool?: WorkerPool<T> | undefined;
  /**
   * Returns the text of an item for display and search.
   *
   * @default the item if it is a string; otherwise the item's key, as JSON unless the key is a string
   */
  readonly keyText?: ((item: T) => string) | undefined;
  /**
   * Called with each item that a user takes back or cancels on the dashboard. No other callback reports these items.
   */
  readonly onTakeBack?: ((item: T) => void) | undefined;
}

/** Options of {@linkcode createDashboard}. */
export interface DashboardOptions {
  /** Queues, keyed by the names that the dashboard shows. */
  // deno-lint-ignore no-explicit-any -- queues may have items of different types
  readonly queues: Readonly<Record<string, DashboardQueue<any>>>;
  /** Config of the queues. The dashboard shows its limiters and buckets. */
  readonly config?: WorkQueueConfig | undefined;
  /** Decides who can view the dashboard. There is no default because errors may contain secrets. */
  readonly view: Access;
  /** Decides who can control the queues. If omitted, nobody can control the queues. */
  readonly control?: Access | undefined;
  /**
   * Origins at which browsers open the page, such as `["https://queues.example.com"]`. Needed behind a proxy that ends
   * TLS, because the server then sees `http:`. A request that changes something must come from one of these origins, or
   * from the origin of its own URL: the same scheme, host and port. Forwarded headers are not trusted.
   *
   * @default {[]}
   */
  readonly origins?: readonly string[] | undefined;
  /**
   * Called after each act of a user, for example to write an audit log. Refused requests are not acts. If the function
   * throws, the act is not undone, and the error is logged.
   */
  readonly onSteer?: ((event: SteerEvent) => void) | undefined;
  /**
   * Reads the config again for the reload button, for example `() => readConfigFile(path)`. If omitted, the page has no
   * reload button.
   */
  readonly readConfig?: (() => string | object | Promise<string | object>) | undefined;
}

/** Dashboard: the page and its API. */
export interface Dashboard extends Disposable {
  /**
   * Answers a request. Doesn't use `this`. `info` is the second argument that servers pass with a request; `allowLocal`
   * needs it.
   */
  readonly fetch: (request: Request, info?: unknown) => Promise<Response>;
}
