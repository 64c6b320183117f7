import { assert, assertEquals, assertFalse, assertStrictEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  type Clock,
  createExponentialLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  parallelizeUntil,
  type RateLimitingQueue,
  runWorkers,
  systemClock,
} from "@workqueue/core";
import { Burst, burst, BurstTime, type nextTask, RecentTime, TURNS_PER_PAUSE } from "../../lib/structures/burst.ts";
import { HandClock } from "../helpers.ts";
import { beBusy, flushPromises, nextTurn, pause } from "../queue_helpers.ts";

/** Longest burst, in milliseconds. */
const BURST = 10;

function newQueue<T>(): RateLimitingQueue<T> {
  return createRateLimitingQueue<T>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
}

/** Simulates `pieces` pieces of work. Before each piece, asks the burst whether a pause is due. Returns the answers. */
function ask(burst: Burst, pieces: number): boolean[] {
  return Array.from({ length: pieces }, () => burst.isTooLong());
}

/** Counter of events. It also counts how many of them are not the first in their turn of the event loop. */
class Turns implements Disposable {
  /** Pauses first, so that the next piece of work starts a new burst. */
  static async begin(): Promise<Turns> {
    await pause();
    return new Turns();
  }

  /** Number of events. */
  noted = 0;
  /** Number of events that were not the first in their turn. */
  notedTwice = 0;
  #isOver = false;
  #isNew = true;

  constructor() {
    this.#count();
  }

  note(): void {
    this.noted++;
    if (!this.#isNew) this.notedTwice++;
    this.#isNew = false;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
  }

  async #count(): Promise<void> {
    while (!this.#isOver) {
      await nextTurn();
      this.#isNew = true;
    }
  }
}

Deno.test("a burst is too long once ten milliseconds have passed since it began", async () => {
  let time = 1000;
  const burst = new Burst(() => time);
  assertEquals(ask(burst, 8), new Array(8).fill(false));
  time += 9;
  assertEquals(ask(burst, 8), new Array(8).fill(false));
  time += 1;
  assertEquals(ask(burst, 2), [true, true]);
  await pause();
});

/** Returns the pieces of work, by number, after which a burst looks at the clock. Piece `n` takes `duration(n)`. */
async function looksOf(pieces: number, duration: (piece: number) => number): Promise<number[]> {
  let looks = 0;
  let time = 0;
  const burst = new Burst(() => {
    looks++;
    return time;
  });
  const lookedAfter: number[] = [];
  for (let piece = 0; piece < pieces; piece++) {
    const before = looks;
    const isTooLong = burst.isTooLong();
    if (looks > before) lookedAfter.push(piece);
    if (isTooLong) break;
    time += duration(piece);
  }
  await pause();
  return lookedAfter;
}

Deno.test("after quick pieces, the clock is read after 1, 2, 4 and 8 of them, and then after every 8", async () => {
  assertEquals(await looksOf(35, () => 0), [0, 1, 2, 4, 8, 16, 24, 32]);
});

Deno.test("the clock is read after fewer pieces the slower they are, so that a burst is not too long", async () => {
  assertEquals(await looksOf(35, () => 0.5), [0, 1, 2, 4, 8, 16, 20], "as long as it was eight at a time: 24");
  assertEquals(await looksOf(35, () => 1), [0, 1, 2, 4, 8, 10], "likewise 16");
  assertEquals(await looksOf(35, () => 3), [0, 1, 2, 3, 4]);
  assertEquals(await looksOf(35, () => 10), [0, 1]);
  assertEquals(await looksOf(99, (piece) => piece < 20 ? 0 : 10), [0, 1, 2, 4, 8, 16, 24]);
});

Deno.test("setting a clock back or ahead causes a pause, and delays nothing for long", async () => {
  for (const jump of [-3_600_000, 3_600_000]) {
    let time = 0;
    const burst = new Burst(() => time);
    assertFalse(burst.isTooLong());
    time += jump;
    assert(burst.isTooLong());
    let isOver = false;
    burst.turn().then(() => isOver = true);
    await pause();
    assert(isOver);
    assertFalse(burst.isTooLong());
  }
});

Deno.test("all users of a burst make one pause, and continue in the order in which they asked", async () => {
  let time = 0;
  const burst = new Burst(() => time);
  assertFalse(burst.isTooLong());
  time = 10;
  const wentOn: string[] = [];
  for (const name of ["a", "b", "c"]) {
    assert(burst.isTooLong());
    burst.turn().then(() => wentOn.push(name));
  }
  await nextTurn();
  assertEquals(wentOn, []);
  await pause();
  assertEquals(wentOn, ["a", "b", "c"]);
  assertFalse(burst.isTooLong());
});

