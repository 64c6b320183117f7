/** Test of files that are replaced while a process has them open. In one process, SQLite would share their memory. */

import { assertEquals } from "@std/assert";
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { Database } from "../../../packages/sqlite/database/database.ts";
import { ROOT } from "../../cli/cli.ts";
import { Folder } from "../files.ts";

const READ = `import { DatabaseSync } from "node:sqlite";
  const database = new DatabaseSync(Deno.args[0]);
  database.prepare("SELECT 1 FROM items").get();
  database.close();`;

/** Runs a program until it ends. */
function run(...args: string[]): void {
  const { status, stderr } = spawnSync(Deno.execPath(), args, { encoding: "utf8" });
  assertEquals(status, 0, stderr);
}

Deno.test("SQLite: a process whose shared memory was replaced does not remove the log of the others", async () => {
  using folder = new Folder();
  const idle = new Database(folder.path);
  await idle.run("full", 1000, () => {});
  rmSync(`${folder.path}-shm`);
  run("eval", READ, folder.path); // creates it again
  const worker = [
    "run",
    "-A",
    "--no-check",
    "--config",
    `${ROOT}deno.all.json`,
    `${ROOT}tests/sqlite/process/worker.ts`,
  ];
  run(...worker, "add", folder.path, "3");
  await idle.close(); // the last one that closes the file
  await using queue = folder.open();
  assertEquals((await queue.counts()).ready, 3);
});
