import type { RateLimitingQueue, WorkerPool, WorkQueueConfig } from "@workqueue/core";
import type { RedisQueue } from "@workqueue/redis";

/** Says whether a request may do something. */
export type Access = (request: Request) => boolean | Promise<boolean>;

/** A queue that is shown. */
export interface DashboardQueue<T> {
  /** The queue, in memory or on Redis. */
  readonly queue: RateLimitingQueue<T> | RedisQueue<T>;
  /** The pool that works on it in this process. Without it, what runs and what fails is not known of a queue in memory. */
  readonly pool?: WorkerPool<T> | undefined;
  /**
   * The text of an item, by which it is shown and searched for.
   *
   * @default the item, if it is a text; otherwise its key, as JSON
   */
  readonly keyText?: ((item: T) => string) | undefined;
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
