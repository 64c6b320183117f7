/**
 * Tests of the notifications that are sent when a delayed key becomes due: two idle processes are notified, no matter
 * how many are idle.
 */

import { assert, assertEquals } from "@std/assert";
import { addRateLimited } from "../contracts/engine_bench.ts";
import { type Bench, engineTest, keysOf } from "./bench.ts";
import { countCalls, open, until } from "./faults/faults.ts";
import { redisTest, serverTest, uniqueName } from "./redis_tests.ts";
import { callRedis, type Client, connectClient, RedisServer } from "./server.ts";

/** Messages that processes receive from the server. */
class Messages implements AsyncDisposable {
  readonly #bench: Bench;
  readonly #client: Client;
  #got: string[] = [];

  private constructor(bench: Bench, client: Client) {
    this.#bench = bench;
    this.#client = client;
  }

  static async of(bench: Bench, url: string): Promise<Messages> {
    return new Messages(bench, await connectClient(url));
  }

  /** Makes owners idle one after another, by asking for items while there are none. */
  async idle(...owners: string[]): Promise<void> {
    for (const owner of owners) {
      await this.#client.subscribe(this.#channelOf(owner), (message) => {
        this.#got.push(`${owner}: ${message === "" ? "now" : Math.round(Number(message) / 1000)}`);
      });
      assertEquals(keysOf(await this.#bench.take(owner)), []);
    }
  }

  #channelOf(owner: string): string {
    return `workqueue:{${this.#bench.name}}:wake:process of ${owner}`;
  }

  /** Unsubscribes a process, so that its messages have no receiver. */
  async kill(owner: string): Promise<void> {
    await this.#client.unsubscribe(this.#channelOf(owner));
  }

  /** Returns the messages since the last call, each with its delay in milliseconds. */
  async read(): Promise<string[]> {
    await this.#client.ping(); // the server sends earlier messages before this reply
    return this.#got.splice(0);
  }

  // deno-lint-ignore require-await -- asynchronous disposal
  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
  }
}

function dueTest(name: string, run: (bench: Bench, messages: Messages) => Promise<void>): void {
  engineTest(`rule 15, due: ${name}`, async (bench, _, url) => {
    await using messages = await Messages.of(bench, url);
    await run(bench, messages);
  });
}

dueTest("of many idle processes, two are woken, the second one 50 ms later", async (bench, messages) => {
  await messages.idle(...Array.from({ length: 500 }, (_, i) => `${i}`));
  await bench.addAfter(1000, "a");
  assertEquals(await messages.read(), ["0: 1000", "1: 1050"]);
  await bench.addAfter(2000, "later");
  assertEquals(await messages.read(), [], "those who come at 1000 learn of it then");
  await bench.addAfter(300, "sooner");
  assertEquals(await messages.read(), ["0: 300", "1: 350"]);
});

dueTest("a process that takes due items leaves the next ones to others", async (bench, messages) => {
  await messages.idle("one", "two", "three");
  await bench.addAfter(1000, "a", "b");
  await messages.read();
  await bench.pass(1001);
  assertEquals(keysOf(await bench.take("one")), ["a"]);
  assertEquals(await messages.read(), ["three: now"], "as b is ready");
  await bench.take("three");
  await bench.addAfter(1000, "c");
  assertEquals(await messages.read(), [], "two looks 50 ms after the first key was due");
  await bench.pass(50);
  assertEquals((await bench.take("two")).pauseMs?.toFixed(), "950");
  await bench.take("one", 1, 1);
  await bench.addAfter(500, "d");
  assertEquals(await messages.read(), ["two: 500", "one: 550"]);
});

dueTest(
  "an idle process checks for due items by itself only if it is one of the two processes that check",
  async (bench, messages) => {
    await bench.addAfter(1000, "a");
    const pauses: (number | undefined)[] = [];
    for (const owner of ["one", "two", "three"]) pauses.push((await bench.take(owner)).pauseMs);
    assertEquals(pauses.map((pause) => pause && Math.round(pause)), [1000, 1050, undefined]);
    await messages.idle("one");
    assertEquals((await bench.take("one")).pauseMs?.toFixed(), "1000", "it keeps its place");
  },
);

dueTest(
  "another process is woken when one of the two processes that check leaves or disappears",
  async (bench, messages) => {
    await messages.idle("one", "two", "three", "four");
    await bench.addAfter(1000, "a");
    await messages.read();
    await bench.engine.leave("process of one", "one");
    assertEquals(await messages.read(), ["two: 1000", "three: 1050"]);
    await messages.kill("two");
    await bench.addAfter(500, "b");
    assertEquals(await messages.read(), ["three: 500", "four: 550"]);
  },
);

