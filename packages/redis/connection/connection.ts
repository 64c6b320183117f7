/** Types of a connection as the rest of the package sees it. */

import type { IoRedisClient } from "./ioredis.ts";
import type { NodeRedisClient } from "./node_redis.ts";

/**
 * Client that a user passes in: of `redis` or `@redis/client` (version 5 or later), or of `ioredis` (version 5 or
 * later).
 */
export type RedisClient = NodeRedisClient | IoRedisClient;

/** Script in Lua. */
export interface Script {
  readonly text: string;
  /** SHA-1 of the text, in hexadecimal digits. The server knows the script by it. */
  readonly sha1: string;
}

/**
 * Handling of a call whose connection broke before the reply came, so that the call may have run:
 *
 * - `"never"`: the call rejects with a {@linkcode RedisConnectionError} whose `mayHaveRun` is true.
 * - `"always"`: the call is repeated. For scripts that may run twice.
 * - `"marked"`: the call is repeated, and the script can tell. The last argument is added: `"0"` in the first call,
 *   and `"1"` if the script may have run before.
 *
 * A call is always repeated if it was certainly not sent, or if the server refused it for now, for example because it
 * was loading its data. Such a call does not count as having run before.
 */
export type Retry = "never" | "always" | "marked";

/** One user's share of the connection that a process has to a server. */
export interface Connection {
  /** Host and port, or the path of a Unix socket. Without user and password. */
  readonly address: string;
  /** Number of the database. */
  readonly database: number;
  /** Whether calls are sent at once. */
  readonly isUp: boolean;

  /**
   * Runs a script with one key. Calls made in one turn of the event loop are sent together and run in order.
   *
   * The call is queued while the server is away or refuses calls for now. It rejects after the call timeout of this
   * user. If the server refuses the call for good, it rejects at once, with the client's error. A reply consists of
   * strings, numbers, `null` and arrays. By default, `retry` is `"never"`.
   *
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than the call timeout, or the reply
   * was lost.
   */
  run(script: Script, key: string, args: readonly (string | number)[], options?: { retry?: Retry }): Promise<unknown>;

  /**
   * Calls `onMessage` with each message on a channel. Resolves to an unsubscribe function when the server has confirmed
   * the subscription. From then on, the subscription survives broken connections. Messages sent during an interruption
   * are lost: `onResumed` is called after each interruption.
   *
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than the call timeout of this user.
   */
  subscribe(channel: string, onMessage: (payload: string) => void, onResumed?: () => void): Promise<() => void>;

  /**
   * Calls `callback` each time the connection is back after a loss, until the returned function is called. Calls made
   * by `callback` before it returns or first awaits are sent before all other calls, repeated calls included. If the
   * connection is lost again, they reject instead of being repeated, because `callback` runs again for the next
   * connection. `callback` must not throw.
   */
  onReconnect(callback: () => void): () => void;

  /** Calls `action`, unless a user of the same connection has called `once` before. */
  once(action: () => void): void;

  /**
   * Accepts no more calls, waits for the calls that were made, and gives up the share. The last user to do so closes
   * the connection, except for a client that was passed in.
   */
  release(): Promise<void>;
}