Deno.test("a pause ends one burst and begins the next: a user for whom no time is left in that burst goes first in the burst after it", async () => {
  let time = 0;
  const burst = new Burst(() => time);
  let wentOn = "";
  const work = async (name: string) => {
    for (let pieces = 0; pieces < 6; pieces++) {
      if (burst.isTooLong()) await burst.turn();
      wentOn += name;
      time += 5;
    }
  };
  const all = ["a", "b", "c"].map(work);
  const bursts: string[] = [];
  for (let i = 0; i < 6; i++) {
    bursts.push(wentOn);
    wentOn = "";
    await pause();
  }
  assertEquals(bursts, ["aa", "aa", "bb", "cc", "aa", "bb"]);
  await pause();
  await Promise.all(all);
});

Deno.test("a burst is over when other code had its turn, however long the burst lasted", async () => {
  let time = 0;
  const burst = new Burst(() => time += 10);
  for (let i = 0; i < 20; i++) {
    assertFalse(burst.isTooLong());
    await nextTurn();
  }
});

/** Returns the number of turns that a burst of 10 ms pauses for afterwards. Each turn takes `duration()`. */
async function turnsOfPause(duration: () => number): Promise<number> {
  let time = 1000;
  const burst = new Burst(() => time);
  burst.isTooLong();
  time += 10;
  assert(burst.isTooLong());
  let isOver = false;
  burst.turn().then(() => isOver = true);
  for (let turns = 0;; turns++) {
    if (isOver) return turns;
    await nextTurn();
    time += duration();
  }
}

Deno.test("a pause takes more than sixty turns, because Deno polls its sockets only once in sixty turns", async () => {
  assert(TURNS_PER_PAUSE > 61);
  assertEquals(await turnsOfPause(() => 0), TURNS_PER_PAUSE);
});

Deno.test("a pause in which other code does much work takes a twentieth of the time of the burst before it", async () => {
  assertEquals(await turnsOfPause(() => 0.125), 5);
  assertEquals(await turnsOfPause(() => 10), 2);
});

Deno.test("a pool pauses before the item that would exceed the burst", async () => {
  for (const concurrency of [1, 3]) {
    for (const isAsync of [false, true]) {
      using turns = await Turns.begin();
      const queue = newQueue<number>();
      for (let i = 0; i < 5; i++) queue.add(i);
      queue.shutDown();
      await runWorkers(queue, () => {
        turns.note();
        beBusy(BURST);
        if (isAsync) return Promise.resolve();
      }, { concurrency }).finished;
      assertEquals([turns.noted, turns.notedTwice], [5, 0]);
    }
  }
});

Deno.test("a pool makes its pauses after a test with fake timers, before any other read of the clock", async () => {
  {
    using _time = new FakeTime();
    systemClock.now();
  }
  using turns = await Turns.begin();
  const queue = newQueue<number>();
  for (let i = 0; i < 5; i++) queue.add(i);
  queue.shutDown();
  await runWorkers(queue, () => {
    turns.note();
    beBusy(BURST);
  }).finished;
  assertEquals([turns.noted, turns.notedTwice], [5, 0]);
});

Deno.test("pools of a program share their pauses, and each has its turn", async () => {
  for (const isAsync of [false, true]) {
    using turns = await Turns.begin();
    let handled = "";
    await Promise.all(["a", "b", "c"].map((name) => {
      const queue = newQueue<number>();
      for (let i = 0; i < 4; i++) queue.add(i);
      queue.shutDown();
      return runWorkers(queue, () => {
        turns.note();
        handled += name;
        beBusy(BURST);
        if (isAsync) return Promise.resolve();
      }, { concurrency: 3 }).finished;
    }));
    assertEquals(handled, "aabcabcabcbc");
    assertEquals([turns.noted, turns.notedTwice], [12, 0], "one burst for all of them");
  }
});

Deno.test("rule 9: a pool with its own clock makes no pauses, because nothing there waits for real time", async () => {
  const queue = newQueue<number>();
  for (let i = 0; i < 5; i++) queue.add(i);
  let handled = 0;
  const pool = runWorkers(queue, () => {
    handled++;
    beBusy(BURST);
  }, { clock: new HandClock() });
  queue.shutDown();
  await flushPromises();
  assertEquals(handled, 5);
  await pool.finished;
});

Deno.test("a pool that waits for each item makes no pause, however many items it had", async () => {
  await pause(); // so that the test starts with a new burst
  const queue = newQueue<number>();
  let handled = 0;
  const pool = runWorkers(queue, () => void handled++);
  for (let i = 1; i <= 10; i++) {
    await nextTurn();
    await nextTurn();
    beBusy(BURST);
    queue.add(i);
    await Promise.resolve().then(() => {}).then(() => {});
    assertEquals(handled, i);
  }
  await pool.stop();
});

Deno.test("items that come one by one, each from a promise of the previous one, let timers run", async () => {
  const queue = newQueue<number>();
  queue.add(0);
  let handled = 0;
  const pool = runWorkers(queue, (item) => {
    if (++handled === 3_000_000) queue.shutDown(); // never reached, because the timer fires first
    Promise.resolve().then(() => {}).then(() => queue.add(item + 1));
  });
  setTimeout(() => queue.shutDown(), 1);
  await pool.finished;
  assert(handled < 3_000_000);
});

