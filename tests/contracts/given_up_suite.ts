/**
 * Contract suite for queues that keep given-up items: `GivenUpQueue`. Every call is awaited, so the suite runs for
 * queues in memory and for queues outside this process.
 */

import { assertEquals, assertRejects } from "@std/assert";
import {
  type Clock,
  type GivenUpQueue,
  type GivenUpRetention,
  type Handler,
  type RateLimitingQueue,
  runWorkers,
  type SourcedQueue,
  TerminalError,
  type WorkerOptions,
} from "@workqueue/core";

/** Queue that the suite tests, on its own, with no items. */
export interface KeepingSubject extends AsyncDisposable {
  readonly queue: GivenUpQueue<string> & (RateLimitingQueue<string> | SourcedQueue<string>) & {
    add(item: string): unknown;
    addRateLimited(item: string): unknown;
    forget(item: string): unknown;
    addAfter(item: string, delay: number): unknown;
  };
  /** Clock of pools. Default: that of the queue. */
  readonly clock?: Clock;
  /** By how many milliseconds times may be too long, because a real clock goes on. Default: 0. */
  readonly lateness?: number;
  /** Lets this many milliseconds pass for the queue, and then waits until pools and redrives have done what is due. */
  advance(ms: number): Promise<void>;
}

/** Options of a subject. The limiter must delay each retry by 10 ms. */
export interface KeepingSubjectOptions {
  readonly keepGivenUp: number | GivenUpRetention;
  /** Whether items have groups: the text before the first `/`. */
  readonly hasGroups?: boolean;
  /** Whether the limiter ignores early failures. */
  readonly ignoresEarly?: boolean;
}

