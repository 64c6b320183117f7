/** Tests of pauses with an end: how they end, and what ends them early. */

import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { Pauses } from "../../packages/dashboard/watch/pauses.ts";
import { flush } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

/** Queue that can be paused and shown: in memory, or a stand-in for one that processes share. */
interface Pausable extends AsyncDisposable {
  readonly asked: Asked;
  isPaused(): boolean;
  /** Pauses work in another way than through the dashboard. */
  pause(): void;
  resume(): void;
}

function inMemory(): Pausable {
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
  const pool = runWorkers(queue, () => {});
  const asked = new Asked({ queues: { images: { queue, pool } } });
  return {
    asked,
    isPaused: () => pool.snapshot().paused,
    pause: () => pool.pause(),
    resume: () => pool.resume(),
    async [Symbol.asyncDispose]() {
      asked[Symbol.dispose]();
      queue.shutDown();
      await pool.stop();
    },
  };
}

const TOTALS = {
  ...{ added: 0, handedOut: 0, failed: 0, givenUp: 0 },
  givenUpFor: { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0 },
};

/** Returns a queue with the members of one that processes share. `isDown` makes its server fail. */
function shared(server: { isDown: boolean } = { isDown: false }): Pausable {
  let [paused, pauses] = [false, 0];
  const call = <R>(answer: () => R) => server.isDown ? Promise.reject(new Error("down")) : Promise.resolve(answer());
  const none = { ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 0, oldestReadyMs: 0 };
  const lists = { readyItems: [], delayedItems: [], processingItems: [], failingItems: [] };
  const queue = {
    name: "images",
    engine: "redis",
    add: () => call(() => {}),
    snapshot: () => call(() => ({ name: "images", ...none, ...lists, paused, totals: TOTALS })),
    cancelDelayed: () => call(() => false),
    promoteDelayed: () => call(() => false),
    forget: () => call(() => {}),
    pause: () => call(() => (paused = true, ++pauses)),
    resume: ({ pause = pauses } = {}) => call(() => void (paused &&= pause !== pauses)),
  };
  const asked = new Asked({ queues: { images: { queue } } });
  return {
    asked,
    isPaused: () => paused,
    pause: () => void queue.pause(),
    resume: () => void queue.resume(),
    [Symbol.asyncDispose]: () => Promise.resolve(asked[Symbol.dispose]()),
  };
}

async function pass(time: FakeTime, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    time.tick(Math.min(left, 1000));
    await flush();
  }
}

const pauseFor = ({ asked }: Pausable, duration: string | number) =>
  asked.post("api/queues/images/pause", { duration });

