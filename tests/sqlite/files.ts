/** Helpers that open queues in files of their own. */

import { createSqliteQueue, type SqliteQueue, type SqliteQueueOptions } from "@workqueue/sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Folder with the file of one test. Disposing it removes the folder. */
export class Folder implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "workqueue_"));
  /** Path of the file. */
  readonly path = join(this.#folder, "queue.db");

  /** Opens a queue in the file. */
  open<T = string>(options: Partial<SqliteQueueOptions<T>> = {}): SqliteQueue<T> {
    return createSqliteQueue<T>({ name: "queue", path: this.path, ...options });
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}
