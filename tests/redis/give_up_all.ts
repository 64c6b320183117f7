import { runWorkers, TerminalError } from "@workqueue/core";
import type { RemoteQueue } from "@workqueue/engine";
import { until } from "./faults/faults.ts";

/** Gives items of a queue up, in order, each with an error. */
export async function giveUpAll(queue: RemoteQueue, errors: Readonly<Record<string, string>>): Promise<void> {
  const before = (await queue.counts()).givenUp;
  const pool = runWorkers(queue, (item) => {
    throw new TerminalError(errors[item]);
  }, { onError() {} });
  await queue.addAll(Object.keys(errors));
  await until(async () => (await queue.counts()).givenUp === before + Object.keys(errors).length);
  await pool.stop();
}
