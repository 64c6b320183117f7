/** Process of a test: adds items, or works on them. Arguments: role, path, and what the role needs. */

import { runWorkers } from "@workqueue/core";
import { createSqliteQueue } from "@workqueue/sqlite";
import process from "node:process";

const [role, path, count = "0"] = process.argv.slice(2) as [string, string, string?];
const queue = createSqliteQueue({ name: "queue", path, leaseDuration: "1s" });

if (role === "add") {
  for (let i = 0; i < Number(count); i++) {
    await queue.add(`item ${i}`);
    console.log(`added item ${i}`);
  }
  await queue.shutDownWithDrain();
} else {
  runWorkers(queue, async (item) => {
    console.log(`began ${item}`);
    if (role === "hang") await new Promise(() => setInterval(() => {}, 1000));
    console.log(`ended ${item}`);
  }, { concurrency: 2 });
  if (role === "drain") {
    await queue.whenIdle();
    await queue.shutDownWithDrain();
  }
}
