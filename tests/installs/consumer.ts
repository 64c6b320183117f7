/**
 * Program of a user who has just installed the package. Every runtime runs the program, from the folder that
 * `project.ts` creates.
 */

import {
  createExponentialLimiter,
  createFastSlowLimiter,
  createMaxOfLimiter,
  createRateLimitingQueue,
  loadConfig,
  runWorkers,
} from "@workqueue/core";

/** Results that the program prints. */
export interface Findings {
  /** Item and attempt number of each attempt, such as `"b 2"`. */
  attempts: string[];
  /** Errors that the attempts reported. */
  errors: string[];
  /** Whether timers fire while handlers that never await are running. */
  timersHaveTheirTurn: boolean;
  /** Names that each entry point exports. */
  exports: Record<string, string[]>;
  /** Names that an entry point and the main entry point export as two different objects. */
  copies: string[];
}

/** Uses the package. The entry point named `.` is the main one. */
export async function consume(entries: Record<string, object>): Promise<Findings> {
  return {
    ...await workThrough(["a", "b", "a"]),
    timersHaveTheirTurn: await timersHaveTheirTurn(),
    exports: Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, Object.keys(entry).sort()])),
    copies: copiesIn(entries),
  };
}

async function workThrough(items: string[]): Promise<Pick<Findings, "attempts" | "errors">> {
  const config = loadConfig({
    limiters: {
      api: { type: "bucket", rate: 100, burst: 10 },
      retry: { type: "max-of", limiters: ["api", { type: "exponential", baseDelay: "1ms", maxDelay: "1s" }] },
    },
    queues: { images: { limiter: "retry", concurrency: 2, maxRetries: 3, timeout: "10s" } },
  });
  const queue = config.queue<string>("images");
  const attempts: string[] = [];
  const errors: string[] = [];
  await new Promise<void>((resolve) => {
    runWorkers(queue, async (item, { attempt }) => {
      await Promise.resolve();
      attempts.push(`${item} ${attempt}`);
      const isFlaky = item.startsWith("b"); // `item` is a string, inferred from the queue and not from the options
      if (isFlaky && attempt === 1) throw new Error("a hiccup");
      if (isFlaky) resolve();
    }, { ...config.workers("images"), onError: (error) => errors.push(String(error)) });
    for (const item of items) queue.add(item);
  });
  await queue.shutDownWithDrain();
  return { attempts, errors };
}

async function timersHaveTheirTurn(): Promise<boolean> {
  const forEver = 3_000_000; // far more items than are handled before the timer fires
  const limiter = createMaxOfLimiter(
    createExponentialLimiter({ baseDelay: 1, maxDelay: "1s" }), // only the required options
    createFastSlowLimiter({ fastDelay: 1, slowDelay: "1s", maxFastAttempts: 3 }),
  );
  const queue = createRateLimitingQueue<number>(limiter);
  let handled = 0;
  const pool = runWorkers(queue, (item) => {
    if (++handled < forEver) queue.add(item + 1);
  });
  queue.add(0);
  setTimeout(() => queue.shutDown(), 1);
  await pool.finished;
  return handled < forEver;
}

function copiesIn(entries: Record<string, object>): string[] {
  const main = new Map(Object.entries(entries["."]!));
  return Object.entries(entries).flatMap(([entry, values]) =>
    Object.entries(values)
      .filter(([name, value]) => main.has(name) && main.get(name) !== value)
      .map(([name]) => `${entry} ${name}`)
  );
}