for (const [engine, open] of [["memory", inMemory], ["shared", shared]] as const) {
  Deno.test(`pauses, ${engine}: a pause with a duration shows its end, and ends then`, async () => {
    using time = new FakeTime();
    await using opened = open();
    const [status, message] = await pauseFor(opened, "1h30m");
    assertEquals([status, /" is paused for 1.5 h: running handlers continue/.test(message)], [200, true], message);
    await pass(time, 30 * 60_000);
    const { verdict, reason, pauseEndsInMs } = await opened.asked.row();
    assertEquals([verdict, pauseEndsInMs], ["paused", 3_600_000]);
    assertEquals(reason, "0 items are ready, and nothing is handed out for another 1 h.");
    await pass(time, 3_599_000);
    assertEquals(opened.isPaused(), true);
    await pass(time, 2000);
    assertEquals([opened.isPaused(), (await opened.asked.row()).pauseEndsInMs], [false, null]);
  });

  Deno.test(`pauses, ${engine}: a pause is ended early, and its end then ends no other pause`, async () => {
    using time = new FakeTime();
    await using opened = open();
    await pauseFor(opened, 10_000);
    await pass(time, 2000);
    await opened.asked.post("api/queues/images/resume");
    assertEquals([opened.isPaused(), (await opened.asked.row()).pauseEndsInMs], [false, null]);
    await opened.asked.post("api/queues/images/pause");
    await pass(time, 20_000);
    assertEquals([opened.isPaused(), (await opened.asked.row()).pauseEndsInMs], [true, null]);
  });

  Deno.test(`pauses, ${engine}: the end of a pause leaves a newer pause alone, no matter who made it`, async () => {
    using time = new FakeTime();
    await using opened = open();
    for (const others of [["pause"], ["resume", "pause"]] as const) {
      await pauseFor(opened, 10_000);
      await pass(time, 9000);
      for (const other of others) opened[other]();
      await pass(time, 10_000);
      assertEquals([opened.isPaused(), (await opened.asked.row()).pauseEndsInMs], [true, null], others.join());
    }
  });

  Deno.test(`pauses, ${engine}: another duration, or none, replaces the end`, async () => {
    using time = new FakeTime();
    await using opened = open();
    await pauseFor(opened, "1h");
    await pauseFor(opened, "5s");
    await pass(time, 6000);
    assertEquals(opened.isPaused(), false);
    await pauseFor(opened, "5s");
    await opened.asked.post("api/queues/images/pause");
    await pass(time, 10_000);
    assertEquals(opened.isPaused(), true);
  });

  Deno.test(`pauses, ${engine}: a pause that someone ended shows no later end`, async () => {
    using time = new FakeTime();
    await using opened = open();
    await pauseFor(opened, "1h");
    await pass(time, 1000);
    opened.resume();
    await pass(time, 6000);
    assertEquals((await opened.asked.row()).pauseEndsInMs, null);
    opened.pause();
    await pass(time, 6000);
    assertEquals((await opened.asked.row()).pauseEndsInMs, null);
  });

  Deno.test(`pauses, ${engine}: a pause ends when announced, even if the dashboard has been disposed by then`, async () => {
    using time = new FakeTime();
    await using opened = open();
    await pauseFor(opened, "10s");
    opened.asked[Symbol.dispose]();
    await pass(time, 11_000);
    assertEquals(opened.isPaused(), false);
  });
}

Deno.test("pauses, in memory: a pause that someone has replaced shows no end", async () => {
  using time = new FakeTime();
  await using opened = inMemory();
  await pauseFor(opened, "10s");
  await pass(time, 2000);
  opened.pause();
  const { reason, pauseEndsInMs } = await opened.asked.row();
  assertEquals([reason, pauseEndsInMs], ["0 items are ready, and nothing is handed out until work is resumed.", null]);
  await pauseFor(opened, "10s");
  assertEquals((await opened.asked.row()).pauseEndsInMs, 10_000);
});

Deno.test("pauses, shared: an end that does not reach the server is repeated", async () => {
  using time = new FakeTime();
  const server = { isDown: false };
  await using opened = shared(server);
  await pauseFor(opened, "10s");
  server.isDown = true;
  const { error } = console;
  const lines: string[] = [];
  console.error = (line) => lines.push(line);
  await pass(time, 11_000);
  console.error = error;
  assertEquals([opened.isPaused(), lines.length], [true, 1]);
  server.isDown = false;
  await pass(time, 5000);
  assertEquals(opened.isPaused(), false);
});

Deno.test("pauses: of two requests at the same time, the later one decides when the pause ends", async () => {
  using time = new FakeTime();
  const answers: ((pause: number) => void)[] = [];
  const ended: unknown[] = [];
  const pauses = new Pauses({
    pause: () => new Promise<number>((resolve) => answers.push(resolve)),
    resume() {},
    end: (pause) => void ended.push(pause),
  });
  const [first, second] = [pauses.pause(1000), pauses.pause()];
  answers[1]!(1); // the server has seen the later request first
  await second;
  answers[0]!(2);
  await first;
  assertEquals(pauses.endsInMs, null);
  await pass(time, 2000);
  assertEquals(ended, []);
});
