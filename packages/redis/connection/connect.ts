import { argumentError } from "@workqueue/core/internal";
import { parseAddress } from "./address.ts";
import type { Connection, RedisClient } from "./connection.ts";
import { dialClient, requireClient } from "./given_client.ts";
import { dialAddress } from "./node_redis.ts";
import { Share, Shared } from "./share.ts";
import type { Dialer } from "./wire.ts";

/** Where to connect to, and how. */
export interface ConnectOptions {
  /** Default `redis://localhost:6379`. */
  url?: string | undefined;
  /** In place of a URL. */
  client?: RedisClient | undefined;
  /** Milliseconds until a call rejects, retries included. Default 10 s. */
  callTimeout?: number | undefined;
  /**
   * After how many milliseconds without an answer that the server owes a connection of ours is dropped. Default 5 s.
   */
  silence?: number | undefined;
}

const DEFAULT_URL = "redis://localhost:6379";
const DEFAULT_CALL_TIMEOUT = 10_000;
const DEFAULT_SILENCE = 5000;

const byAddress: Map<string, Shared> = new Map();
const byClient: Map<RedisClient, Shared> = new Map();

/**
 * Gives a share of the one connection that this process has to the server, or by the client. It is opened by the first
 * call, and `silence` is that of the first user.
 *
 * @throws {TypeError} If the URL or the client is none that can be used. The message begins with the action.
 */
export function connect(action: string, options: ConnectOptions): Connection {
  const { url = DEFAULT_URL, client, callTimeout = DEFAULT_CALL_TIMEOUT, silence = DEFAULT_SILENCE } = options;
  requireServer(action, options);
  if (client !== undefined) return share(byClient, client, callTimeout, () => dialClient(client, silence));
  const address = parseAddress(action, url);
  return share(byAddress, JSON.stringify(address), callTimeout, () => dialAddress(address, silence));
}

/**
 * Checks where the server is. Connects to nothing.
 *
 * @throws {TypeError} If the URL or the client cannot be used, or both are given. The message begins with the action.
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
