/** Script that runs one of `cases`. The process exits once nothing keeps it alive. */

import { createRedisQueue, type RedisLease } from "@workqueue/redis";
import process from "node:process";
import { callRedis } from "../../server.ts";

const [name = "", url = "", queueName = ""] = process.argv.slice(2);
let errors = 0;
const open = (name: string) => createRedisQueue({ name, url, leaseDuration: 600, onQueueError: () => errors++ });

const cases: Record<string, () => Promise<void>> = {
  async late() {
    const queue = open(queueName);
    const lease = await queue.get() as RedisLease;
    console.log("processing");
    await new Promise((resolve) => lease.signal.addEventListener("abort", resolve));
    console.log("aborted");
    console.log(await lease.finish());
    console.log(`${errors} error`);
    queue.shutDown();
  },
  async nothing() {
    open(queueName).shutDown();
    await open(`${queueName} too`).shutDownWithDrain();
  },
  async delayed() {
    const queue = open(`${queueName} empty`);
    const waits = [queue.get(), queue.get()];
    await queue.addAfter("later", "1h");
    queue.shutDown();
    await Promise.all(waits);
  },
  async many() {
    const queues = Array.from({ length: 200 }, (_, i) => open(`${queueName} ${i}`));
    const waits = queues.map((queue) => queue.get());
    for (const queue of queues) queue.add("item");
    for (const wait of waits) await (await wait as RedisLease).finish();
    const list = String(await callRedis(url, "CLIENT", "LIST"));
    const subscriptions = [...list.matchAll(/ sub=(\d+) /g)].map(([, count]) => Number(count));
    console.log(subscriptions.includes(queues.length)); // all subscriptions are on one connection
    for (const queue of queues) queue.shutDown();
  },
  async leaves() {
    const queue = open(queueName);
    await queue.get();
    process.exit(3);
  },
};
await cases[name]!();
