/** What the rest of the package knows of a connection: types only. */

import type { IoRedisClient } from "./ioredis.ts";
import type { NodeRedisClient } from "./node_redis.ts";

/** A client that a user has: of `redis` or `@redis/client` from version 5, or of `ioredis` from version 5. */
export type RedisClient = NodeRedisClient | IoRedisClient;

/** A script of the server's, in Lua. */
export interface Script {
  readonly text: string;
  /** The name that the server knows the text by, in hexadecimal digits. */
  readonly sha1: string;
}

/**
 * What becomes of a call whose connection broke before the reply came, so that nobody knows whether it ran:
 *
 * - `"never"`: it rejects, with a {@linkcode RedisConnectionError} whose `mayHaveRun` is true.
 * - `"always"`: it is made again. For scripts that may run twice.
 * - `"marked"`: it is made again, and the script is told: its last argument, which is added to those given, is `"0"`
 *   the first time, and `"1"` if it may have run before.
 *
 * A call that was certainly not sent, or that the server turned down as it was loading its data or the like, is always
 * made again, and is no second time.
 */
export type Retry = "never" | "always" | "marked";

/** One user's share of a connection that a process has to a server. */
export interface Connection {
  /** The host and the port, or what else is to be said of where the server is: without user and password. */
  readonly address: string;
  /** The number of the database. */
  readonly database: number;
  /** Whether calls go out now. */
  readonly isUp: boolean;

  /**
   * Runs a script with one key. Calls made in one turn of the event loop are sent together, and run in order.
   *
   * While the server is away, or refuses calls for now, the call is held back, and it rejects after the call timeout of
   * this user. What the server refuses for good rejects at once, with the error of the client. The reply has strings,
   * numbers, `null` and arrays in it.
   *
   * @throws {RedisConnectionError} (rejects) If the server is away, or the reply was lost.
   */
  run(script: Script, key: string, args: readonly (string | number)[], options?: { retry?: Retry }): Promise<unknown>;

  /**
   * Calls back with each message on a channel, until the function that it resolves to is called. Resolves when the
   * server has confirmed it; then survives that the connection breaks. Messages sent meanwhile are lost: `onResumed` is
   * called when that may have been.
   *
   * @throws {RedisConnectionError} (rejects) If the server is away for longer than the call timeout of this user.
   */
  subscribe(channel: string, onMessage: (payload: string) => void, onResumed?: () => void): Promise<() => void>;

  /**
   * Calls back each time that the connection is there again after it was lost, until the function returned is called.
   * Calls that it makes before it returns or first awaits are sent before all others, also before those that are made
   * again. As it is called again for the next connection, they are not made again on that: they reject. It must not
   * throw.
   */
  onReconnect(callback: () => void): () => void;

  /** Calls `action`, unless a user of the same connection has had something called by this before. */
  once(action: () => void): void;

  /**
   * Takes no calls any more, waits for those that were made, and gives the connection back. The last user's closes it,
   * but for a client that was given.
   */
  release(): Promise<void>;
}
