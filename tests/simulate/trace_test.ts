import { assert, assertEquals, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ConfigError, createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { recordLoad, simulate } from "@workqueue/simulate";
import { readTrace } from "../../packages/simulate/trace/read_trace.ts";

/** Records some items, of which `b` fails once. Returns the trace. */
async function record(options: { plainKeys?: boolean }): Promise<string> {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 60_000 }));
  let hasFailed = false;
  const pool = runWorkers(queue, async (key) => {
    await new Promise<void>((resolve) => void setTimeout(resolve, key === "a" ? 100 : 250));
    if (key !== "b" || hasFailed) return;
    hasFailed = true;
    throw new Error("b fails");
  }, { onError() {} });
  let text = "";
  {
    using _recording = recordLoad(queue, pool, (lines) => void (text += lines), options);
    queue.add("a");
    queue.add("b", { priority: 5 });
    for (let i = 0; i < 40; i++) await time.tickAsync(50);
    queue.add("a");
    for (let i = 0; i < 10; i++) await time.tickAsync(50);
  }
  queue.shutDown();
  await pool.finished;
  return text;
}

Deno.test("trace: adds, attempts, durations and outcomes are recorded, and a retry is no add", async () => {
  const lines = (await record({ plainKeys: true })).trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines, [
    { workqueue: "trace", version: 1 },
    { at: 0, add: "a" },
    { at: 0, add: "b", priority: 5 },
    { at: 0, attempt: "a", ms: 100 },
    { at: 100, attempt: "b", ms: 250, failed: true },
    { at: 1350, attempt: "b", ms: 250 },
    { at: 2000, add: "a" },
    { at: 2000, attempt: "a", ms: 100 },
  ]);
});

Deno.test("trace: keys are hashed with a salt of the trace unless asked", async () => {
  const [one, other] = [await record({}), await record({})];
  for (const text of [one, other]) assert(!/"(add|attempt)":"[ab]"/.test(text), text);
  const keys = (text: string) => [...readTrace(text).attempts.keys()];
  assertEquals([keys(one).length, keys(other).length], [2, 2]);
  assert(keys(one)[0] !== keys(other)[0]);
});

Deno.test("trace: a simulation replays it", async () => {
  const trace = await record({});
  const config = { queues: { jobs: { limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1m" } } } };
  const report = await simulate(config, { duration: "10s", trace: "trace.jsonl" }, { trace });
  assertEquals([report.arrivals, report.attempts, report.failures], [3, 4, { trace: 1 }]);
  assertEquals([report.totals.max, report.duration], [1600, 2100]); // b: from 0 to 1,600 ms
});

Deno.test("trace: what is no trace is refused with its line", () => {
  const error = assertThrows(
    () => readTrace('{"workqueue":"trace"}\n{"at":1,"add":"a"}\n{"at":-1,"add":"a"}\nno\n'),
    ConfigError,
  );
  assertEquals(error.issues.map(({ message }) => message), [
    "line 3 is not an event of a trace",
    "line 4 is not an event of a trace",
  ]);
  assertThrows(() => readTrace('{"workqueue":"trace","version":1}\n'), ConfigError, "no item is added");
});

Deno.test("trace: a writer that is too slow loses events, and they are counted", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 60_000 }));
  const pool = runWorkers(queue, () => {}, { concurrency: 10 });
  const recording = recordLoad(queue, pool, () => new Promise<void>(() => {}));
  for (let i = 0; i < 60_000; i++) queue.add(i);
  await time.tickAsync(1000);
  assertEquals([queue.length, recording.dropped], [0, 20_000]); // 120,000 events, of which 100,000 wait
  recording[Symbol.dispose]();
  queue.shutDown();
  await pool.finished;
});

Deno.test("trace: what can't be recorded is refused", () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 60_000 }));
  const pool = runWorkers(queue, () => {});
  assertThrows(() => recordLoad(queue, {} as never, () => {}), TypeError, "the pool must be one of runWorkers");
  assertThrows(() => recordLoad({} as never, pool, () => {}), TypeError, "the queue must be one of this package");
  assertThrows(() => recordLoad(queue, pool, "x" as never), TypeError, "'write' must be a function");
  assertThrows(() => recordLoad(queue, pool, () => {}, { plain: true } as never), TypeError, "not an option here");
  queue.shutDown();
});
