import { runWorkers, type WorkerPool } from "@workqueue/core";
import { createRedisQueue, type RedisQueue } from "../../packages/redis/mod.ts";
import { BULK, type Contender, type Item } from "./contender.ts";

/** Queue of this repository. */
export const ours: Contender = async ({ url, queue: name, payload }) => {
  const text = "x".repeat(payload);
  const queue = payload === 0
    ? createRedisQueue({ name, url }) as RedisQueue<unknown>
    : createRedisQueue<unknown>({ name, url, keyOf: (item) => (item as Item).key });
  const itemOf = (key: string) => payload === 0 ? key : { key, text };
  const keyOf = (item: unknown) => payload === 0 ? item as string : (item as Item).key;
  await queue.counts(); // connects
  return {
    add: (key) => queue.add(itemOf(key)),
    addAfter: (key, ms) => queue.addAfter(itemOf(key), ms),
    async addAll(keys) {
      for (let from = 0; from < keys.length; from += BULK) {
        await queue.addAll(keys.slice(from, from + BULK).map(itemOf));
      }
    },
    openWorkers(concurrency, handler) {
      let pool: WorkerPool<unknown> | undefined;
      const start = () => pool = runWorkers(queue, (item) => Promise.resolve(handler(keyOf(item))), { concurrency });
      return Promise.resolve({ start, stop: async () => await pool?.stop() });
    },
    async takeAndFinish() {
      const lease = await queue.get();
      if (!lease.shutdown) await lease.finish();
    },
    async left() {
      const { ready, delayed, processing } = await queue.counts();
      return ready + delayed + processing;
    },
    [Symbol.asyncDispose]: () => queue.shutDownWithDrain(),
  };
};