dueTest(
  "for a retry that is blocked while its key is processing, the two processes check when there is budget",
  async (bench, messages) => {
    await bench.engine.limitRetries({ ratio: 0, minRate: 10 });
    await addRateLimited(bench.engine, { key: "a", payload: "" });
    await bench.pass(11);
    const { taken: [a] } = await bench.take("worker"); // a retry: the next is allowed 100 ms later
    await addRateLimited(bench.engine, { key: "a", payload: "" });
    await bench.pass(30);
    await bench.engine.counts();
    await messages.idle("one", "two", "three");
    assertEquals(await messages.read(), []);
    assertEquals(await bench.finish("a", a!.token, "done"), true);
    assertEquals(await messages.read(), ["one: 70", "two: 120"]);
    await bench.engine.limitRetries({ ratio: 0, minRate: 20 });
    assertEquals(await messages.read(), ["one: 20", "two: 70"]);
    await bench.pass(20);
    assertEquals(keysOf(await bench.take("one")), ["a"]);
  },
);

dueTest(
  "a process that was woken and did not check is woken once more, and so is the next one",
  async (bench, messages) => {
    await messages.idle("lost", "two", "three");
    await bench.addAfter(1000, "a");
    await messages.read();
    await bench.pass(1051);
    assertEquals(keysOf(await bench.take("two")), ["a"], "50 ms late");
    await bench.turn("two", [], 1, 1);
    await bench.pass(100);
    await bench.addAfter(1000, "b");
    assertEquals(await messages.read(), ["lost: 1000", "three: 1050"]);
  },
);

engineTest(
  "due: two idle processes check often enough to end short leases, also leases of later owners",
  async (bench) => {
    const pauses: (number | undefined)[] = [];
    for (const owner of ["one", "two", "three"]) pauses.push((await bench.take(owner)).pauseMs);
    assertEquals(pauses, [1000, 1000, undefined]);
  },
  { leaseDuration: 3000 },
);

dueTest(
  "due: no process is woken while the queue is paused, and resuming wakes all of them",
  async (bench, messages) => {
    await messages.idle("one", "two", "three");
    await bench.engine.pause();
    await bench.addAfter(1000, "a");
    assertEquals(await messages.read(), []);
    await bench.engine.resume();
    assertEquals(new Set(await messages.read()), new Set(["one: now", "two: now", "three: now"]));
  },
);

redisTest("due: queues that no longer want items leave a delayed item to others", async ({ url }) => {
  const name = uniqueName("queue");
  await using stack = new AsyncDisposableStack();
  const aborts: AbortController[] = [];
  let order = "";
  for (let i = 0; i < 4; i++) {
    const { queue } = stack.use(open(url, name));
    const abort = new AbortController();
    aborts.push(abort);
    void queue.get({ signal: abort.signal }).then((lease) => {
      order += lease.shutdown ? "" : `${i}`;
      return lease.shutdown ? undefined : lease.finish();
    }, () => {});
    const key = `workqueue:{${name}}:idle`;
    await until(async () => await callRedis(url, "ZCARD", key) === i + 1);
  }
  await using producer = open(url, name);
  await producer.queue.addAfter("a", 1500);
  aborts[0]!.abort();
  aborts[1]!.abort();
  await until(async () => await callRedis(url, "ZCARD", `workqueue:{${name}}:idle`) === 2);
  const looks = await callRedis(url, "HKEYS", `workqueue:{${name}}:looks`) as string[];
  assertEquals(looks.length, 2, "two others were woken");
  await until(() => order !== "");
  assert("23".includes(order));
});

serverTest(
  "rule 15: an item with a delay costs two publishes and two checks, however many queues are idle",
  async () => {
    await using server = await RedisServer.start();
    const name = uniqueName("queue");
    await using producer = open(server.url, name);
    await using stack = new AsyncDisposableStack();
    const COUNT = 300;
    let taken = 0;
    for (let i = 0; i < COUNT; i++) {
      const { queue } = stack.use(open(server.url, name));
      void queue.get().then((lease) => {
        if (lease.shutdown) return;
        taken++;
        return lease.finish();
      });
    }
    const key = `workqueue:{${name}}:idle`;
    await until(async () => await callRedis(server.url, "ZCARD", key) === COUNT);
    const publishes = async () => {
      const info = String(await callRedis(server.url, "INFO", "commandstats"));
      return Number(info.match(/^cmdstat_publish:calls=(\d+)/m)?.[1] ?? 0);
    };
    await producer.queue.counts(); // its first call puts its definition in force
    const before = [await countCalls(server.url), await publishes()];
    await producer.queue.addAfter("a", 100);
    await until(() => taken === 1);
    const time = async () => {
      const [seconds, micros] = await callRedis(server.url, "TIME") as string[];
      return Number(seconds) * 1000 + Number(micros) / 1000;
    };
    const end = await time() + 100; // after this time, the second process has checked the queue
    await until(async () => await time() > end);
    const after = [await countCalls(server.url), await publishes()];
    const [calls, sent] = after.map((count, i) => count - before[i]!);
    assert(calls! <= 4 && sent! <= 2, `${calls} scripts, add and finish among them, and ${sent} publishes`);
  },
);
