import type { Contender } from "../remote/contender.ts";

/** Name of the jobs. */
const NAME = "job";
/** Setting that bunqueue makes, and the setting that is measured instead. */
const [NORMAL, FULL] = ["PRAGMA synchronous = NORMAL", "PRAGMA synchronous = FULL"];

/**
 * Contender that uses bunqueue in the worker's process, as its guide recommends, and with `durable`, without which an
 * add resolves before the job is in the file. bunqueue sets `synchronous` to `NORMAL` and has no option for that, so
 * its setting is changed on the way to SQLite.
 */
export const bunqueue: Contender = async ({ place, queue: name, durability }) => {
  const { Queue, shutdownManager, Worker } = await import("bunqueue/client");
  const options = { embedded: true, dataPath: place };
  const restore = durability === "full" ? await syncEachCommit() : () => {};
  const queue = new Queue<{ key: string }>(name, options);
  await queue.getJobCounts(); // opens the file
  restore();
  const jobOptions = { durable: true, removeOnComplete: true, removeOnFail: true };
  return {
    add: (key) => queue.add(NAME, { key }, jobOptions),
    addAll: (keys) => queue.addBulk(keys.map((key) => ({ name: NAME, data: { key }, opts: jobOptions }))),
    openWorkers(concurrency, handler) {
      const run = (job: { data: { key: string } }) => Promise.resolve(handler(job.data.key));
      const worker = new Worker(name, run, { ...options, concurrency, autorun: false });
      return Promise.resolve({ start: () => void worker.run(), stop: () => worker.close() });
    },
    async left() {
      const { waiting, active, delayed } = await queue.getJobCounts();
      return waiting + active + delayed;
    },
    async [Symbol.asyncDispose]() {
      await queue.close();
      shutdownManager();
    },
  };
};

/** Lets databases that are opened from now on sync each commit. Returns a function that ends this. */
async function syncEachCommit(): Promise<() => void> {
  const name = "bun:sqlite"; // a literal is looked for by Deno
  const { Database: { prototype } } = await import(name);
  const { run } = prototype;
  let isChanged = false;
  prototype.run = function (sql: string, ...values: unknown[]) {
    isChanged ||= sql.includes(NORMAL!);
    return run.call(this, sql.replace(NORMAL!, FULL!), ...values);
  };
  return () => {
    prototype.run = run;
    if (!isChanged) throw new Error(`bunqueue no longer runs '${NORMAL}': look for its setting`);
  };
}
