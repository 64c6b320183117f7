/**
 * Flushes the outbox to the queue `orders` on Redis, until SIGTERM. Start it as often as you like: one of the processes
 * flushes, and the others wait to take its place.
 *
 * ```sh
 * npx -y deno run -A examples/outbox/flush.ts shop.db
 * ```
 *
 * @module
 */

import { createRedisQueue } from "@workqueue/redis";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { becomeOwner, flush, open } from "./outbox.ts";

const path = process.argv[2] ?? "shop.db";
let isEnding = false;
process.once("SIGTERM", () => isEnding = true);

const database = open(path);
console.log("waits");
const lock = await becomeOwner(path);
console.log("flushes");
const queue = createRedisQueue({ name: "orders", url: process.env["WORKQUEUE_REDIS_URL"] });
while (!isEnding) {
  try {
    if (await flush(database, queue) > 0) continue;
  } catch (error) {
    console.error(error); // the server can't be reached: the rows stay, and are added later
  }
  await delay(100);
}
await queue.shutDownWithDrain();
lock.close();
database.close();
