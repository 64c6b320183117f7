import { assert, assertEquals, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  ConfigError,
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
} from "@workqueue/core";
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

Deno.test("trace: adds, attempts, durations and outcomes are recorded, and a retry is not an add", async () => {
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

Deno.test("trace: by default, keys are hashed, with another salt in each trace", async () => {
  const [one, other] = [await record({}), await record({})];
  for (const text of [one, other]) assert(!/"(add|attempt)":"[ab]"/.test(text), text);
  const keys = (text: string) => [...readTrace(text).attempts.keys()];
  assertEquals([keys(one).length, keys(other).length], [2, 2]);
  assert(keys(one)[0] !== keys(other)[0]);
});

Deno.test("trace: a simulation replays the trace", async () => {
  const trace = await record({});
  const config = { queues: { jobs: { limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1m" } } } };
  const report = await simulate(config, { duration: "10s", trace: "trace.jsonl" }, { trace });
  assertEquals([report.arrivals, report.attempts, report.failures], [3, 4, { trace: 1 }]);
  assertEquals([report.totals.max, report.duration], [1600, 2100]); // b: from 0 to 1,600 ms
});

Deno.test("trace: a trace is a load that ends with its last event", async () => {
  const trace = [
    { workqueue: "trace", version: 1 },
    { at: 0, add: "a" },
    { at: 0, attempt: "a", ms: 300 },
    { at: 2000, add: "b" },
  ].map((line) => JSON.stringify(line)).join("\n");
  const report = await simulate({ queues: { jobs: {} } }, trace);
  assertEquals([report.arrivals, report.totals.max, report.duration], [2, 300, 2300]);
  const named = await simulate({ queues: { jobs: {} } }, { trace: "trace.jsonl" }, { trace });
  assertEquals(named, report);
  assertEquals((await simulate({ queues: { jobs: {} } }, trace, { duration: "1s" })).arrivals, 1);
});

Deno.test("trace: a simulation waits for a backlog that outlasts a short trace, and the timeline stays short", async () => {
  const events = [{ workqueue: "trace", version: 1 }];
  const add = (key: string) => [{ at: 0, add: key }, { at: 0, attempt: key, ms: 100, failed: true }];
  const trace = [...events, ...["a", "b", "c"].flatMap(add)].map((line) => JSON.stringify(line)).join("\n");
  const limiter = { type: "exponential", baseDelay: "50m", maxDelay: "50m" };
  const { attempts, unfinished, duration, timeline } = await simulate({ queues: { jobs: { limiter } } }, trace);
  assertEquals([attempts, unfinished, duration], [6, 0, 50 * 60_000 + 300]);
  assert(timeline.attempts.length <= 241);
  assertEquals([timeline.attempts, timeline.retries].map((counts) => counts.reduce((a, b) => a + b)), [6, 3]);
});

Deno.test("trace: an incomplete last line is left out", () => {
  const trace = '{"workqueue":"trace","version":1}\n{"at":1,"add":"a"}\n{"at":1,"attempt":"a","ms":3';
  assertEquals([readTrace(trace).arrivals.length, readTrace(trace).attempts.size], [1, 0]);
});

Deno.test("trace: text that is not a trace is refused with its line", () => {
  const error = assertThrows(
    () => readTrace('{"workqueue":"trace","version":1}\n{"at":1,"add":"a"}\n{"at":-1,"add":"a"}\nno\n'),
    ConfigError,
  );
  assertEquals(error.issues.map(({ message }) => message), [
    "line 3 is not an event of a trace",
    "line 4 is not an event of a trace",
  ]);
  assertThrows(() => readTrace('{"workqueue":"trace","version":1}\n'), ConfigError, "no item is added");
  const next = '{"workqueue":"trace","version":2}\n{"at":1,"add":"a"}\n';
  assertThrows(() => readTrace(next), ConfigError, "its version is 2, and must be 1");
});

Deno.test("trace: a slow writer loses events, and the lost events are counted", async () => {
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

Deno.test("trace: a queue that can't be recorded is refused", () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 60_000 }));
  const pool = runWorkers(queue, () => {});
  assertThrows(() => recordLoad(queue, {} as never, () => {}), TypeError, "the pool must be one of runWorkers");
  assertThrows(() => recordLoad({} as never, pool, () => {}), TypeError, "the queue must be one of this package");
  assertThrows(() => recordLoad(queue, pool, "x" as never), TypeError, "'write' must be a function");
  assertThrows(() => recordLoad(queue, pool, () => {}, { plain: true } as never), TypeError, "not an option here");
  queue.shutDown();
});

/** Event of a trace. */
type Event = Record<string, unknown>;

const LIMITER = { baseDelay: 1000, maxDelay: 60_000 };

/**
 * Records with plain keys, and returns the events of the trace. Handlers take 100 ms, and an attempt at a key fails as
 * often as `failures` says.
 */
async function eventsOf(
  act: (queue: RateLimitingQueue<string>, time: FakeTime) => Promise<void>,
  { failures = {}, ...options }: RateLimitingQueueOptions<string> & { failures?: Record<string, number> } = {},
): Promise<Event[]> {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter(LIMITER), options);
  const left = { ...failures };
  const pool = runWorkers(queue, async (key) => {
    await new Promise<void>((resolve) => void setTimeout(resolve, 100));
    if ((left[key] ?? 0) === 0) return;
    left[key]!--;
    throw new Error(`${key} fails`);
  }, { onError() {} });
  let text = "";
  {
    using _ = recordLoad(queue, pool, (lines) => void (text += lines), { plainKeys: true });
    await act(queue, time);
  }
  queue.shutDown();
  await pool.stop();
  return text.trim().split("\n").slice(1).map((line) => JSON.parse(line));
}

/** Lets time pass in small steps, so that promises resolve in between. */
async function pass(time: FakeTime, ms: number): Promise<void> {
  for (let i = 0; i < ms; i += 50) await time.tickAsync(50);
}

/** Ends the delay of an item early, as a dashboard does. */
function promote(queue: RateLimitingQueue<string>, item: string): void {
  assert(queue.cancelDelayed(item));
  queue.add(item);
}

Deno.test("trace: an add while a retry is delayed is recorded, and the retry is not", async () => {
  const events = await eventsOf(async (queue, time) => {
    queue.add("a");
    await pass(time, 500); // fails at 100, and the retry is due at 1,100
    queue.add("a");
    await pass(time, 1500);
  }, { failures: { a: 1 } });
  assertEquals(events, [
    { at: 0, add: "a" },
    { at: 0, attempt: "a", ms: 100, failed: true },
    { at: 500, add: "a" },
    { at: 500, attempt: "a", ms: 100 },
    { at: 1100, attempt: "a", ms: 100 },
  ]);
});

Deno.test("trace: a delayed item is added when its delay ends, or when it is promoted", async () => {
  const events = await eventsOf(async (queue, time) => {
    queue.addAfter("a", 1000, { priority: 7 });
    await pass(time, 1500);
    queue.addAfter("b", 60_000);
    promote(queue, "b");
    await pass(time, 200);
  });
  assertEquals(events, [
    { at: 1000, add: "a", priority: 7 },
    { at: 1000, attempt: "a", ms: 100 },
    { at: 1500, add: "b" },
    { at: 1500, attempt: "b", ms: 100 },
  ]);
});

Deno.test("trace: a promoted retry is not an add, and a cancelled retry is forgotten", async () => {
  const events = await eventsOf(async (queue, time) => {
    queue.add("a");
    await pass(time, 200);
    promote(queue, "a");
    await pass(time, 200);
    queue.add("b");
    await pass(time, 200);
    queue.cancelDelayed("b");
    queue.forget("b");
    queue.add("b");
    await pass(time, 200);
  }, { failures: { a: 1, b: 1 } });
  assertEquals(events.filter(({ add }) => add !== undefined), [
    { at: 0, add: "a" },
    { at: 400, add: "b" },
    { at: 600, add: "b" },
  ]);
});

Deno.test("trace: an item that its handler requeues is added again", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter(LIMITER));
  let attempts = 0;
  const pool = runWorkers(queue, () => ++attempts === 1 ? { requeueAfter: 300 } : undefined);
  let text = "";
  {
    using _ = recordLoad(queue, pool, (lines) => void (text += lines), { plainKeys: true });
    queue.add("a");
    await pass(time, 500);
  }
  await pool.stop();
  assertEquals(readTrace(text).arrivals.map(({ at }) => at), [0, 300]);
  assertEquals(readTrace(text).attempts.get("a"), [{ ms: 0, hasFailed: false }, { ms: 0, hasFailed: false }]);
});

