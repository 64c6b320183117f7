import type { RedisQueue } from "@workqueue/redis";
import { readFileSync } from "node:fs";
import process from "node:process";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { type QueueFlags, REDIS_VARIABLE } from "./queue_flags.ts";

/**
 * Opens a queue on a server. Loads the client only now, so that commands without a server start fast.
 *
 * @throws {UsageError} If an option is invalid or the certificate can't be read.
 */
export async function openQueue({ queue: name, redis, ca }: QueueFlags): Promise<RedisQueue> {
  const url = redis ?? (process.env[REDIS_VARIABLE] || undefined); // an empty variable counts as none
  const tls = ca === undefined ? undefined : { ca: readCertificate(ca) };
  const { createRedisQueue } = await import("@workqueue/redis");
  try {
    return createRedisQueue({ name, url, tls, onQueueError() {} }); // each call rejects with its error
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`Cannot read certificate '${path}': ${describeSystemError(error, "file")}`);
  }
}
