import type { WorkQueueConfig } from "@workqueue/core";
import type { RemoteQueue } from "@workqueue/engine";
import type { RedisQueueOptions } from "@workqueue/redis";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { quoteAll } from "../system/text.ts";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { FILE_ENDINGS, isMeantAsFile, type QueueFile, queueFileOf } from "./queue_file.ts";
import { type QueueFlags, REDIS_VARIABLE } from "./queue_flags.ts";

/** Queue that processes share, which is not open yet. */
export interface FoundQueue {
  readonly name: string;
  /** Path of the queue's file; `undefined` if the queue is on a server. */
  readonly file: string | undefined;
  /**
   * Opens the queue. Each of its calls rejects with its error, and nothing else reports the error.
   *
   * @throws {UsageError} If an option is invalid, or the file can't be opened.
   */
  open(): RemoteQueue;
  /**
   * Opens the queue as a config describes it.
   *
   * @param config The config, which contains the queue.
   * @param onQueueError Called for each error of the server or the file.
   * @throws {UsageError} If an option is invalid, the file can't be opened, or the config can't work in a queue that
   * processes share.
   */
  openWith(config: WorkQueueConfig, onQueueError: (error: unknown) => void): RemoteQueue;
}

/** Name of the queue of a new file. */
const FIRST = "default";

/**
 * Finds the queue that options name. Creates nothing. Loads only the package for this kind of queue, so that other
 * commands start fast.
 *
 * @param flags The options.
 * @param mayBeNew Whether the queue or its file need not exist. A queue on a server always may be new.
 * @throws {UsageError} If the queue is not in its file, the choice of a queue is ambiguous, a file or certificate can't
 * be read, or options contradict each other.
 */
export async function findQueue(flags: QueueFlags, mayBeNew = false): Promise<FoundQueue> {
  const file = queueFileOf(flags.queue);
  if (file === undefined) return await findOnServer(flags);
  const { redis, cluster, ca, partitions } = flags;
  const ofServers = Object.entries({ redis, cluster, ca, partitions }).filter(([, value]) => value !== undefined)
    .map(([name]) => `--${name}`);
  if (ofServers.length === 0) return await findInFile(file, mayBeNew);
  throw new UsageError(`Cannot use ${ofServers.join(", ")}: the queue is in the file '${file.path}', not on a server`);
}

async function findOnServer(flags: QueueFlags): Promise<FoundQueue> {
  const { queue: name, partitions } = flags;
  const server = serverOf(flags);
  if (server.url === undefined && server.cluster === undefined && isMeantAsFile(name)) {
    throw new UsageError(
      `Cannot use queue '${name}': a file with queues ends in ${FILE_ENDINGS}; for a queue of this name on a server, ` +
        "give --redis",
    );
  }
  const { createRedisQueue, redisQueues } = await import("@workqueue/redis");
  return {
    name,
    file: undefined,
    open: () => orUsageError(() => createRedisQueue({ name, partitions, ...server, onQueueError() {} })),
    openWith: (config, onQueueError) =>
      orUsageError(() => redisQueues(config, { ...server, onQueueError }).queue(name, { partitions })),
  };
}

/**
 * Finds a queue in a file.
 *
 * @param file The file.
 * @param mayBeNew Whether the queue and the file need not exist.
 * @throws {UsageError} If the queue is not in the file, the choice of a queue is ambiguous, or the file can't be read.
 */
export async function findInFile(file: QueueFile, mayBeNew: boolean): Promise<FoundQueue> {
  const { path } = file;
  loadQuietly();
  const { createSqliteQueue, sqliteQueueNames, sqliteQueues } = await import("@workqueue/sqlite");
  const name = chooseQueue(file, orUsageError(() => sqliteQueueNames(path)), mayBeNew);
  return {
    name,
    file: path,
    open: () => orUsageError(() => createSqliteQueue({ name, path, onQueueError() {} })),
    openWith: (config, onQueueError) => orUsageError(() => sqliteQueues(config, { path, onQueueError }).queue(name)),
  };
}

/** Chooses one of the queues in a file. */
function chooseQueue({ path, name }: QueueFile, names: readonly string[], mayBeNew: boolean): string {
  const listed = names.map((each) => JSON.stringify(each)).join(", ");
  if (!mayBeNew && names.length === 0) {
    const reason = existsSync(path) ? "there is no queue in it" : "there is no such file";
    throw new UsageError(`Cannot use '${path}': ${reason}`);
  }
  if (!mayBeNew && name !== undefined && !names.includes(name)) {
    throw new UsageError(`Cannot use '${path}': there is no queue ${JSON.stringify(name)} in it, only ${listed}`);
  }
  if (name === undefined && names.length > 1) {
    const option = quoteAll(["--queue", `${path}#${names[0]}`]);
    throw new UsageError(`Cannot choose a queue: '${path}' has ${listed}; name one, as in ${option}`);
  }
  return name ?? names[0] ?? FIRST;
}

/** Loads SQLite without the warning that some versions of Node print to standard error, even in a quiet run. */
function loadQuietly(): void {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  process.getBuiltinModule?.("node:sqlite");
  process.emitWarning = emitWarning;
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
