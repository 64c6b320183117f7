import { argumentError } from "@workqueue/core/internal";
import { parseAddress } from "./address.ts";
import type { Connection, RedisClient } from "./connection.ts";
import { dialClient, requireClient } from "./given_client.ts";
import { dialAddress } from "./node_redis.ts";
import { Share, Shared } from "./share.ts";
import type { Dialer } from "./wire.ts";

/** Server to connect to, and settings of the connection. */
export interface ConnectOptions {
  /**
   * URL of the server.
   *
   * @default {"redis://localhost:6379"}
   */
  url?: string | undefined;
  /** Client to use instead of a URL. */
  client?: RedisClient | undefined;
  /**
   * Milliseconds until an unanswered call rejects, retries included.
   *
   * @default {10_000}
   */
  callTimeout?: number | undefined;
  /**
   * Milliseconds of silence after which a connection is dropped if the server owes an answer. Applies only to
   * connections that this package opened.
   *
   * @default {5000}
   */
  silence?: number | undefined;
}

const DEFAULT_URL = "redis://localhost:6379";
const DEFAULT_CALL_TIMEOUT = 10_000;
const DEFAULT_SILENCE = 5000;

const byAddress: Map<string, Shared> = new Map();
const byClient: Map<RedisClient, Shared> = new Map();

/**
 * Returns a share of this process's connection to the server, or of its connection through the client. The first call
 * opens the connection. The `silence` of the first user applies to all users.
 *
 * @throws {TypeError} If the URL or the client can't be used, or if both are given. The message includes the action.
 */
export function connect(action: string, options: ConnectOptions): Connection {
  const { url = DEFAULT_URL, client, callTimeout = DEFAULT_CALL_TIMEOUT, silence = DEFAULT_SILENCE } = options;
  requireServer(action, options);
  if (client !== undefined) return share(byClient, client, callTimeout, () => dialClient(client, silence));
  const address = parseAddress(action, url);
  return share(byAddress, JSON.stringify(address), callTimeout, () => dialAddress(address, silence));
}

/**
 * Checks the URL and the client without opening a connection.
 *
 * @throws {TypeError} If the URL or the client can't be used, or if both are given. The message includes the action.
 */
export function requireServer(action: string, { url, client }: ConnectOptions): void {
  if (url !== undefined && client !== undefined) {
    throw argumentError(action, "'url' and 'client' must not both be given");
  }
  if (url !== undefined) parseAddress(action, url);
  if (client !== undefined) requireClient(action, client);
}

function share<K>(all: Map<K, Shared>, key: K, callTimeout: number, dial: () => Dialer): Connection {
  const shared = all.get(key) ?? new Shared(dial(), () => all.delete(key));
  all.set(key, shared);
  return new Share(shared, callTimeout);
}
