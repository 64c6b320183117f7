/** Script whose attempts fail, except those at "good". Prints each item that it attempts. Arguments: URL, name. */

import { loadConfig } from "@workqueue/core";
import { redisQueues } from "@workqueue/redis";
import process from "node:process";

const [url, name] = process.argv.slice(2) as [string, string];
const config = loadConfig({
  queues: {
    [name]: {
      limiter: { type: "exponential", baseDelay: 1, maxDelay: 1 },
      retryBudget: { ratio: 0, minRate: 0.0001 },
    },
  },
});
const queue = redisQueues(config, { url }).queue(name);
config.runWorkers(name, queue, (item, { attempt }) => {
  console.log(`${item} ${attempt}`);
  if (item !== "good") throw new Error("down");
}, { onError() {} });
