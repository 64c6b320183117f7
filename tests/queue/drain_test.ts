/** Rule 6: draining a queue, with and without a signal, in every layer. */

import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import {
  createDelayingQueue,
  createExponentialLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  type DrainOptions,
  type RateLimitingQueue,
  RetryAfterError,
  runWorkers,
  TokenBucket,
  type WorkQueue,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { countListeners, flush, isSettled, outcome, take, takeAll } from "../queue_helpers.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 });

/** Returns a rate-limiting queue under a clock that the test moves. */
function limited(clock = new HandClock()): { clock: HandClock; queue: RateLimitingQueue<string> } {
  return { clock, queue: createRateLimitingQueue<string>(limiter(), { clock }) };
}

const layers: Record<string, () => WorkQueue<string>> = {
  "layer 1": () => createWorkQueue<string>(),
  "layer 2": () => createDelayingQueue<string>({ clock: new HandClock() }),
  "layer 3": () => limited().queue,
};

for (const [name, make] of Object.entries(layers)) {
  Deno.test(`rule 6, ${name}: a drain whose signal aborts rejects with the reason, and the queue is shut down`, async () => {
    const queue = make();
    queue.add("a");
    const controller = new AbortController();
    const drained = queue.shutDownWithDrain({ delayed: "wait", signal: controller.signal });
    assertFalse(await isSettled(drained));
    controller.abort("too long");
    assertEquals(await drained.catch((reason) => reason), "too long");
    assert(queue.shuttingDown);
    assertEquals(takeAll(queue), ["a"], "what is ready is still handed out");
    assertEquals(await outcome(queue.get()), "shutdown");
  });

  Deno.test(`rule 6, ${name}: a signal that has already aborted ends the drain at once`, async () => {
    const queue = make();
    queue.add("a");
    const drained = queue.shutDownWithDrain({ signal: AbortSignal.abort("before") });
    assertEquals(await drained.catch((reason) => reason), "before");
    assert(queue.shuttingDown);
  });

  Deno.test(`rule 6, ${name}: an abort ends the other waiting drains like shutDown, and they resolve`, async () => {
    const queue = make();
    queue.add("a");
    const controller = new AbortController();
    const aborted = queue.shutDownWithDrain({ signal: controller.signal });
    const others = [queue.shutDownWithDrain(), queue.shutDownWithDrain({ delayed: "wait" })];
    controller.abort("too long");
    assertEquals(await aborted.catch((reason) => reason), "too long");
    // A third-party queue ends a drain only once the queue is empty, even after an abort.
    if (!name.includes("third-party")) await Promise.all(others);
  });

  Deno.test(`rule 6, ${name}: a drain that ended leaves no listener on its signal, and a later abort changes nothing`, async () => {
    const queue = make();
    queue.add("a");
    const controller = new AbortController();
    const listeners = countListeners(controller.signal);
    const drained = queue.shutDownWithDrain({ signal: controller.signal });
    takeAll(queue);
    await drained;
    assertEquals(listeners(), 0);
    controller.abort();
  });

  Deno.test(`rule 10, ${name}: invalid drain options are refused, and the queue continues`, async () => {
    const queue = make();
    const { signal } = new AbortController();
    const cases: [options: unknown, message: string][] = [
      [
        { delayed: "later" },
        `Cannot drain queue: 'delayed' must be one of "drop", "flush", "wait", got "later"`,
      ],
      [{ delaid: "wait" }, `Cannot drain queue: "delaid" is not an option here; did you mean "delayed"?`],
      [{ signal: "now" }, `Cannot drain queue: 'signal' must be an AbortSignal, got "now"`],
      [signal, "Cannot drain queue: 'options' must be an object, got an object"],
      ["wait", `Cannot drain queue: 'options' must be an object, got "wait"`],
      [null, "Cannot drain queue: 'options' must be an object, got null"],
    ];
    for (const [options, message] of cases) {
      const { message: received } = await assertRejects(
        () => queue.shutDownWithDrain(options as DrainOptions),
        TypeError,
      );
      if (!name.includes("third-party")) assertEquals(received, message);
    }
    queue.add("a");
    assertEquals(queue.length, 1);
  });
}

Deno.test("rule 6: a drain with wait accepts the retry of a processing item, and nothing else", async () => {
  const { queue, clock } = limited();
  queue.add("a");
  const lease = take(queue);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  queue.add("a");
  queue.addAfter("a", 5);
  queue.add("b");
  queue.addAfter("b", 5);
  queue.addRateLimited("b");
  assertEquals([queue.length, queue.delayed], [0, 0]);
  queue.addRateLimited("a");
  assertEquals(queue.delayed, 1);
  lease[Symbol.dispose]();
  assertFalse(await isSettled(drained));
  await clock.advance(10);
  const retry = take(queue);
  assertEquals(retry.item, "a");
  retry[Symbol.dispose]();
  assert(await isSettled(drained));
  assertEquals(clock.timers, 0);
});

Deno.test("rule 6: a drain with wait allows an item to be retried again and again, while others are delayed", async () => {
  const { queue, clock } = limited();
  queue.add("a");
  queue.addAfter("late", 10_000);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  for (const delay of [10, 20, 40, 80]) {
    const lease = take(queue);
    queue.addRateLimited("a");
    lease[Symbol.dispose]();
    assertFalse(await isSettled(drained));
    await clock.advance(delay);
  }
  assertEquals(takeAll(queue), ["a"]);
  assertFalse(await isSettled(drained));
  await clock.advance(10_000);
  const late = take(queue);
  queue.addRateLimited("late");
  late[Symbol.dispose]();
  await clock.advance(10);
  assertEquals(takeAll(queue), ["late"]);
  assert(await isSettled(drained));
});

Deno.test("rule 6: a waiting get reports the shutdown only when no retry can come any more", async () => {
  const { queue, clock } = limited();
  queue.add("a");
  const lease = take(queue);
  const waiter = queue.get();
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  queue.addRateLimited("a");
  lease[Symbol.dispose]();
  await clock.advance(10);
  const retry = await waiter;
  assertEquals(retry.item, "a");
  const last = queue.get();
  retry[Symbol.dispose]();
  assertEquals(await outcome(last), "shutdown");
  await drained;
});

Deno.test(`rule 6: a drain with "drop" accepts no retry`, async () => {
  const { queue } = limited();
  queue.add("a");
  const lease = take(queue);
  const drained = queue.shutDownWithDrain({ delayed: "drop" });
  queue.addRateLimited("a");
  assertEquals(queue.delayed, 0);
  lease[Symbol.dispose]();
  assert(await isSettled(drained));
});

Deno.test(`rule 6: once a later drain drops delayed items, a waiting drain accepts no more retries`, async () => {
  const { queue } = limited();
  queue.add("a");
  const lease = take(queue);
  const waits = queue.shutDownWithDrain({ delayed: "wait" });
  queue.addRateLimited("a");
  const drops = queue.shutDownWithDrain({ delayed: "drop" });
  assertEquals(queue.delayed, 0);
  queue.addRateLimited("a");
  assertEquals(queue.delayed, 0);
  lease[Symbol.dispose]();
  await Promise.all([waits, drops]);
});

Deno.test("rule 6: shutDown ends a drain that waits for retries; its timer is cleared", async () => {
  const { queue, clock } = limited();
  queue.add("a");
  const lease = take(queue);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  queue.addRateLimited("a");
  queue.shutDown();
  await drained;
  assertEquals([clock.timers, queue.delayed], [0, 0]);
  queue.addRateLimited("a");
  assertEquals(queue.delayed, 0);
  lease[Symbol.dispose]();
});

Deno.test("rule 6: a pool does not finish while a key that is processing elsewhere is marked as added again", async () => {
  for (const drain of ["shutDown", "drop", "flush", "wait"] as const) {
    for (const throttle of [undefined, new TokenBucket(Infinity, 1)]) {
      const { queue } = limited();
      queue.add("a");
      queue.add("b");
      const leases = [take(queue), take(queue)];
      for (const item of ["a", "b", "a"]) queue.add(item);
      const seen: string[] = [];
      const pools = [1, 2].map(() => runWorkers(queue, (item) => void seen.push(item), { throttle }));
      const drained = drain === "shutDown" ? queue.shutDown() : queue.shutDownWithDrain({ delayed: drain });
      await flush();
      for (const pool of pools) assertFalse(await isSettled(pool.finished));
      leases[0]![Symbol.dispose]();
      await flush();
      assertEquals(seen, ["a"], drain);
      for (const pool of pools) assertFalse(await isSettled(pool.finished));
      leases[1]![Symbol.dispose]();
      await Promise.all([drained, ...pools.map(({ finished }) => finished)]);
      assertEquals([seen, queue.processing], [["a", "b"], 0]);
    }
  }
});

Deno.test("rule 3: an idle worker takes an item that comes back after a shutdown while another worker is busy", async () => {
  for (const throttle of [undefined, new TokenBucket(Infinity, 1)]) {
    const { queue } = limited();
    queue.add("a");
    const lease = take(queue);
    for (const item of ["a", "busy"]) queue.add(item);
    const seen: string[] = [];
    let end = () => {};
    const pool = runWorkers(queue, (item) => {
      seen.push(item);
      return item === "busy" ? new Promise<void>((resolve) => end = resolve) : undefined;
    }, { concurrency: 2, throttle });
    queue.shutDown();
    await flush();
    lease[Symbol.dispose]();
    await flush();
    assertEquals(seen, ["busy", "a"]);
    end();
    await pool.finished;
  }
});

const BLOCKS: Readonly<Record<string, (queue: RateLimitingQueue<string>) => void>> = {
  "a pause of its group": (queue) => queue.pauseGroup("a", 100),
  "the rate of its group": () => {},
  "a pause of the queue": () => {
    throw new RetryAfterError(100, "", { scope: "queue" });
  },
};

for (const [name, block] of Object.entries(BLOCKS)) {
  Deno.test(`rule 6: a pool does not finish while an item that came back after a shutdown is blocked by ${name}`, async () => {
    for (const throttle of [undefined, new TokenBucket(Infinity, 2)]) {
      for (const drain of ["shutDown", "drop", "flush", "wait"] as const) {
        const clock = new HandClock();
        const discipline = createFairDiscipline({
          groupOf: (item: string) => item[0],
          ratePerGroup: { rate: 10, burst: 1 },
        });
        const queue = createRateLimitingQueue<string>(limiter(), { clock, discipline });
        let attempts = 0;
        let end = () => {};
        const pool = runWorkers(queue, async () => {
          if (attempts++ > 0) return;
          await new Promise<void>((resolve) => end = resolve);
          block(queue);
        }, { concurrency: 2, throttle, onError() {}, onGiveUp() {} });
        queue.add("a");
        await flush();
        queue.add("a");
        const drained = drain === "shutDown" ? queue.shutDown() : queue.shutDownWithDrain({ delayed: drain });
        await flush();
        end();
        await flush();
        assertEquals([attempts, queue.snapshot().blocked, await isSettled(pool.finished)], [1, 1, false], drain);
        await clock.advance(100);
        assertEquals(attempts, 2);
        await Promise.all([drained, pool.finished]);
        assertEquals(clock.timers, 0);
      }
    }
  });
}

Deno.test("rule 6: shutDown ends a drain that waits for blocked items, and leaves no timer", async () => {
  for (const delayed of ["drop", "flush", "wait"] as const) {
    const clock = new HandClock();
    const discipline = createFairDiscipline({ groupOf: (item: string) => item });
    const queue = createRateLimitingQueue<string>(limiter(), { clock, discipline });
    queue.add("a");
    queue.pauseGroup("a", 1000);
    const drained = queue.shutDownWithDrain({ delayed });
    queue.shutDown();
    await drained;
    assertEquals([clock.timers, queue.snapshot().blocked], [0, 1], delayed);
  }
});

Deno.test("rule 6: a pool that is stopped or paused takes no item that comes back after a shutdown", async () => {
  for (const end of ["stop", "pause"] as const) {
    const { queue } = limited();
    queue.add("a");
    const lease = take(queue);
    queue.add("a");
    const pool = runWorkers(queue, () => assert(end === "pause" && isResumed));
    let isResumed = false;
    queue.shutDown();
    await flush();
    if (end === "stop") await pool.stop();
    else pool.pause();
    lease[Symbol.dispose]();
    await flush();
    assertEquals(queue.length, 1);
    if (end === "stop") continue;
    isResumed = true;
    pool.resume();
    await pool.finished;
    assertEquals(queue.length, 0);
  }
});
