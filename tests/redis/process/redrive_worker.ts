/** Script that begins a redrive, and then takes its steps until it is killed. Arguments: URL, name, rate. */

import { createRedisQueue } from "@workqueue/redis";
import process from "node:process";

const [url, name, rate] = process.argv.slice(2) as [string, string, string];
const queue = createRedisQueue({ name, url });
const { left } = await queue.redrive({ rate: Number(rate) });
console.log(left);
