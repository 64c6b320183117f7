/** Second part of the demo: tenants take turns, and orders that were given up are redriven. */

import { runWorkers, TerminalError } from "@workqueue/core";
import { setTimeout as delay } from "node:timers/promises";
import { createRedisQueue } from "../mod.ts";

const LOUD = Array.from({ length: 8 }, (_, i) => `loud/${i + 1}`);
const QUIET = ["quiet/1", "quiet/2", "calm/1"];
/** Orders that a redrive adds per second. */
const RATE = 10;

/**
 * Runs the orders of three tenants, one at a time. The orders of the loud tenant are given up, and redriven when their
 * cause is fixed. Returns the numbers of orders that are done and that are still given up.
 */
export async function runOrders(
  name: string,
  url: string,
  say: (who: string, what: string) => void,
  signal: AbortSignal,
): Promise<{ done: number; givenUp: number }> {
  await using queue = createRedisQueue({ name, url, discipline: { type: "fair", separator: "/" } });
  let hasStock = false;
  let done = 0;
  await queue.addAll([...LOUD, ...QUIET]);
  say(
    "",
    `tenant loud has ${LOUD.length} orders, and quiet and calm have ${QUIET.length} behind them: they take turns`,
  );
  runWorkers(queue, async (order) => {
    await delay(50); // the work
    if (!hasStock && order.startsWith("loud/")) throw new TerminalError("no stock");
    done++;
    say("orders", `${order} is done`);
  }, { concurrency: 1, onError: (error, order) => say("orders", `${order} is given up: ${(error as Error).message}`) });
  await queue.whenIdle({ signal });

  hasStock = true;
  const { givenUp } = await queue.counts();
  say("", `the stock is back: the ${givenUp} orders given up are redriven, ${RATE} per second`);
  await queue.redrive({ search: "no stock", rate: RATE });
  while ((await queue.redriveProgress())?.running) await delay(50, undefined, { signal });
  await queue.whenIdle({ signal });
  return { done, givenUp: (await queue.counts()).givenUp };
}