/** Registers the suite for one implementation. */
export function givenUpSuite(
  name: string,
  make: (options: KeepingSubjectOptions) => KeepingSubject | Promise<KeepingSubject>,
): void {
  const test = (what: string, run: (at: Bench) => Promise<void>, options: Partial<KeepingSubjectOptions> = {}) =>
    Deno.test(`given up, ${name}: ${what}`, async () => {
      await using bench = new Bench(await make({ keepGivenUp: 1000, ...options }));
      await run(bench);
    });

  test("an item is kept with its error on one line, attempts, reason and times, the newest first", async (at) => {
    const { queue } = at;
    at.run((item, attempt) => {
      if (item === "bad address") throw new TerminalError(`no ${item}`);
      throw new TypeError(`503\nat attempt ${attempt}`);
    }, { maxRetries: 2 });
    await queue.add("order 1");
    await at.advance(20);
    await queue.add("bad address");
    await at.advance(5);
    const { items, ...page } = await queue.givenUp();
    assertEquals(page, { total: 2, dropped: 0 });
    assertEquals(items.map(({ firstFailedAgoMs: _, givenUpAgoMs: __, ...item }) => item), [
      {
        item: "bad address",
        key: "bad address",
        error: "TerminalError: no bad address",
        attempts: 1,
        reason: "terminal",
      },
      {
        item: "order 1",
        key: "order 1",
        error: "TypeError: 503 at attempt 3",
        attempts: 3,
        reason: "maxRetries",
      },
    ]);
    at.areAbout(items.map(({ firstFailedAgoMs, givenUpAgoMs }) => [firstFailedAgoMs, givenUpAgoMs]), [[5, 5], [25, 5]]);
  });

  test("the time of the first failure starts afresh after success", async (at) => {
    const { queue } = at;
    at.run((_item, attempt) => {
      if (at.isUp && attempt > 1) return;
      throw new Error("503");
    }, { maxRetries: 1 });
    at.isUp = true;
    await queue.add("a");
    await at.advance(500);
    at.isUp = false;
    await queue.add("a");
    await at.advance(20);
    const { items: [given] } = await queue.givenUp();
    at.areAbout([[given!.firstFailedAgoMs, given!.givenUpAgoMs]], [[20, 10]]);
  });

  test("requeue does not change the time of the first failure, and sets it if there was none", async (at) => {
    const { queue } = at;
    at.run((item, attempt) => {
      if (attempt === (item === "a" ? 2 : 1)) return { requeue: true };
      throw new Error("503");
    }, { maxRetries: 2 });
    await queue.add("a");
    await at.advance(5);
    await queue.add("b");
    await at.advance(500);
    const { items } = await queue.givenUp();
    assertEquals(items.map(({ item, attempts }) => [item, attempts]), [["b", 3], ["a", 3]]);
    const times = items.map(({ firstFailedAgoMs, givenUpAgoMs }) => [firstFailedAgoMs - givenUpAgoMs]);
    at.areAbout(times, [[20], [20]]);
  });

  test("pages have the given length, and a cursor until the last", async (at) => {
    const { queue } = at;
    await at.giveUp(...at.items(7));
    const pages: string[][] = [];
    for (let cursor: string | undefined, i = 0; i === 0 || cursor !== undefined; i++) {
      const page: Awaited<ReturnType<typeof queue.givenUp>> = await queue.givenUp({ limit: 3, cursor });
      assertEquals([page.total, page.dropped], [7 + i, 0]);
      pages.push(page.items.map(({ item }) => item));
      cursor = page.cursor;
      await at.giveUp(`late ${i}`); // newer items are not part of later pages
    }
    assertEquals(pages, [["item 6", "item 5", "item 4"], ["item 3", "item 2", "item 1"], ["item 0"]]);
    assertEquals(await queue.givenUp({ limit: 0 }), { items: [], total: 10, dropped: 0 });
    assertEquals((await queue.givenUp({ limit: 10 })).cursor, undefined);
  });

  test("a search finds keys and errors, whatever the case", async (at) => {
    await at.giveUp("acme/1", "globex/2", "ACME/3");
    const found = async (search: string) => (await at.queue.givenUp({ search })).items.map(({ item }) => item);
    assertEquals(await found("aCMe"), ["ACME/3", "acme/1"]);
    assertEquals(await found("NO GLOBEX"), ["globex/2"]); // the error is: TerminalError: no globex/2
    assertEquals(await found(""), ["ACME/3", "globex/2", "acme/1"]);
    assertEquals(await found("*"), []);
  });

  test("an item that is added again is no longer given up, even with a delay", async (at) => {
    await at.giveUp("a", "b", "c");
    await at.end();
    await at.queue.add("a");
    await at.queue.addAfter("b", 60_000);
    assertEquals(await at.listed(), ["c"]);
  });

  test("an item that is given up again is kept once, as the newest", async (at) => {
    await at.giveUp("a", "b");
    await at.giveUp("a");
    assertEquals(await at.listed(), ["a", "b"]);
  });

  test("an item that was added again during its last attempt is not given up", async (at) => {
    const { queue } = at;
    let attempts = 0;
    at.run(async (item) => {
      attempts++;
      if (attempts === 1) await queue.add(item);
      else return;
      throw new TerminalError("no");
    });
    await queue.add("a");
    await at.advance(1);
    assertEquals([attempts, await at.listed()], [2, []]);
  });

  test("an item that was delayed during its last attempt is not given up", async (at) => {
    const { queue } = at;
    at.run(async (item) => {
      await queue.addAfter(item, 60_000);
      throw new TerminalError("no");
    });
    await queue.add("a");
    await at.advance(1);
    assertEquals(await at.listed(), []);
  });

  test("forget during an attempt gives its item all retries again", async (at) => {
    const { queue } = at;
    const attempts: string[] = [];
    const givenUp: string[] = [];
    at.run(async (item, attempt) => {
      attempts.push(`${item} ${attempt}`);
      if (attempts.length === 3) await queue.forget(item);
      throw new Error("503");
    }, { maxRetries: 2, onGiveUp: (_error, item, attempts) => void givenUp.push(`${item} ${attempts}`) });
    await queue.add("a");
    await at.advance(500);
    assertEquals(attempts, ["a 1", "a 2", "a 3", "a 2", "a 3"]);
    assertEquals(givenUp, ["a 3"]);
    assertEquals((await queue.givenUp()).items.map(({ attempts, reason }) => [attempts, reason]), [[3, "maxRetries"]]);
  });

  test("forget during the last attempt of an item that is given up does not change its number of attempts", async (at) => {
    const { queue } = at;
    at.run(async (item) => {
      await queue.forget(item);
      throw new Error("503");
    }, { maxRetries: 0 });
    await queue.add("b");
    await at.advance(1);
    await at.end();
    at.run(async (item, attempt) => {
      if (attempt === 3) await queue.forget(item);
      throw attempt === 3 ? new TerminalError("no") : new Error("503");
    });
    await queue.add("a");
    await at.advance(50);
    const { items } = await queue.givenUp();
    assertEquals(items.map(({ item, attempts, reason }) => [item, attempts, reason]), [
      ["a", 3, "terminal"],
      ["b", 1, "maxRetries"],
    ]);
  });

  test("a failure of an attempt before a retry by hand is due does not give its item up", async (at) => {
    const { queue } = at;
    const attempts: number[] = [];
    at.run(async (item, attempt) => {
      attempts.push(attempt);
      if (attempt === 1) await queue.addRateLimited(item);
      throw new Error("503");
    }, { maxRetries: 0 });
    await queue.add("a");
    await at.advance(50);
    assertEquals(attempts, [1, 2]);
    assertEquals((await queue.givenUp()).items.map(({ attempts }) => attempts), [2]);
  }, { ignoresEarly: true });

  test(
    "a failure of an early attempt counts if the failures before it are forgotten during the attempt",
    async (at) => {
      const { queue } = at;
      const givenUp: number[] = [];
      await queue.addRateLimited("a");
      at.run(async (item) => {
        await queue.forget(item);
        throw new Error("503");
      }, { maxRetries: 0, onGiveUp: (_error, _item, attempts) => void givenUp.push(attempts) });
      await queue.add("a");
      await at.advance(1);
      assertEquals(givenUp, [2]);
    },
    { ignoresEarly: true },
  );

  test("a redrive adds all items, the oldest first, and they start afresh", async (at) => {
    const { queue } = at;
    await at.giveUp("a", "b", "c");
    await at.end();
    assertEquals(await queue.redriveProgress(), undefined);
    const begun = await queue.redrive();
    assertEquals(begun.redriven + begun.left, 3);
    await at.advance(1);
    const attempts: string[] = [];
    at.run((item, attempt) => void attempts.push(`${item} ${attempt}`));
    await at.advance(1);
    assertEquals(attempts, ["a 1", "b 1", "c 1"]);
    assertEquals(await queue.redriveProgress(), { redriven: 3, left: 0, running: false });
    assertEquals(await queue.givenUp(), { items: [], total: 0, dropped: 0 });
    assertEquals((await queue.redrive()).redriven, 0);
  });

  test("a redrive and a discard affect the items selected by a search and by keys", async (at) => {
    const { queue } = at;
    await at.giveUp("acme/1", "acme/2", "globex/1", "globex/2", "initech/1");
    await at.end();
    await queue.redrive({ search: "ACME", keys: ["acme/2", "globex/1", "unknown"] });
    await at.advance(1);
    assertEquals((await queue.redriveProgress())!.redriven, 1);
    assertEquals(await at.listed(), ["initech/1", "globex/2", "globex/1", "acme/1"]);
    await queue.redrive({ search: "no GLOBEX" });
    await at.advance(1);
    assertEquals(await at.listed(), ["initech/1", "acme/1"]);
    await at.giveUp("hooli/1", "hooli/2"); // gives the items up that were redriven, too
    await at.end();
    await queue.discard({ search: "/2" });
    await queue.redrive({ keys: ["hooli/1", "globex/1"] });
    await at.advance(1);
    assertEquals(await at.listed(), ["initech/1", "acme/1"]);
    assertEquals(await queue.discard({ keys: [] }), 0);
    assertEquals(await queue.discard({ search: "initech", keys: ["initech/1", "initech/1", "acme/1"] }), 1);
    assertEquals(await at.listed(), ["acme/1"]);
    assertEquals([await queue.discard(), await queue.discard(), await at.listed()], [1, 0, []]);
    const taken: string[] = [];
    at.run((item) => void taken.push(item));
    await at.advance(1);
    assertEquals(taken, ["globex/1", "hooli/1"]);
  });

  test("a redrive keeps to its rate, and can be watched and stopped", async (at) => {
    const { queue } = at;
    await at.giveUp(...at.items(10));
    await at.end();
    assertEquals(await queue.redrive({ rate: 10, search: "item" }), { redriven: 1, left: 9, running: true });
    await at.advance(220);
    assertEquals(await queue.redriveProgress(), { redriven: 3, left: 7, running: true });
    assertEquals((await at.listed()).length, 7);
    assertEquals(await queue.discard({ keys: ["item 9", "item 8"] }), 2);
    await queue.add("item 7"); // by somebody else
    assertEquals(await queue.redriveProgress(), { redriven: 3, left: 4, running: true });
    const stopped = { redriven: 3, left: 4, running: false };
    assertEquals([await queue.stopRedrive(), await queue.redriveProgress()], [stopped, stopped]);
    await at.advance(1000);
    assertEquals(await at.listed(), ["item 6", "item 5", "item 4", "item 3"]);
    assertEquals(await queue.redrive({ rate: 0.5 }), { redriven: 1, left: 3, running: true });
    await at.advance(6500);
    assertEquals(await queue.redriveProgress(), { redriven: 4, left: 0, running: false });
    assertEquals(await queue.stopRedrive(), { redriven: 4, left: 0, running: false });
  });

  test("a second redrive is refused while one runs", async (at) => {
    const { queue } = at;
    await at.giveUp("a", "b");
    await at.end();
    await queue.redrive({ rate: 1 });
    await assertRejects(
      () => queue.redrive(),
      Error,
      "Cannot redrive items: a redrive of this queue is running; wait until it ends, or call stopRedrive()",
    );
    await queue.stopRedrive();
    assertEquals((await queue.redrive()).redriven <= 1, true);
  });

  test("a redrive does not add an item twice if it fails again", async (at) => {
    const { queue } = at;
    await at.giveUp("a", "b", "c");
    await queue.redrive({ rate: 100 });
    await at.advance(500); // the pool still gives up everything
    assertEquals(await queue.redriveProgress(), { redriven: 3, left: 0, running: false });
    assertEquals(await at.listed(), ["c", "b", "a"]);
  });

  test("the newest items are kept, and the number of dropped items is reported", async (at) => {
    await at.giveUp(...at.items(5));
    const { items, total, dropped } = await at.queue.givenUp();
    assertEquals([items.map(({ item }) => item), total, dropped], [["item 4", "item 3", "item 2"], 3, 2]);
    await at.giveUp("item 3");
    assertEquals([(await at.queue.givenUp()).dropped, await at.listed()], [2, ["item 3", "item 4", "item 2"]]);
  }, { keepGivenUp: 3 });

  test("items that are too old are dropped, whichever call finds them", async (at) => {
    const { queue } = at;
    await at.giveUp("a");
    await at.advance(600);
    await at.giveUp("b", "c");
    await at.advance(600);
    assertEquals([await at.listed(), (await queue.givenUp()).dropped], [["c", "b"], 1]);
    await at.advance(600);
    assertEquals(await queue.discard(), 0);
    assertEquals((await queue.redrive()).redriven, 0);
    assertEquals((await queue.givenUp()).dropped, 3);
  }, { keepGivenUp: { max: 10, maxAge: 1000 } });

  test("an item is kept with its group", async (at) => {
    await at.giveUp("acme/1");
    assertEquals((await at.queue.givenUp()).items.map(({ group }) => group), ["acme"]);
  }, { hasGroups: true });

  test("wrong options are refused, and nothing is done", async (at) => {
    const { queue } = at;
    await at.giveUp("a");
    await at.end();
    // deno-lint-ignore no-explicit-any -- wrong on purpose
    const wrong = queue as any;
    for (const limit of [-1, 0.5, 1001, NaN]) {
      await assertRejects(() => queue.givenUp({ limit }), RangeError, "'limit' must be an integer from 0 to 1000");
    }
    await assertRejects(() => wrong.givenUp({ cursor: "x" }), TypeError, "'cursor' must be the 'cursor' of a page");
    await assertRejects(() => wrong.givenUp({ search: ["a"] }), TypeError, "'search' must be a string");
    await assertRejects(() => wrong.givenUp("a"), TypeError, "must be an object");
    for (const rate of [0, -1, NaN, Infinity]) {
      await assertRejects(() => queue.redrive({ rate }), RangeError, "'rate' must be a positive number");
    }
    await assertRejects(() => wrong.redrive({ rate: "5" }), TypeError, "'rate' must be a positive number");
    await assertRejects(() => wrong.redrive({ keys: "a" }), TypeError, "'keys' must be a list of keys");
    await assertRejects(() => wrong.discard({ serch: "a" }), TypeError, 'did you mean "search"?');
    assertEquals(await at.listed(), ["a"]);
  });
}