Deno.test("trace: a retry without a delay is not an add", async () => {
  const limiter = { when: () => 0, forget() {}, numRequeues: () => 0 };
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(limiter);
  const pool = runWorkers(queue, (_, { attempt }) => {
    if (attempt < 3) throw new Error("no");
  }, { onError() {} });
  let text = "";
  {
    using _ = recordLoad(queue, pool, (lines) => void (text += lines));
    queue.add("a");
    await pass(time, 500);
  }
  await pool.stop();
  const { arrivals, attempts } = readTrace(text);
  assertEquals([arrivals.length, [...attempts.values()][0]!.map(({ hasFailed }) => hasFailed)], [1, [
    true,
    true,
    false,
  ]]);
});

Deno.test("trace: items that were ready before are added at the beginning", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter(LIMITER), {
    discipline: createPriorityDiscipline(),
  });
  for (const key of ["running", "first", "second"]) queue.add(key);
  const pool = runWorkers(queue, () => new Promise<void>((resolve) => void setTimeout(resolve, 100)));
  await pass(time, 50);
  let text = "";
  {
    using _ = recordLoad(queue, pool, (lines) => void (text += lines), { plainKeys: true });
    queue.add("third", { priority: 9 });
    await pass(time, 1000);
  }
  await pool.stop();
  assertEquals(
    readTrace(text).arrivals.map(({ at, key, priority }) => [at, key, priority]),
    [[0, "third", 9], [0, "first", 0], [0, "second", 0]],
  );
});

