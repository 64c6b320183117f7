import type { Batch } from "../database/batch.ts";
import { Queue } from "./queue.ts";
import { Transaction } from "./transaction.ts";

/** Returns the queue that the calls of a transaction share. */
export function queueIn({ sql, shared, kept }: Batch, name: string, clock: () => number): Queue {
  const id = `queue ${name}`;
  const found = shared.get(id) as Queue | undefined;
  if (found !== undefined) return found;
  const queue = new Queue(new Transaction(sql, "queue", name, clock(), kept));
  shared.set(id, queue);
  return queue;
}
