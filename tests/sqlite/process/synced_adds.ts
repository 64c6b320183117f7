/** Process that adds items and works on them, one after the other. It prints a line after each. Argument: the path. */

import { createSqliteQueue } from "@workqueue/sqlite";
import { writeSync } from "node:fs";
import process from "node:process";

await using queue = createSqliteQueue({ name: "queue", path: process.argv[2]! });
for (const item of ["a", "b", "c"]) {
  await queue.add(item);
  writeSync(1, "added\n");
}
for (let i = 0; i < 3; i++) {
  const lease = await queue.get();
  if (!lease.shutdown) await lease.finish();
  writeSync(1, "finished\n");
}
