/** Helpers that test the commands with a queue on Redis and with a queue in a file. */

import type { RemoteQueue, RemoteQueueOptions } from "@workqueue/engine";
import { createRedisQueue } from "@workqueue/redis";
import { createSqliteQueue } from "@workqueue/sqlite";
import { DatabaseSync } from "node:sqlite";
import { redisTest, uniqueName } from "../redis/redis_tests.ts";

/** Queue of a test, which is empty. */
export interface TestQueue {
  readonly name: string;
  /** Options of the command that name the queue. */
  readonly args: readonly string[];
  /** Opens the queue in this process. */
  open(options?: RemoteQueueOptions): RemoteQueue;
  /** Lets the leases of all processes expire. */
  expireLeases(): Promise<void>;
}

/** Queue in a file. Disposing it removes the file. */
export class FileQueue implements TestQueue, Disposable {
  readonly name = "default";
  readonly #folder = Deno.makeTempDirSync({ prefix: "workqueue_" });
  readonly path = `${this.#folder}/jobs.db`;
  readonly args = ["--queue", this.path];

  open(options: RemoteQueueOptions = {}): RemoteQueue {
    return createSqliteQueue({ name: this.name, path: this.path, ...options });
  }

  expireLeases(): Promise<void> {
    const database = new DatabaseSync(this.path, { timeout: 5000 });
    database.exec(`BEGIN IMMEDIATE;
      UPDATE owners SET ends = 1, has_grace = 1;
      UPDATE queues SET state = json_set(state, '$.checked', 0) WHERE kind = 'queue';
      COMMIT`);
    database.close();
    return Promise.resolve();
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

/** Registers a test for a queue on Redis, and one for a queue in a file. */
export function queueTest(name: string, run: (queue: TestQueue) => Promise<void>): void {
  redisTest(`${name} (Redis)`, async ({ url, call }) => {
    const name = uniqueName("queue");
    await run({
      name,
      args: ["--redis", url, "--queue", name],
      open: (options = {}) => createRedisQueue({ name, url, ...options }),
      async expireLeases() {
        const owners = `workqueue:{${name}}:owners`;
        for (const owner of await call("ZRANGE", owners, "0", "-1") as string[]) await call("ZADD", owners, "2", owner);
      },
    });
  });
  Deno.test(`${name} (file)`, async () => {
    using queue = new FileQueue();
    await run(queue);
  });
}
