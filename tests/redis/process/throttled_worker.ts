/**
 * Script that runs the pools of a document until SIGTERM, and counts its running handlers on another server. Its
 * argument is JSON: {@linkcode ThrottledArguments}.
 */

import { createClient } from "@redis/client";
import { loadConfig } from "@workqueue/core";
import { redisQueues } from "@workqueue/redis";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

/** Arguments of the script. Durations are in milliseconds. */
export interface ThrottledArguments {
  url: string;
  /** URL of the server on which the handlers are counted. */
  witness: string;
  document: object;
  leaseDuration: number;
  /** Duration of a handler. */
  ms: number;
}

const { url, witness, document, leaseDuration, ms } = JSON.parse(process.argv[2]!) as ThrottledArguments;

/** Counts a handler, and keeps the largest number that ran at once, without processes that are marked as gone. */
const BEGIN = `
redis.call('HINCRBY', 'running', ARGV[1], 1)
redis.call('INCR', 'begun')
local sum, all = 0, redis.call('HGETALL', 'running')
for i = 1, #all, 2 do
  if redis.call('SISMEMBER', 'gone', all[i]) == 0 then sum = sum + all[i + 1] end
end
if sum > tonumber(redis.call('GET', 'most') or 0) then redis.call('SET', 'most', sum) end`;

const counts = createClient({ url: witness });
await counts.connect();
const pid = String(process.pid);

const config = loadConfig(document as never);
const open = redisQueues(config, { url, leaseDuration, onQueueError() {} });
const queues = config.queueNames.map((name) => open.queue(name));
const pools = queues.map((queue) =>
  config.runWorkers(queue.name, queue, async () => {
    await counts.eval(BEGIN, { arguments: [pid] });
    await delay(ms);
    await counts.hIncrBy("running", pid, -1);
  }, { onError() {} })
);

process.on("SIGTERM", async () => {
  await Promise.all(queues.map((queue) => queue.shutDownWithDrain()));
  await Promise.all(pools.map((pool) => pool.finished));
  await counts.close(); // from here on, nothing keeps the process alive
});
console.log("ready");
