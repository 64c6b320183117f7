import { type Job, Queue, Worker } from "bullmq";
import { BULK, type Contender, type FullSession } from "../remote/contender.ts";

/** Job options that remove finished jobs, because keeping finished jobs would cost more. */
const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true };
/** Lock token for jobs that are taken without a `Worker`. */
const TOKEN = "by hand";

/** Contender that uses BullMQ as its guide recommends. A job's name is the key, and its data is the payload. */
export const bullmq: Contender<FullSession> = async ({ place, queue: name, payload }) => {
  const { hostname: host, port } = new URL(place);
  const connection = { host, port: Number(port) };
  const data = payload === 0 ? undefined : { text: "x".repeat(payload) };
  const queue = new Queue(name, { connection, defaultJobOptions: JOB_OPTIONS });
  await queue.waitUntilReady();
  const workers: Worker[] = [];
  const openWorker = async (concurrency: number, handler: ((job: Job) => Promise<void>) | null) => {
    const worker = new Worker(name, handler, { connection, concurrency, autorun: false });
    worker.on("error", (error) => console.error(error));
    workers.push(worker);
    await worker.waitUntilReady();
    return worker;
  };
  const byHand = await openWorker(1, null);
  return {
    add: (key) => queue.add(key, data),
    addAfter: (key, delay) => queue.add(key, data, { delay }),
    async addAll(keys) {
      for (let from = 0; from < keys.length; from += BULK) {
        await queue.addBulk(keys.slice(from, from + BULK).map((name) => ({ name, data })));
      }
    },
    async openWorkers(concurrency, handler) {
      const worker = await openWorker(concurrency, (job) => Promise.resolve(handler(job.name)));
      return { start: () => void worker.run(), stop: () => worker.close() };
    },
    async takeAndFinish() {
      const job = await byHand.getNextJob(TOKEN) as Job;
      await job.moveToCompleted(undefined, TOKEN, false);
    },
    async left() {
      const { wait, delayed, active } = await queue.getJobCounts("wait", "delayed", "active");
      return wait! + delayed! + active!;
    },
    async [Symbol.asyncDispose]() {
      for (const worker of workers) await worker.close();
      await queue.close();
    },
  };
};
