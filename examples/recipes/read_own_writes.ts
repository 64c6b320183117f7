/**
 * Read your own writes: pages read a view that a queue rebuilds from the data. A request that has written waits until
 * the view has its write. Requests of one account that come together share one rebuild. The program ends by itself.
 *
 * ```sh
 * npx -y deno run examples/recipes/read_own_writes.ts
 * bun examples/recipes/read_own_writes.ts
 * ```
 *
 * @module
 */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";

/** Payments by account: the data. */
const payments = new Map<string, number[]>([["acme", []], ["globex", []]]);
/** Balances that pages show: the view. */
const balances = new Map<string, number>();
let rebuilds = 0;

const queue = createRateLimitingQueue<string, void>(createExponentialLimiter({ baseDelay: "5ms", maxDelay: "1s" }));
runWorkers(queue, async (account, { attempt }) => {
  const read = [...payments.get(account)!]; // read the data in the handler, and never before
  await sleep(5);
  if (attempt === 1 && rebuilds === 2) throw new Error("a hiccup"); // the requests wait for the retry
  balances.set(account, read.reduce((sum, amount) => sum + amount, 0));
  rebuilds++;
}, { concurrency: 4, onError: (error, account) => console.log(`${account}: ${error}`) });

/** Handles a request: writes a payment, and returns the balance, which contains it. */
async function pay(account: string, amount: number): Promise<number> {
  const list = payments.get(account)!;
  list.push(amount);
  const own = list.reduce((sum, amount) => sum + amount, 0);
  await queue.addAndWait(account, { signal: AbortSignal.timeout(10_000) });
  const balance = balances.get(account)!;
  if (balance < own) throw new Error(`${account} shows ${balance}, without the payment that was just made`);
  return balance;
}

const requests = Array.from({ length: 100 }, async (_, i) => {
  await sleep(i / 2);
  await pay(i % 2 === 0 ? "acme" : "globex", 1);
});
await Promise.all(requests);
console.log(`acme ${balances.get("acme")}, globex ${balances.get("globex")}`);
console.log(
  `${requests.length} requests saw their payments after ${rebuilds < requests.length ? "fewer" : "as many"} rebuilds`,
);
await queue.shutDownWithDrain();

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