/** The subject with pools. */
class Bench implements AsyncDisposable {
  readonly queue: KeepingSubject["queue"];
  /** Flag for handlers of tests. */
  isUp = false;
  readonly #subject: KeepingSubject;
  #pool: ReturnType<typeof runWorkers<string>> | undefined;

  constructor(subject: KeepingSubject) {
    this.#subject = subject;
    this.queue = subject.queue;
  }

  async advance(ms: number): Promise<void> {
    await this.#subject.advance(ms);
  }

  items(count: number): string[] {
    return Array.from({ length: count }, (_, i) => `item ${i}`);
  }

  run(
    handler: (item: string, attempt: number) => ReturnType<Handler<string>>,
    options: WorkerOptions<string> = {},
  ): void {
    this.#pool = runWorkers<string>(this.queue, (item, { attempt }) => handler(item, attempt), {
      onError() {},
      clock: this.#subject.clock,
      ...options,
    });
  }

  /** Adds items and gives them up, in this order. The pool still runs afterwards, until `end`. */
  async giveUp(...items: string[]): Promise<void> {
    if (this.#pool === undefined) {
      this.run((item) => {
        throw new TerminalError(`no ${item}`);
      });
    }
    for (const item of items) await this.queue.add(item);
    await this.advance(0);
  }

  async end(): Promise<void> {
    const stopped = this.#pool?.stop();
    await this.advance(0);
    await stopped;
    this.#pool = undefined;
  }

  async listed(): Promise<string[]> {
    return (await this.queue.givenUp()).items.map(({ item }) => item);
  }

  /** Checks times. */
  areAbout(times: readonly number[][], expected: readonly number[][]): void {
    const { lateness = 0 } = this.#subject;
    const inTime = times.map((row, i) => row.map((ms, j) => Math.min(Math.max(ms - lateness, expected[i]![j]!), ms)));
    assertEquals(inTime, expected);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    await this.#subject[Symbol.asyncDispose]();
  }
}
