import { existsSync } from "node:fs";
import { readFile } from "./database/open_file.ts";

/**
 * Returns the names of the queues in a file, sorted. Neither creates nor changes the file. If there is no file, or the
 * file is empty, there are no queues. Blocks the event loop for up to a second while another process opens or closes
 * the file.
 *
 * @example Usage
 * ```ts
 * import { createSqliteQueue, sqliteQueueNames } from "@workqueue/sqlite";
 * import { mkdtempSync } from "node:fs";
 *
 * const path = `${mkdtempSync("/tmp/images-")}/queue.db`; // use a folder that stays
 * await using queue = createSqliteQueue({ name: "images", path });
 * await queue.add("cat.jpg");
 * console.log(sqliteQueueNames(path)); // ["images"]
 * ```
 *
 * @param path The path of the file.
 * @returns The names. A queue is in the file from its first use on.
 * @throws {Error} If this runtime has no SQLite, or if the file can't be read, is not a database, or was written by a
 * later release.
 */
export function sqliteQueueNames(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFile(path, (sql) => {
    const rows = sql.all<{ name: string }>("SELECT name FROM queues WHERE kind = 'queue'");
    return rows.map(({ name }) => name).sort();
  }) ?? [];
}
