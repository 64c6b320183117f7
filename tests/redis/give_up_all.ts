import { runWorkers, TerminalError } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import { until } from "./faults/faults.ts";

/** Gives items up, in order, each with an error. */
export async function giveUpAll(url: string, name: string, errors: Readonly<Record<string, string>>): Promise<void> {
  await using queue = createRedisQueue({ name, url });
  const before = (await queue.counts()).givenUp;
  const pool = runWorkers(queue, (item) => {
    throw new TerminalError(errors[item]);
  }, { onError() {} });
  await queue.addAll(Object.keys(errors));
  await until(async () => (await queue.counts()).givenUp === before + Object.keys(errors).length);
  await pool.stop();
}
