import { argumentError } from "@workqueue/core/internal";
import { type Address, DEFAULT_PORT, parseAddress } from "./address.ts";
import { Cluster } from "./cluster.ts";
import type { Connection, RedisClient } from "./connection.ts";
import { dialClient, requireClient } from "./given_client.ts";
import { dialAddress } from "./node_redis.ts";
import { dialMaster } from "./sentinels.ts";
import { Share, Shared } from "./share.ts";
import { type RedisTlsOptions, requireTls } from "./tls.ts";
import type { ClusterDialer, Dialer } from "./wire.ts";

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
  /** URLs of nodes of a cluster, instead of a `url`. */
  cluster?: readonly string[] | undefined;
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
type Server =
  | { readonly client: RedisClient }
  | { readonly address: Address; readonly sentinels: readonly Address[] }
  | { readonly cluster: readonly Address[] };

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
  return share(byAddress, JSON.stringify(server), callTimeout, () => {
    if ("cluster" in server) return new Cluster(server.cluster, silence);
    const { address, sentinels } = server;
    return sentinels.length > 0 ? dialMaster(address, sentinels, silence) : dialAddress(address, silence);
  });
}

/**
 * Returns the server that options describe, without connecting to it.
 *
 * @throws {TypeError} If the options don't describe a server that can be used. The message includes the action.
 */
export function requireServer(action: string, { url, sentinels, cluster, tls, client }: ServerOptions): Server {
  const refuse = (rule: string) => argumentError(action, rule);
  const refuseBoth = (option: string, others: object) => {
    const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
    if (other !== undefined) throw refuse(`'${other}' and '${option}' must not both be given`);
  };
  if (client !== undefined) {
    refuseBoth("client", { url, sentinels, cluster, tls });
    requireClient(action, client);
    return { client };
  }
  const certificates = tls === undefined ? undefined : requireTls(action, tls);
  const read = (url: unknown, option: string, defaultPort = DEFAULT_PORT): Address => {
    const address = parseAddress(action, url, { option, defaultPort });
    return address.tls && certificates ? { ...address, certificates } : address;
  };
  const readAll = (urls: unknown, option: string, defaultPort?: number): Address[] => {
    if (Array.isArray(urls) && urls.length > 0) return urls.map((url) => read(url, option, defaultPort));
    throw refuse(`'${option}' must be a list of at least one URL`);
  };
  const requireUseOfTls = (addresses: readonly Address[]) => {
    if (tls === undefined || addresses.some(({ tls }) => tls)) return;
    throw refuse("'tls' needs a URL that begins with rediss://");
  };
  if (cluster !== undefined) {
    refuseBoth("cluster", { url, sentinels });
    const nodes = readAll(cluster, "cluster");
    if (nodes.some(({ database }) => database !== 0)) {
      throw refuse("'cluster' must not contain the number of a database");
    }
    const logins = nodes.map(({ username, password, tls }) => JSON.stringify([username, password, tls]));
    if (new Set(logins).size > 1) throw refuse("the URLs in 'cluster' must have the same user, password and protocol");
    requireUseOfTls(nodes);
    return { cluster: nodes };
  }
  if (sentinels !== undefined && url === undefined) {
    throw refuse("'sentinels' needs a 'url' whose host is the master's name");
  }
  const server = {
    address: read(url ?? DEFAULT_URL, "url"),
    sentinels: sentinels === undefined ? [] : readAll(sentinels, "sentinels", DEFAULT_SENTINEL_PORT),
  };
  requireUseOfTls([server.address, ...server.sentinels]);
  return server;
}

function share<K>(all: Map<K, Shared>, key: K, callTimeout: number, dial: () => Dialer | ClusterDialer): Connection {
  const shared = all.get(key) ?? new Shared(dial(), () => all.delete(key));
  all.set(key, shared);
  return new Share(shared, callTimeout);
}
