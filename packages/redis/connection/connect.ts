import { argumentError } from "@workqueue/core/internal";
import { type Address, parseAddress } from "./address.ts";
import type { Connection, RedisClient } from "./connection.ts";
import { dialClient, requireClient } from "./given_client.ts";
import { dialAddress } from "./node_redis.ts";
import { dialMaster } from "./sentinels.ts";
import { Share, Shared } from "./share.ts";
import { type RedisTlsOptions, requireTls } from "./tls.ts";
import type { Dialer } from "./wire.ts";

/** Options that say which server to connect to. */
export interface ServerOptions {
  /**
   * URL of the server. With `sentinels`, the host is the name of the master.
   *
   * @default {"redis://localhost:6379"}
   */
  url?: string | undefined;
  /** URLs of Sentinels that know the address of the master. */
  sentinels?: readonly string[] | undefined;
  /** Certificates for TLS. */
  tls?: RedisTlsOptions | undefined;
  /** Client to use instead of the other options. */
  client?: RedisClient | undefined;
}

/** Server to connect to, and settings of the connection. */
export interface ConnectOptions extends ServerOptions {
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

/** Server that options describe. */
type Server = { client: RedisClient } | { address: Address; sentinels: readonly Address[] };

const DEFAULT_URL = "redis://localhost:6379";
const DEFAULT_SENTINEL_PORT = 26379;
const DEFAULT_CALL_TIMEOUT = 10_000;
const DEFAULT_SILENCE = 5000;

const byAddress: Map<string, Shared> = new Map();
const byClient: Map<RedisClient, Shared> = new Map();

/**
 * Returns a share of this process's connection to the server, or of its connection through the client. The first call
 * opens the connection. The `silence` of the first user applies to all users.
 *
 * @throws {TypeError} If the options don't describe a server that can be used. The message includes the action.
 */
export function connect(action: string, options: ConnectOptions): Connection {
  const { callTimeout = DEFAULT_CALL_TIMEOUT, silence = DEFAULT_SILENCE } = options;
  const server = requireServer(action, options);
  if ("client" in server) {
    return share(byClient, server.client, callTimeout, () => dialClient(server.client, silence));
  }
  const { address, sentinels } = server;
  const dial = () => sentinels.length > 0 ? dialMaster(address, sentinels, silence) : dialAddress(address, silence);
  return share(byAddress, JSON.stringify(server), callTimeout, dial);
}

/**
 * Returns the server that options describe, without connecting to it.
 *
 * @throws {TypeError} If the options don't describe a server that can be used. The message includes the action.
 */
export function requireServer(action: string, { url, sentinels, tls, client }: ServerOptions): Server {
  if (client !== undefined) {
    for (const [option, value] of Object.entries({ url, sentinels, tls })) {
      if (value !== undefined) throw argumentError(action, `'${option}' and 'client' must not both be given`);
    }
    requireClient(action, client);
    return { client };
  }
  const ofTls = tls === undefined ? {} : { certificates: requireTls(action, tls) };
  const read = (url: unknown, option: string, defaultPort?: number) => {
    const address = parseAddress(action, url, { option, ...defaultPort && { defaultPort } });
    return address.tls ? { ...address, ...ofTls } : address;
  };
  if (sentinels !== undefined) {
    if (url === undefined) throw argumentError(action, "'sentinels' needs a 'url' whose host is the master's name");
    requireUrls(action, "sentinels", sentinels);
  }
  const server = {
    address: read(url ?? DEFAULT_URL, "url"),
    sentinels: (sentinels ?? []).map((sentinel) => read(sentinel, "sentinels", DEFAULT_SENTINEL_PORT)),
  };
  if (tls !== undefined && ![server.address, ...server.sentinels].some(({ tls }) => tls)) {
    throw argumentError(action, "'tls' needs a URL that begins with rediss://");
  }
  return server;
}

function requireUrls(action: string, option: string, urls: unknown): void {
  if (Array.isArray(urls) && urls.length > 0) return;
  throw argumentError(action, `'${option}' must be a list of at least one URL`);
}

function share<K>(all: Map<K, Shared>, key: K, callTimeout: number, dial: () => Dialer): Connection {
  const shared = all.get(key) ?? new Shared(dial(), () => all.delete(key));
  all.set(key, shared);
  return new Share(shared, callTimeout);
}
