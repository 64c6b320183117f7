import { argumentError } from "@workqueue/core/internal";
import type { RedisClient } from "./connection.ts";
import { dialIoRedis, type IoRedisClient } from "./ioredis.ts";
import { dialNodeRedis, type NodeRedisClient } from "./node_redis.ts";
import type { Dialer } from "./wire.ts";

type Options = Record<string, unknown>;

/** Returns a dialer for a client that a user passed in. The client must be one that `requireClient` accepts. */
export function dialClient(client: RedisClient, silence: number): Dialer {
  return isIoRedis(client) ? dialIoRedis(client, silence) : dialNodeRedis(client, silence);
}

/**
 * Checks a client that a user passed in.
 *
 * @throws {TypeError} If the client is not supported, or if its options would change keys or replies, or would cause
 * calls to run twice.
 */
export function requireClient(action: string, client: unknown): void {
  const refuse = (rule: string) => argumentError(action, `'client' ${rule}`);
  const { options = {}, isCluster = false } = Object(client) as { options?: Options; isCluster?: boolean };
  if (isCluster || has(client, "nodeClient")) {
    throw refuse("must not be a cluster client: use the option 'cluster' instead");
  }
  if (has(client, "getMasterNode")) throw refuse("must not be a Sentinel client: use the option 'sentinels' instead");
  if (isIoRedis(client)) {
    if (options["autoResendUnfulfilledCommands"] !== false) {
      throw refuse(
        "must have autoResendUnfulfilledCommands: false: a command that is sent again after its reply was lost runs twice",
      );
    }
    if (options["stringNumbers"] === true) throw refuse("must not have stringNumbers");
  } else if (!isNodeRedis(client)) {
    throw refuse("must be a client of 'redis', '@redis/client' or 'ioredis', of version 5 or later");
  }
  if (options["keyPrefix"]) throw refuse("must not have a keyPrefix: queues are told apart by their names");
}

function isIoRedis(client: unknown): client is IoRedisClient {
  return has(client, "call", "duplicate", "connect") && typeof (client as { status?: unknown }).status === "string";
}

/**
 * Reports whether this is a `redis` or `@redis/client` client of version 5 or later. Pools, sentinels and clients of
 * version 4 look similar but have no `socketEpoch`.
 */
function isNodeRedis(client: unknown): client is NodeRedisClient {
  const { socketEpoch } = Object(client) as { socketEpoch?: unknown };
  return has(client, "sendCommand", "duplicate", "subscribe") && typeof socketEpoch === "number";
}

function has(client: unknown, ...methods: string[]): boolean {
  return methods.every((method) => typeof (Object(client) as Record<string, unknown>)[method] === "function");
}
