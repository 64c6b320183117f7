/** Tests of the text that runtimes print for queues, pools, leases and buckets. */

import "@workqueue/core/inspect";
import { assert, assertEquals } from "@std/assert";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  createDelayingQueue,
  createExponentialLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  runWorkers,
  TokenBucket,
} from "@workqueue/core";
import { formatDuration, formatNumber } from "../../lib/base/inspection.ts";
import { bundle } from "../bundle.ts";
import { test } from "../workers/engines.ts";
import { createBreakerThrottle } from "@workqueue/core/throttles";
import { HandClock } from "../helpers.ts";
import { flush, insideOf, Lifo, take } from "../queue_helpers.ts";
import { runtimes } from "../runtimes.ts";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Returns the text that a runtime prints for the object. */
function shown(object: object | undefined): string {
  return (object as { [INSPECT](): string })[INSPECT]();
}

const limiter = () => createExponentialLimiter<string>({ baseDelay: 80, maxDelay: 1000 });

Deno.test("a queue shows how many items are ready, blocked, delayed and processing", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), { name: "images", clock });
  assertEquals(shown(queue), `RateLimitingQueue "images": 0 ready, 0 delayed, 0 processing`);
  for (let i = 0; i < 1234; i++) queue.add(`ready ${i}`);
  for (let i = 0; i < 4820; i++) queue.addAfter(`late ${i}`, "1h");
  queue.addRateLimited("retry");
  take(queue);
  const line = (next: string) =>
    `RateLimitingQueue "images": 1,233 ready, 4,821 delayed (next in ${next}), 1 processing`;
  assertEquals(shown(queue), line("80 ms"));
  clock.time += 81;
  assertEquals(shown(queue), line("0 ms"), "the timer has yet to fire");
  await clock.advance(0);
  queue.shutDown();
  assertEquals(shown(queue), `RateLimitingQueue "images": 1,234 ready, 0 delayed, 1 processing, shutting down`);
});

Deno.test("each layer shows its own state, and a queue without a name shows its type", () => {
  const clock = new HandClock();
  assertEquals(shown(createWorkQueue()), "WorkQueue: 0 ready, 0 processing");
  const delaying = createDelayingQueue<string>({ name: 'odd "name"', clock });
  delaying.addAfter("a", "3m");
  assertEquals(
    shown(delaying),
    String.raw`DelayingQueue "odd \"name\"": 0 ready, 1 delayed (next in 3 min), 0 processing`,
  );
  const limited = createRateLimitingQueue(limiter(), { name: "limited", clock });
  limited.addAfter("a", "3m");
  assertEquals(shown(limited), `RateLimitingQueue "limited": 0 ready, 1 delayed (next in 3 min), 0 processing`);
  const fair = createFairDiscipline<string>({ groupOf: () => "all", maxPerGroup: 1 });
  const processing = createWorkQueue<string>({ discipline: fair });
  for (const item of ["a", "b", "c", "d"]) processing.add(item);
  const lease = take(processing);
  assertEquals(shown(processing), "WorkQueue: 0 ready, 3 blocked, 1 processing");
  lease[Symbol.dispose]();
  assertEquals(shown(processing), "WorkQueue: 1 ready, 2 blocked, 0 processing");
});

Deno.test("the string form of a queue, a pool, a lease or a bucket is the line that a console prints", async () => {
  const queue = createRateLimitingQueue<string>(limiter(), { name: "images", clock: new HandClock() });
  queue.add("a");
  const lease = take(queue);
  const pool = runWorkers(queue, () => {});
  for (const object of [queue, createWorkQueue(), createDelayingQueue(), lease, pool, new TokenBucket(1, 1)]) {
    assertEquals([String(object), `${object}`, "" + object], Array(3).fill(shown(object)));
    assertEquals(Object.keys(object).includes("toString"), false);
  }
  await pool.stop();
});

