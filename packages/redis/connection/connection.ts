/** Types of connections, for use by the rest of the package. */

import type { IoRedisClient } from "./ioredis.ts";
import type { NodeRedisClient } from "./node_redis.ts";
import type { Script } from "./script.ts";

export type { Script } from "./script.ts";

/**
 * Client that a user passes in. The client comes from `redis`, `@redis/client` or `ioredis`, version 5 or later.
 */
export type RedisClient = NodeRedisClient | IoRedisClient;

/**
 * Handling of a call whose connection broke before the reply arrived. The call may have run.
 *
 * - `"never"`: the call rejects with a {@linkcode RedisConnectionError} whose `mayHaveRun` is true.
 * - `"always"`: the call is repeated. For scripts that are allowed to run twice.
 * - `"marked"`: the call is repeated, and the script receives an additional last argument. The argument is `"0"` in the
 *   first call, and `"1"` if the script may have run before.
 *
 * A call is always repeated if it was certainly not sent, or if the server temporarily refused the call, for example
 * while loading its data. Such a call is treated as not having run.
 */
export type Retry = "never" | "always" | "marked";

/** One user's share of a process's connection to a server. */
export interface Connection {
  /** Host and port, or the path of a Unix socket. Without user and password. */
  readonly address: string;
  /** Database number. */
  readonly database: number;
  /** Whether calls are sent immediately, on all nodes in use. */
  readonly isUp: boolean;

  /**
   * Runs a script with one key. Calls made in one turn of the event loop are sent together and run in order. In a
   * cluster, this applies to calls with keys in one hash slot. Every key that the script uses must be in the slot of
   * `key`.
   *
   * The call is queued while the server is unreachable or temporarily refuses calls. The call rejects after this user's
   * call timeout. If the server refuses the call permanently, the call rejects immediately with the client's error. A
   * reply consists of strings, numbers, `null` and arrays. By default, `retry` is `"never"`.
   *
   * @throws {RedisConnectionError} (as a rejection) If the server is unreachable for longer than the call timeout, or
   * if the reply was lost.
   */
  run(script: Script, key: string, args: readonly (string | number)[], options?: { retry?: Retry }): Promise<unknown>;

  /**
   * Calls `onMessage` with each message on a channel. In a cluster, the channel must be in the hash slot of the scripts
   * that publish to it. Resolves to an unsubscribe function when the server has confirmed the subscription. From then
   * on, the subscription survives broken connections. Messages sent during an interruption are lost. `onResumed` is
   * called after each interruption.
   *
   * @throws {RedisConnectionError} (as a rejection) If the server is unreachable for longer than this user's call
   * timeout.
   */
  subscribe(channel: string, onMessage: (payload: string) => void, onResumed?: () => void): Promise<() => void>;

  /**
   * Calls `callback` each time a lost connection to the server with `key` is restored, or another node of the cluster
   * has taken over the key's hash slot. Returns an unsubscribe function.
   *
   * Calls that `callback` makes synchronously are sent before all other calls, repeated calls included. If the
   * connection is lost again, calls made by `callback` reject instead of being repeated, because `callback` runs again
   * for the next connection. `callback` must not throw.
   */
  onReconnect(key: string, callback: () => void): () => void;

  /** Calls `action`, unless any user of the same connection has already called `once`. */
  once(action: () => void): void;

  /**
   * Accepts no more calls, waits for pending calls, and releases the share. Releasing the last share closes the
   * connection. A client that a user passed in stays open.
   */
  release(): Promise<void>;
}
