/** Process of a test: waits for an item, or works on items. Arguments: role, name of the queue, and its place. */

import { runWorkers } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import { createSqliteQueue } from "@workqueue/sqlite";
import process from "node:process";

const [role, name, place] = process.argv.slice(2) as [string, string, string];
const options = { name, leaseDuration: "1s", results: { keepFor: "1m" } } as const;
const queue = place.startsWith("redis:")
  ? createRedisQueue({ url: place, ...options })
  : createSqliteQueue({ path: place, ...options });

if (role === "wait") {
  const call = queue.addAndWait("a");
  console.log(`got ${JSON.stringify(await call)}`);
  await queue.shutDownWithDrain();
} else {
  runWorkers(queue, async (item) => {
    console.log(`began ${item}`);
    if (role === "hang") await new Promise(() => setInterval(() => {}, 1000));
    return { of: item, by: process.pid };
  });
}
