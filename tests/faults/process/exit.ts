/**
 * Script that runs one of `cases` and prints its events. The process exits as soon as nothing in the queue keeps it
 * alive.
 */

import process from "node:process";
import {
  createConcurrencyThrottle,
  createDelayingQueue,
  createExponentialLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  createRetryBudget,
  InMemoryMetrics,
  RetryAfterError,
  runWorkers,
  TokenBucket,
} from "../../../mod.ts";

const AN_HOUR = 3_600_000;
/** Delay in milliseconds that is long enough to need a timer and short enough for a test. */
const SOON = 50;

const limiter = createExponentialLimiter<string>({ baseDelay: SOON, maxDelay: SOON });
const print = (line: string) => console.log(line);
const fair = (ratePerGroup?: { rate: number; burst: number }) =>
  createFairDiscipline<string>({ groupOf: (key) => key[0], ...ratePerGroup && { ratePerGroup } });
/** Handler that prints an item and pauses the queue. */
const pauseQueue = (item: string) => {
  print(item);
  throw new RetryAfterError(AN_HOUR, "busy", { scope: "queue" });
};

const cases: Record<string, () => void | Promise<void>> = {
  "a pool with nothing to do"() {
    runWorkers(createRateLimitingQueue<string>(limiter), print);
  },
  "a delayed item"() {
    const queue = createRateLimitingQueue<string>(limiter);
    queue.addAfter("handled", SOON);
    runWorkers(queue, print);
  },
  "an item delayed for longer than the timer sleeps"() {
    const queue = createRateLimitingQueue<string>(limiter, { maxSleep: 5 });
    queue.addAfter("handled", SOON);
    runWorkers(queue, print);
  },
  "an item that is retried"() {
    const queue = createRateLimitingQueue<string>(limiter);
    queue.add("handled");
    runWorkers(queue, (item, { attempt }) => {
      if (attempt < 3) throw new Error("not yet");
      print(`${item} at attempt ${attempt}`);
    }, { timeout: AN_HOUR, onError() {} });
  },
  "ref: true"() {
    const queue = createDelayingQueue<string>({ ref: true });
    queue.addAfter("handled", SOON);
    queue.get().then(({ item }) => print(item!));
  },
  "ref: false"() {
    const queue = createDelayingQueue<string>({ ref: false });
    queue.addAfter("not handled", AN_HOUR);
    queue.get().then(({ item }) => print(item!));
  },
  "ref: false of a rate-limiting queue, with an item delayed for longer than the timer sleeps"() {
    const queue = createRateLimitingQueue<string>(limiter, { ref: false, maxSleep: 1000 });
    queue.addAfter("not handled", AN_HOUR);
    queue.addAfter("not handled either", AN_HOUR - 1); // sets the timer again
    runWorkers(queue, print);
  },
  "ref: false, while something else keeps the process"() {
    const queue = createRateLimitingQueue<string>(limiter, { ref: false });
    queue.addAfter("handled", SOON);
    const other = setInterval(() => {}, AN_HOUR);
    runWorkers(queue, (item) => {
      print(item);
      clearInterval(other);
    });
  },
  "ref: true, and a paused group"() {
    const queue = createRateLimitingQueue<string>(limiter, { discipline: fair() });
    queue.pauseGroup!("a", SOON);
    queue.add("a/1");
    runWorkers(queue, print);
  },
  "ref: false, and a paused group"() {
    const queue = createRateLimitingQueue<string>(limiter, { ref: false, discipline: fair() });
    queue.pauseGroup!("a", AN_HOUR);
    queue.add("a/1");
    runWorkers(queue, print);
    queue.get();
  },
  "ref: false, and a paused group of a delaying queue"() {
    const queue = createDelayingQueue<string>({ ref: false, discipline: fair() });
    queue.pauseGroup!("a", AN_HOUR);
    queue.add("a/1");
    queue.get();
  },
  "ref: false, and a group that has used up its rate"() {
    const discipline = fair({ rate: 1 / 3600, burst: 1 });
    const queue = createRateLimitingQueue<string>(limiter, { ref: false, discipline });
    for (const item of ["a/1", "a/2"]) queue.add(item);
    runWorkers(queue, print);
  },
  "ref: false, and a paused queue"() {
    const queue = createRateLimitingQueue<string>(limiter, { ref: false });
    queue.add("handled");
    runWorkers(queue, pauseQueue);
  },
  "ref: false, and a pool with a throttle on a paused queue"() {
    const queue = createRateLimitingQueue<string>(limiter, { ref: false });
    queue.add("handled");
    runWorkers(queue, pauseQueue, { throttle: createConcurrencyThrottle({ limit: 3 }) });
    queue.whenIdle();
  },
  "ref: false, and a blocked retry"() {
    const retryBudget = createRetryBudget({ ratio: 0, minRate: 0.001 });
    const none = createExponentialLimiter<string>({ baseDelay: 1, maxDelay: 1 });
    const queue = createRateLimitingQueue<string>(none, { ref: false, retryBudget });
    const other = setTimeout(() => {}, AN_HOUR);
    queue.add("handled");
    runWorkers(queue, (item, { attempt }) => {
      print(`${item} at attempt ${attempt}`);
      if (attempt === 2) clearTimeout(other);
      throw new Error("down");
    }, { onError() {} });
  },
  "a shutdown while an item is delayed"() {
    const queue = createRateLimitingQueue<string>(limiter);
    queue.addAfter("dropped", AN_HOUR);
    runWorkers(queue, print, { timeout: AN_HOUR });
    queue.shutDown();
  },
  "a shutdown of a measured queue whose item is processing"() {
    const queue = createRateLimitingQueue<string>(limiter, { name: "q", metrics: new InMemoryMetrics() });
    queue.add("processing");
    print(queue.tryGet()!.item);
    queue.shutDown();
  },
  "an item of a measured queue that is processing for ever"() {
    const queue = createRateLimitingQueue<string>(limiter, { name: "q", metrics: new InMemoryMetrics() });
    queue.add("processing");
    print(queue.tryGet()!.item);
  },
  async "a drain that drops delayed items"() {
    const queue = createRateLimitingQueue<string>(limiter);
    queue.addAfter("dropped", AN_HOUR);
    queue.add("handled");
    runWorkers(queue, print);
    await queue.shutDownWithDrain();
  },
  async "a drain that waits for delayed items"() {
    const queue = createRateLimitingQueue<string>(limiter);
    queue.addAfter("handled", SOON);
    runWorkers(queue, print);
    await queue.shutDownWithDrain({ delayed: "wait" });
    print("drained");
  },
  async "a pool that was stopped"() {
    const queue = createRateLimitingQueue<string>(limiter);
    queue.add("handled");
    const pool = runWorkers(queue, print, { timeout: AN_HOUR, signal: new AbortController().signal });
    await new Promise((resolve) => setTimeout(resolve, SOON));
    await pool.stop();
    queue.shutDown();
  },
  async "a wait for a token that was aborted"() {
    const bucket = new TokenBucket(0, 0);
    const controller = new AbortController();
    bucket.setBurst(1);
    const wait = bucket.wait(1, { signal: controller.signal }).catch((reason) => print(reason));
    controller.abort("aborted");
    await wait;
  },
};

await cases[process.argv[2]!]!();