Deno.test("a pool that makes a pause before its last item has not finished", async () => {
  await pause(); // so that the test starts with a new burst
  using time = new FakeTime();
  const queue = newQueue<string>();
  const abandoned = Promise.withResolvers<void>();
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    return attempts.length === 1 ? abandoned.promise : undefined;
  }, { timeout: 10, onError() {} });
  queue.add("a");
  await flushPromises();
  queue.add("a"); // makes "a" ready again when the lease ends
  time.tick(10); // the timeout frees the handler's place for another attempt
  beBusy(BURST);
  queue.shutDown();
  await flushPromises();
  abandoned.resolve();
  await pool.finished;
  assertEquals([attempts.length, queue.length], [2, 0]);
});

Deno.test("parallelizeUntil makes pauses in the same way, for all its workers together", async () => {
  for (const workers of [1, 2]) {
    using turns = await Turns.begin();
    await parallelizeUntil(workers, 5, () => {
      turns.note();
      beBusy(BURST);
    });
    assertEquals([turns.noted, turns.notedTwice], [5, 0]);
  }
});

Deno.test("parallelizeUntil whose pieces never wait lets timers run", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 1);
  let done = 0;
  await parallelizeUntil(3, 100_000_000, () => void done++, { signal: stop.signal });
  assert(done < 100_000_000);
});

Deno.test("a loop over a queue whose body adds items again lets timers run", async () => {
  for (const isAsync of [false, true]) {
    const queue = createWorkQueue<string>();
    queue.add("again");
    setTimeout(() => queue.shutDown(), 1);
    let rounds = 0;
    for await (const item of queue) {
      if (++rounds === 3_000_000) break; // never reached, because the timer fires first
      if (isAsync) await undefined;
      queue.add(item);
    }
    assert(rounds < 3_000_000);
  }
});

Deno.test("rule 9: a loop over a queue with its own clock makes no pauses", async () => {
  const queue = createWorkQueue<number>({ clock: new HandClock() });
  for (let i = 0; i < 5; i++) queue.add(i);
  queue.shutDown();
  let rounds = 0;
  (async () => {
    for await (const _ of queue) {
      rounds++;
      beBusy(BURST);
    }
  })();
  await flushPromises();
  assertEquals(rounds, 5);
});

Deno.test("the next task runs after everything pending", async () => {
  const order: string[] = [];
  const called = nextTurn().then(() => order.push("task"));
  await flushPromises().then(() => order.push("pending"));
  await called;
  assertEquals(order, ["pending", "task"]);
});

Deno.test("without setImmediate, as in browsers, the next task runs too, and leaves no port open", async () => {
  const path: string = "../../lib/structures/burst.ts?in-a-browser";
  const scope = globalThis as { setImmediate?: unknown };
  const { setImmediate } = scope;
  delete scope.setImmediate;
  const browser: { nextTask: typeof nextTask } = await import(path).finally(() => scope.setImmediate = setImmediate);
  const { close } = MessagePort.prototype;
  using _restored = { [Symbol.dispose]: () => MessagePort.prototype.close = close };
  let closed = 0;
  MessagePort.prototype.close = function () {
    closed++;
    close.call(this);
  };
  let isLater = false;
  const called = new Promise<boolean>((resolve) => browser.nextTask(() => resolve(isLater)));
  isLater = true;
  assert(await called);
  assertEquals(closed, 1, "an open port would keep the process alive");
});

Deno.test("in a burst, the system's clock is read once, and otherwise each time", async () => {
  await pause();
  const time = new BurstTime(systemClock);
  assert(time.now() !== time.now(), "no burst is on");
  burst.isTooLong();
  const first = time.now();
  assertStrictEquals(time.now(), first);
  await pause();
  assert(time.now() !== first);
  burst.isTooLong();
  assert(time.now() !== first);
  await pause();
});

Deno.test("rule 9: fake time and a third-party clock are read each time", () => {
  const clock = new HandClock(5);
  burst.isTooLong();
  const time = new BurstTime(clock);
  assertEquals(time.now().time, 5);
  clock.time = 7;
  assertEquals(time.now().time, 7);

  using fake = new FakeTime();
  const system = new BurstTime(systemClock);
  const before = system.now().time;
  fake.tick(10);
  assertEquals(system.now().time - before, 10);
});

Deno.test("the time of the system clock is at most a millisecond old, even within synchronous code", () => {
  const time = new RecentTime(systemClock);
  for (let round = 0; round < 20; round++) {
    const before = systemClock.now();
    while (systemClock.now() < before + 1.5); // a synchronous handler that takes long
    assert(time.now() >= before, "the time is older than the handler");
  }
});

Deno.test("fake time and any other clock are read at each call", () => {
  {
    using fake = new FakeTime();
    const time = new RecentTime(systemClock);
    const before = time.now();
    fake.tick(1);
    fake.tick(250);
    assertEquals(time.now() - before, 251);
  }
  let now = 0;
  const clock: Clock = { now: () => now += 0.25, setTimeout: () => 0, clearTimeout: () => {} };
  const time = new RecentTime(clock);
  assertEquals([time.now(), time.now()], [0.25, 0.5]);
});
