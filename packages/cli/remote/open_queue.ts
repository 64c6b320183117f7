import type { WorkQueueConfig } from "@workqueue/core";
import type { RedisQueue, RedisQueueOptions } from "@workqueue/redis";
import { readFileSync } from "node:fs";
import process from "node:process";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { type QueueFlags, REDIS_VARIABLE } from "./queue_flags.ts";

/**
 * Opens a queue on a server. Loads the client only now, so that commands without a server start fast.
 *
 * @throws {UsageError} If an option is invalid or the certificate can't be read.
 */
export async function openQueue(flags: QueueFlags): Promise<RedisQueue> {
  const server = serverOf(flags);
  const { createRedisQueue } = await import("@workqueue/redis");
  // Each call rejects with its error.
  return orUsageError(() =>
    createRedisQueue({ name: flags.queue, partitions: flags.partitions, ...server, onQueueError() {} })
  );
}

/**
 * Opens a queue on a server as a config describes it.
 *
 * @param flags The options that name the server and the queue.
 * @param config The config, which contains the queue.
 * @param onQueueError Called for each error of the server.
 * @throws {UsageError} If an option is invalid, the certificate can't be read, or the config can't work on a server.
 */
export async function openQueueOf(
  flags: QueueFlags,
  config: WorkQueueConfig,
  onQueueError: (error: unknown) => void,
): Promise<RedisQueue> {
  const server = serverOf(flags);
  const { redisQueues } = await import("@workqueue/redis");
  return orUsageError(() =>
    redisQueues(config, { ...server, onQueueError }).queue(flags.queue, { partitions: flags.partitions })
  );
}

function serverOf({ redis, cluster, ca }: QueueFlags): Pick<RedisQueueOptions, "url" | "cluster" | "tls"> {
  const url = redis ?? (process.env[REDIS_VARIABLE] || undefined); // an empty variable counts as none
  return {
    ...(cluster === undefined ? { url } : { cluster: [url ?? "redis://localhost:6379"] }),
    tls: ca === undefined ? undefined : { ca: readCertificate(ca) },
  };
}

function orUsageError<Result>(open: () => Result): Result {
  try {
    return open();
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
