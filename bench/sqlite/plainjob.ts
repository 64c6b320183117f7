import process from "node:process";
import type { Connection } from "plainjob";
import type { Contender } from "../remote/contender.ts";

/** Type of the jobs. */
const TYPE = "job";
/** Logger that drops all messages but errors. */
const LOGGER = { debug() {}, info() {}, warn() {}, error: console.error };

/**
 * Contender that uses plainjob as its guide recommends: `bun:sqlite` on Bun, `better-sqlite3` on Node, and workers that
 * each do one job at a time. plainjob sets `synchronous` to `NORMAL`, and users can change it afterwards.
 */
export const plainjob: Contender = async ({ place, durability }) => {
  const { defineQueue, defineWorker, JobStatus } = await import("plainjob");
  const connection = await connect(place);
  const queue = defineQueue({ connection, logger: LOGGER });
  if (durability === "full") connection.pragma("synchronous = FULL");
  return {
    add: (key) => Promise.resolve(queue.add(TYPE, key)),
    addAll: (keys) => Promise.resolve(queue.addMany(TYPE, keys)),
    openWorkers(concurrency, handler) {
      const run = ({ data }: { data: string }) => handler(JSON.parse(data));
      const workers = Array.from({ length: concurrency }, () => defineWorker(TYPE, run, { queue, logger: LOGGER }));
      return Promise.resolve({
        start: () => void workers.forEach((worker) => worker.start()),
        stop: () => Promise.all(workers.map((worker) => worker.stop())),
      });
    },
    left() {
      const count = (status: number) => queue.countJobs({ type: TYPE, status });
      return Promise.resolve(count(JobStatus.Pending) + count(JobStatus.Processing));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(queue.close()),
  };
};

async function connect(path: string): Promise<Connection> {
  const { better, bun } = await import("plainjob");
  if (process.versions["bun"] === undefined) {
    const { default: Database } = await import("better-sqlite3");
    return better(new Database(path));
  }
  const name = "bun:sqlite"; // a literal is looked for by Deno
  const { Database } = await import(name);
  return bun(new Database(path, { strict: true }));
}