Deno.test("trace: attempts by hand are recorded", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter(LIMITER));
  const pool = runWorkers(queue, () => {});
  pool.pause();
  await pass(time, 50);
  let text = "";
  {
    await using _ = recordLoad(queue, pool, (lines) => void (text += lines), { plainKeys: true });
    queue.add("a");
    const lease = queue.tryGet()!;
    time.tick(70);
    lease[Symbol.dispose]();
  }
  await pool.stop();
  assertEquals(readTrace(text).attempts.get("a"), [{ ms: 70, hasFailed: false }]);
});

Deno.test("trace: keys come from keyOf, which is never called with a key", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<{ id: { name: string } }>(createExponentialLimiter(LIMITER), {
    keyOf: ({ id }) => id.name, // throws for a key
  });
  const pool = runWorkers(queue, (_, { attempt }) => {
    if (attempt === 1) throw new Error("no");
  }, { onError() {} });
  let text = "";
  {
    using _ = recordLoad(queue, pool, (lines) => void (text += lines), { plainKeys: true });
    queue.add({ id: { name: "a" } });
    await pass(time, 1500);
  }
  await pool.stop();
  const { arrivals, attempts } = readTrace(text);
  assertEquals([arrivals.length, attempts.get("a")?.length], [1, 2]);
});

Deno.test("trace: two recordings at once end in any order", async () => {
  for (const order of [[0, 1], [1, 0]]) {
    using time = new FakeTime();
    const queue = createRateLimitingQueue<string>(createExponentialLimiter(LIMITER));
    const pool = runWorkers(queue, () => {});
    const texts = ["", ""];
    const recordings = [0, 1].map((i) => recordLoad(queue, pool, (lines) => void (texts[i] += lines)));
    queue.add("a");
    await pass(time, 500);
    recordings[order[0]!]![Symbol.dispose]();
    queue.add("b");
    await pass(time, 500);
    recordings[order[1]!]![Symbol.dispose]();
    queue.add("c");
    await pass(time, 500);
    const arrivals = texts.map((text) => readTrace(text).arrivals.length);
    assertEquals(arrivals, order[0] === 0 ? [1, 2] : [2, 1]);
    assertEquals(recordings.map(({ dropped }) => dropped), [0, 0]);
    await pool.stop();
  }
});