Deno.test("printing a queue or a pool changes nothing, and takes no item", async () => {
  const clock = new HandClock();
  const discipline = new Lifo<string>();
  const queue = createRateLimitingQueue<string>(limiter(), { discipline, clock });
  discipline.pop = () => {
    throw new Error("nobody asked");
  };
  queue.add("a");
  shown(queue);
  shown(queue);
  assertEquals(queue.length, 1);
  const pool = runWorkers(queue, () => {});
  pool.pause();
  assertEquals(Object.keys(pool).includes(String(INSPECT)), false);
  for (const object of [queue, pool]) {
    assertEquals(JSON.stringify(Object.getOwnPropertySymbols(object).includes(INSPECT)), "false");
    let prototype = Object.getPrototypeOf(object);
    while (!Object.hasOwn(prototype, INSPECT)) prototype = Object.getPrototypeOf(prototype);
    assertEquals(Object.getOwnPropertyDescriptor(prototype, INSPECT)?.enumerable, false);
  }
  await pool.stop();
});

test("a pool shows running and abandoned handlers, whether it is paused, and failing items", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), { name: "images", clock });
  const ends: (() => void)[] = [];
  const pool = runWorkers(queue, (item) => {
    if (item !== "slow") throw new Error(`no ${item}\nat all`);
    return new Promise<void>((resolve) => ends.push(resolve));
  }, { concurrency: 10, timeout: 100, onError() {} });
  assertEquals(shown(pool), `WorkerPool of "images": 0 of 10 handlers running`);
  queue.add("slow");
  queue.add("a.jpg");
  await flush();
  const failing = `1 key failing (latest: "a.jpg", attempt 1: Error: no a.jpg at all)`;
  assertEquals(shown(pool), `WorkerPool of "images": 1 of 10 handlers running, ${failing}`);
  await clock.advance(100);
  for (let i = 1; i <= 5; i++) queue.add(`${i}.jpg`);
  await flush();
  pool.pause();
  await flush();
  const running = `WorkerPool of "images": 1 of 10 handlers running, 1 of them abandoned`;
  assertEquals(
    shown(pool),
    `${running}, paused, 7 keys failing (latest: "5.jpg", attempt 1: Error: no 5.jpg at all)`,
  );
  pool.concurrency = 4000;
  for (let i = 0; i < 1200; i++) queue.add(`many ${i}`);
  pool.resume();
  await flush();
  assert(
    shown(pool).includes(`1 of 4,000 handlers running, 1 of them abandoned, 1,207 keys failing (latest:`),
  );
  const stopped = pool.stop();
  assert(shown(pool).includes("abandoned, stopped, 1,207 keys"));
  for (const end of ends) end();
  await stopped;
  assertEquals(
    shown(runWorkers(createRateLimitingQueue(limiter()), () => {})),
    "WorkerPool: 0 of 1 handlers running",
  );
});

Deno.test("a pool shows the state of its throttle, if there is something to show", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), { name: "images", clock });
  const throttle = createBreakerThrottle({ minAttempts: 1, openFor: "20s", clock });
  const pool = runWorkers(queue, () => Promise.reject(new Error("503")), { throttle, onError() {} });
  assertEquals(shown(pool), 'WorkerPool of "images": 0 of 1 handlers running, throttle closed');
  queue.add("a");
  await flush();
  clock.time += 8000;
  assertEquals(
    shown(pool),
    'WorkerPool of "images": 0 of 1 handlers running, throttle open for 12 s: 1 of 1 attempts failed, ' +
      '1 key failing (latest: "a", attempt 1: Error: 503)',
  );
  const bucket = new TokenBucket(1, 1, { clock });
  const limited = runWorkers(queue, () => {}, { throttle: bucket });
  assertEquals(shown(limited), 'WorkerPool of "images": 0 of 1 handlers running');
  bucket.pauseFor("30s");
  assertEquals(shown(limited), 'WorkerPool of "images": 0 of 1 handlers running, throttle paused');
  await Promise.all([pool.stop(), limited.stop()]);
});

