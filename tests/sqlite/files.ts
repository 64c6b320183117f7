/** Helpers that open queues in files of their own. */

import { createSqliteQueue, type SqliteQueue, type SqliteQueueOptions } from "@workqueue/sqlite";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Folder for files whose tests are not about the disk: in memory, where there is such a folder. A test of what is on
 * the disk after a power cut simulates the disk.
 */
export const MEMORY: string = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Folder with the file of one test. Disposing it removes the folder. */
export class Folder implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "workqueue_"));
  /** Path of the file. */
  readonly path = join(this.#folder, "queue.db");
  /** Whether the database is in a thread. */
  readonly thread: boolean;

  constructor(thread = false) {
    this.thread = thread;
  }

  /** Opens a queue in the file. */
  open<T = string>(options: Partial<SqliteQueueOptions<T>> = {}): SqliteQueue<T> {
    return createSqliteQueue<T>({ name: "queue", path: this.path, thread: this.thread, ...options });
  }

  [Symbol.dispose](): void {
    for (let tries = 1;; tries++) {
      try {
        return rmSync(this.#folder, { recursive: true });
      } catch (error) {
        if (tries === 20) throw error; // the thread of a queue that is still open may have created a file meanwhile
      }
    }
  }
}

/** Registers a test twice: the database is in the same thread as the queue, and in a thread of its own. */
export function fileTest(name: string, run: (folder: Folder) => Promise<void>): void {
  for (const thread of [false, true]) {
    Deno.test(`SQLite${thread ? ", in a thread" : ""}: ${name}`, async () => {
      using folder = new Folder(thread);
      await run(folder);
    });
  }
}

/** Keeps the process alive until the result is disposed: an idle queue in a file, and a measurement, do not. */
export function keepAlive(): Disposable {
  const timer = setInterval(() => {}, 60_000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
