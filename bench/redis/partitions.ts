/**
 * Compares a queue with partitions on three masters with a queue on one master, by the CPU time that the busiest master
 * needs for each item: a master does its work on one core. The two take turns:
 *
 *     deno task bench:partitions [--rounds 9] [--partitions 12] [--concurrency 100]
 *
 * @module
 */

import { createRedisQueue, type RedisQueueOptions } from "@workqueue/redis";
import { runWorkers } from "@workqueue/core";
import { parseArgs } from "node:util";
import { medianOf } from "../statistics.ts";
import { keys } from "../remote/contender.ts";
import { Server } from "./server.ts";

const SLOTS = 16384;
const MASTERS = 3;
const ITEMS = 20_000;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    partitions: { type: "string", default: "12" },
    concurrency: { type: "string", default: "100" },
  },
});
const [rounds, partitions, concurrency] = [values.rounds, values.partitions, values.concurrency].map(Number) as [
  number,
  number,
  number,
];

await using one = await Server.start();
await using stack = new AsyncDisposableStack();
const masters: Server[] = [];
for (let i = 0; i < MASTERS; i++) masters.push(stack.use(await Server.start("--cluster-enabled", "yes")));
for (const [i, master] of masters.entries()) {
  const [first, next] = [i, i + 1].map((part) => Math.floor(part * SLOTS / MASTERS)) as [number, number];
  await master.call("CLUSTER", "ADDSLOTSRANGE", `${first}`, `${next - 1}`);
  await master.call("CLUSTER", "SET-CONFIG-EPOCH", `${i + 1}`);
  await master.call("CLUSTER", "MEET", "127.0.0.1", `${masters[0]!.port}`);
}
const isWhole = async (master: Server) => {
  return /cluster_state:ok[^]*cluster_known_nodes:3/.test(String(await master.call("CLUSTER", "INFO")));
};
for (const master of masters) while (!await isWhole(master)) await new Promise((resolve) => setTimeout(resolve, 50));

/** Name of a queue whose partitions are spread evenly over the masters. */
const name = await findName();

async function findName(): Promise<string> {
  for (let i = 0;; i++) {
    const counts = masters.map(() => 0);
    for (let partition = 0; partition < partitions; partition++) {
      const slot = Number(await masters[0]!.call("CLUSTER", "KEYSLOT", `{bench${i}#${partition}}`));
      counts[Math.floor(slot * MASTERS / SLOTS)]!++;
    }
    if (Math.max(...counts) === Math.ceil(partitions / MASTERS)) return `bench${i}`;
  }
}

/** Adds, takes and finishes items. Returns the microseconds per item of the busiest server, and the calls per item. */
async function measure(servers: readonly Server[], options: Partial<RedisQueueOptions>): Promise<[number, number]> {
  const queue = createRedisQueue({ name, ...options });
  await queue.addAll(keys(200));
  const warmUp = runWorkers(queue, () => {}, { concurrency });
  await queue.whenIdle();
  await warmUp.stop();
  const before = await Promise.all(servers.map((server) => server.cpu()));
  for (const server of servers) await server.resetCounts();
  await queue.addAll(keys(ITEMS, 200));
  let done = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const pool = runWorkers(queue, () => {
    if (++done === ITEMS) resolve();
  }, { concurrency });
  await promise;
  await pool.stop();
  const used = await Promise.all(servers.map(async (server, i) => await server.cpu() - before[i]!));
  const scripts = await Promise.all(servers.map((server) => server.scripts()));
  await queue.shutDownWithDrain();
  for (const server of servers) await server.empty();
  return [Math.max(...used) * 1e6 / ITEMS, scripts.reduce((sum, { calls }) => sum + calls, 0) / ITEMS];
}

const found: { one: number; three: number; ratio: number; calls: number }[] = [];
for (let round = 0; round < rounds; round++) {
  const ofOne = () => measure([one], { url: one.url });
  const ofThree = () => measure(masters, { cluster: masters.map(({ url }) => url), partitions });
  const isFirst = round % 2 === 0;
  const [first, second] = isFirst ? [await ofOne(), await ofThree()] : [await ofThree(), await ofOne()];
  const [[single], [three, calls]] = isFirst ? [first, second] : [second, first];
  found.push({ one: single, three, ratio: single / three, calls });
}
const show = (of: (row: typeof found[0]) => number) => {
  const all = found.map(of).sort((one, other) => one - other);
  return `${medianOf(all).toFixed(2)} (${all[0]!.toFixed(2)} to ${all.at(-1)!.toFixed(2)})`;
};
console.log(`${rounds} rounds of ${ITEMS} items, ${concurrency} at once; medians, with the least and the most`);
console.log(`one master: ${show(({ one }) => one)} µs an item`);
console.log(`busiest of three masters, ${partitions} partitions: ${show(({ three }) => three)} µs an item`);
console.log(`calls an item with partitions: ${show(({ calls }) => calls)}`);
console.log(`ratio: ${show(({ ratio }) => ratio)}`);