Deno.test("a pool whose items are objects shows the failing key", async () => {
  const failing = createExponentialLimiter<{ id: number }>({ baseDelay: 10, maxDelay: 10 });
  const queue = createRateLimitingQueue<{ id: number }>(failing, { keyOf: ({ id }) => id, clock: new HandClock() });
  const pool = runWorkers(queue, () => Promise.reject("a text"), { onError() {} });
  queue.add({ id: 7 });
  await flush();
  assertEquals(shown(pool), 'WorkerPool: 0 of 1 handlers running, 1 key failing (latest: 7, attempt 1: "a text")');
  await pool.stop();
});

Deno.test("keys and errors can't end the line, control the terminal or reverse the text around them", async () => {
  const queue = createRateLimitingQueue<string>(limiter(), { clock: new HandClock() });
  const pool = runWorkers(queue, (key) => Promise.reject(new Error(key)), { onError() {} });
  queue.add("a\n\u001b[31m\u0085\u009b31m\u2028\u202e\u2066\u061c");
  await flush();
  const [, key, error] = shown(pool).match(/latest: (".*"), attempt 1: (.*)\)$/s)!;
  assertEquals(key, String.raw`"a\n\u001b[31m\u0085\u009b31m\u2028\u202e\u2066\u061c"`);
  assertEquals(error, "Error: a [31m 31m ");
  await pool.stop();
});

Deno.test("a lease shows its key, and whether the key is still processing", () => {
  const queue = createWorkQueue<string>();
  queue.add("a.jpg", { priority: 5 });
  const lease = take(queue);
  assertEquals(shown(lease), 'Lease "a.jpg": processing, priority 5');
  queue.add("a.jpg");
  assertEquals(shown(lease), 'Lease "a.jpg": processing, added again, priority 5');
  lease[Symbol.dispose]();
  assertEquals(shown(lease), 'Lease "a.jpg": done, priority 5');
  assertEquals(shown(take(queue)), 'Lease "a.jpg": processing');
  assertEquals(shown(lease), 'Lease "a.jpg": done, priority 5');
});

Deno.test("a bucket shows its tokens, and whether it is paused", () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(5, 10, { clock });
  bucket.take(8);
  clock.time += 240;
  assertEquals(shown(bucket), "TokenBucket: 3.2 of 10 tokens, 5 a second");
  bucket.pauseFor("30s");
  bucket.take(5);
  assertEquals(shown(bucket), "TokenBucket: -1.8 of 10 tokens, 5 a second, paused for 30 s");
  clock.time += 30_000;
  assertEquals(shown(bucket), "TokenBucket: -1.8 of 10 tokens, 5 a second");
  assertEquals(shown(new TokenBucket(Infinity, 0)), "TokenBucket: 0 of 0 tokens, any number a second");
  assertEquals(
    shown(new TokenBucket(12_345.67, 1_000_000)),
    "TokenBucket: 1,000,000 of 1,000,000 tokens, 12,345.7 a second",
  );
});

Deno.test("an error while an object is printed is shown in its line, and not thrown", async () => {
  const broken = () => {
    throw new Error("broken");
  };
  const discipline = new Lifo<string>();
  const queue = createRateLimitingQueue<string>(limiter(), { name: "q", discipline });
  Object.defineProperty(discipline, "length", { get: broken });
  const text = "cannot be described, as something in it throws";
  assertEquals(shown(queue), `RateLimitingQueue "q": ${text}`);
  Object.defineProperty(queue, "name", { get: broken });
  assertEquals(shown(queue), `An object: ${text}`);
  for (const object of [createWorkQueue(), new TokenBucket(1, 1)]) {
    assert(shown(Object.getPrototypeOf(object)).endsWith(text));
  }

  const other = createRateLimitingQueue<string>(limiter(), { name: "other" });
  const pool = runWorkers(other, broken, { onError() {} });
  other.add("a");
  await flush();
  insideOf(other).isFailing = broken;
  assertEquals(shown(pool), `WorkerPool of "other": ${text}`);
  other.shutDown();
  await pool.stop();
});

