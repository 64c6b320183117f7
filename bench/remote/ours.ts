import { type DisciplineConfig, runWorkers, type WorkerPool } from "@workqueue/core";
import type { RemoteQueue, RemoteQueueOptions } from "@workqueue/engine";
import { BULK, type FullSession, type QueueOptions } from "./contender.ts";

/** Item with a payload. */
interface Item {
  key: string;
  text: string;
}

const DISCIPLINES: Readonly<Record<"priority" | "fair", DisciplineConfig>> = {
  priority: { type: "priority", maxHeadStart: "1m" },
  fair: { type: "fair", separator: "/" },
};

/**
 * Opens a session with a queue of this repository, on any engine.
 *
 * @param create Function that creates the queue. The given options say what identifies its items.
 */
export async function openOwn(
  { payload, order }: QueueOptions,
  create: (options: Pick<RemoteQueueOptions<unknown>, "keyOf" | "discipline">) => RemoteQueue<unknown>,
): Promise<FullSession> {
  const text = "x".repeat(payload);
  const queue = create({
    ...payload > 0 && { keyOf: (item) => (item as Item).key },
    ...order !== undefined && { discipline: DISCIPLINES[order] },
  });
  const itemOf = (key: string) => payload === 0 ? key : { key, text };
  const keyOf = (item: unknown) => payload === 0 ? item as string : (item as Item).key;
  const all = order === "priority" ? { priority: (item: unknown) => Number(keyOf(item).slice(-1)) } : {};
  await queue.counts(); // connects
  return {
    add: (key) => queue.add(itemOf(key)),
    addAfter: (key, ms) => queue.addAfter(itemOf(key), ms),
    async addAll(keys) {
      for (let from = 0; from < keys.length; from += BULK) {
        await queue.addAll(keys.slice(from, from + BULK).map(itemOf), all);
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
}
