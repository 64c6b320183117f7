import type { Contender } from "../remote/contender.ts";

/** Options of a runner, from liteque's guide. */
const RUNNER = { pollIntervalMs: 1000, timeoutSecs: 60 };

/**
 * Contender that uses liteque as its guide recommends. liteque sets `synchronous` to `NORMAL`, and users can change it
 * afterwards.
 */
export const liteque: Contender = async ({ place, queue: name, durability }) => {
  await allowAsyncTransactions();
  const { buildDBClient, Runner, SqliteQueue } = await import("liteque");
  const { sql } = await import("drizzle-orm");
  const database = buildDBClient(place, { runMigrations: true });
  if (durability === "full") database.run(sql`PRAGMA synchronous = FULL`);
  const queue = new SqliteQueue<string>(name, database, { defaultJobArgs: { numRetries: 2 }, keepFailedJobs: false });
  return {
    add: (key) => queue.enqueue(key),
    async addAll(keys) {
      for (const key of keys) await queue.enqueue(key); // liteque has no call for several jobs
    },
    openWorkers(concurrency, handler) {
      const run = (job: { data: string }) => Promise.resolve(handler(job.data));
      const runner = new Runner<string>(queue, { run }, { ...RUNNER, concurrency });
      let finished: Promise<void> | undefined;
      return Promise.resolve({
        start: () => void (finished = runner.run()),
        async stop() {
          runner.stop();
          await finished;
        },
      });
    },
    async left() {
      const { pending, pending_retry, running } = await queue.stats();
      return pending + pending_retry + running;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
};

let isAllowed = false;

/**
 * Lets better-sqlite3 accept async functions in `transaction`, as liteque needs. Versions before 11.10 accepted these
 * and committed when the function returned its promise. Later versions throw an error.
 */
async function allowAsyncTransactions(): Promise<void> {
  if (isAllowed) return;
  isAllowed = true;
  const { default: Database } = await import("better-sqlite3");
  const { transaction } = Database.prototype;
  Object.assign(Database.prototype, {
    transaction(this: InstanceType<typeof Database>, run: (...args: unknown[]) => unknown) {
      let result: unknown;
      const { deferred } = transaction.call(this, (...args: unknown[]) => void (result = run(...args)));
      return {
        deferred(...args: unknown[]) {
          deferred(...args);
          return result;
        },
      };
    },
  });
}