Deno.test("durations and numbers are formatted for people", () => {
  const lengths: [number, string][] = [
    [0, "0 ms"],
    [0.4, "0 ms"],
    [80.4, "80 ms"],
    [999.4, "999 ms"],
    [999.6, "1 s"],
    [4210, "4.2 s"],
    [30_000, "30 s"],
    [59_940, "59.9 s"],
    [59_960, "1 min"],
    [180_000, "3 min"],
    [5_400_000, "1.5 h"],
    [86_400_000, "1 d"],
    [400 * 86_400_000, "400 d"],
    [5000 * 86_400_000, "5,000 d"],
  ];
  for (const [ms, text] of lengths) assertEquals(formatDuration(ms), text);
  const numbers: [number, string][] = [
    [0, "0"],
    [-0.01, "-0.01"],
    [1 / 60, "0.017"],
    [0.999, "1"],
    [999, "999"],
    [1000, "1,000"],
    [1234567.891, "1,234,567.9"],
    [-4820, "-4,820"],
    [Infinity, "Infinity"],
  ];
  for (const [number, text] of numbers) assertEquals(formatNumber(number), text);
});

/** Runs a program on a runtime and returns its output. */
async function printed([file, ...options]: string[], program: Uint8Array): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const process = execFile(file!, options, (error, stdout) => error ? reject(error) : resolve(stdout));
  process.stdin!.end(program);
  return await promise;
}

const programs: Record<string, () => Promise<string[]>> = {
  Deno: async () => [(await runtimes["Deno"]!())[0]!, "run", "-"],
  Bun: async () => [(await runtimes["Bun"]!())[0]!, "run", "-"],
  Node: () => Promise.resolve(["node", "--input-type=module", "-"]),
};

for (const [runtime, command] of Object.entries(programs)) {
  Deno.test(`console.log on ${runtime} prints one line for each object, and the same line inside other values`, async () => {
    const program = await bundle({ entryPoints: [fileURLToPath(new URL("print_objects.ts", import.meta.url))] });
    const lines = (await printed(await command(), program)).trimEnd().split("\n");
    const queue = 'RateLimitingQueue "images": 1 ready, 5,001 delayed (next in 4.2 s), 1 processing';
    const failing = '1 key failing (latest: "a.jpg", attempt 1: Error: db down)';
    const pool = `WorkerPool of "images": 0 of 10 handlers running, paused, ${failing}`;
    assertEquals(lines.slice(0, 6), [
      "WorkQueue: 0 ready, 0 processing",
      'DelayingQueue "thumbs": 0 ready, 0 delayed, 0 processing',
      queue,
      pool,
      'Lease "b.jpg": processing',
      "TokenBucket: 3 of 10 tokens, 5 a second, paused for 30 s",
    ]);
    const nested = lines.slice(6).join(" ").replace(/\s+/g, " ").replaceAll(/,? ([}\]])/g, " $1");
    assertEquals(nested, `{ queue: ${queue}, list: [ ${pool} ] }`);
  });
}

for (const [runtime, command] of Object.entries(programs)) {
  Deno.test(`the string form of a queue or a pool on ${runtime} names it, without the module for consoles`, async () => {
    const program = await bundle({ entryPoints: [fileURLToPath(new URL("print_titles.ts", import.meta.url))] });
    assertEquals((await printed(await command(), program)).trimEnd().split("\n"), [
      String.raw`WorkQueue, WorkQueue "odd\n", DelayingQueue`,
      'RateLimitingQueue "images", RateLimitingQueue, WorkerPool of "images", WorkerPool',
    ]);
  });
}