Deno.test("trace: a failing write breaks nothing, and its events are counted", async () => {
  const fail = [() => Promise.reject(new Error("full")), () => {
    throw new Error("full");
  }];
  for (const write of fail) {
    using time = new FakeTime();
    const queue = createRateLimitingQueue<string>(createExponentialLimiter(LIMITER));
    let worked = 0;
    const pool = runWorkers(queue, () => void worked++);
    const recording = recordLoad(queue, pool, write);
    queue.add("a");
    await pass(time, 500);
    queue.add("b");
    await pass(time, 50);
    await recording[Symbol.asyncDispose]();
    assertEquals([worked, recording.dropped], [2, 4]);
    await pool.stop();
  }
});

Deno.test("trace: the last lines are written after a pending write, and disposing waits for them", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<number>(createExponentialLimiter(LIMITER));
  const pool = runWorkers(queue, () => {});
  let text = "";
  let pending = 0;
  const recording = recordLoad(queue, pool, async (lines) => {
    assertEquals(++pending, 1);
    await new Promise<void>((resolve) => void setTimeout(resolve, 1000));
    text += lines;
    pending--;
  });
  for (let i = 0; i < 3000; i++) queue.add(i);
  await pass(time, 500);
  let hasEnded = false;
  const ended = recording[Symbol.asyncDispose]().then(() => hasEnded = true);
  queue.add(-1); // after the recording
  await pass(time, 1000);
  assertEquals(hasEnded, false);
  await pass(time, 4000);
  assertEquals([hasEnded, await ended], [true, true]);
  assertEquals([readTrace(text).arrivals.length, readTrace(text).attempts.size, recording.dropped], [3000, 3000, 0]);
  await pool.stop();
});

for (const separator of ["/", "ab", "B", "7"]) {
  Deno.test(`trace: groups stay distinct when keys are hashed, with the separator ${separator}`, async () => {
    using time = new FakeTime();
    const queue = createRateLimitingQueue<string>(createExponentialLimiter(LIMITER), {
      discipline: createFairDiscipline({ separator }),
    });
    const pool = runWorkers(queue, () => new Promise<void>((resolve) => void setTimeout(resolve, 100)));
    let text = "";
    {
      using _ = recordLoad(queue, pool, (lines) => void (text += lines), { separator });
      for (let i = 0; i < 10; i++) queue.add(`shop${separator}${i}`);
      for (let i = 0; i < 2; i++) queue.add(`:og${separator}${i}`);
      queue.add("shop"); // of the same group
      await pass(time, 2000);
    }
    await pool.stop();
    assert(!text.includes("shop") && !text.includes(":og"), text);
    const discipline = { type: "fair", separator };
    const load = { duration: "10s", trace: "trace.jsonl" };
    const { byGroup, attempts } = await simulate({ queues: { jobs: { discipline } } }, load, { trace: text });
    assertEquals(attempts, 13);
    assertEquals(Object.values(byGroup).map(({ waits }) => waits.count), [11, 2]);
    assert(Object.values(byGroup)[1]!.waits.max < 500, "the small group doesn't wait for the large one");
  });
}

Deno.test("trace: the report has the priorities of the trace", async () => {
  const trace = '{"workqueue":"trace","version":1}\n{"at":0,"add":"a"}\n{"at":0,"add":"b","priority":5}\n' +
    '{"at":0,"attempt":"a","ms":10}\n';
  const { byPriority } = await simulate({ queues: { jobs: {} } }, { duration: "1s", trace: "t" }, { trace });
  assertEquals(Object.keys(byPriority), ["0", "5"]);
});
