/** Tests of `workqueue copy`, with a real server and files. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { RetryAfterError, runWorkers, TerminalError } from "@workqueue/core";
import type { RemoteQueue } from "@workqueue/engine";
import { createRedisQueue } from "@workqueue/redis";
import { createSqliteQueue } from "@workqueue/sqlite";
import { redisTest, uniqueName } from "../redis/redis_tests.ts";
import { someRuntimes, until, Workspace } from "./cli.ts";

/** Two queues of a test. */
interface Ends {
  /** Operands of the command. */
  readonly from: string;
  readonly to: string;
  openFrom(): RemoteQueue;
  openTo(): RemoteQueue;
}

const KINDS = [["file", "Redis"], ["Redis", "file"], ["file", "file"], ["Redis", "Redis"]] as const;

/** Registers a test for each pair of kinds of queues. */
function copyTest(
  name: string,
  run: (workspace: Workspace, ends: Ends) => Promise<void>,
  runtime?: string,
  kinds: readonly (typeof KINDS[number])[] = KINDS,
): void {
  for (const [one, other] of kinds) {
    redisTest(`copy: ${name} (${one} to ${other}${runtime === undefined ? "" : `, ${runtime}`})`, async ({ url }) => {
      await using workspace = new Workspace(runtime);
      const end = (kind: string, n: number) => {
        const name = kind === "file" ? "jobs" : uniqueName("copy");
        const path = `${workspace.directory}/copy${n}.db`;
        return kind === "file"
          ? { text: `copy${n}.db#jobs`, open: () => createSqliteQueue({ name, path }) as RemoteQueue }
          : { text: `${url}#${name}`, open: () => createRedisQueue({ name, url }) as RemoteQueue };
      };
      const [from, to] = [end(one, 1), end(other, 2)];
      await run(workspace, { from: from.text, to: to.text, openFrom: from.open, openTo: to.open });
    });
  }
}

/** Fills a queue with items in each state, except for those that are processing. */
async function fill(queue: RemoteQueue): Promise<void> {
  const pool = runWorkers(queue, (item) => {
    throw item === "dead" ? new TerminalError("no such file") : new RetryAfterError("1h", "try later");
  }, { onError() {}, onGiveUp() {} });
  await queue.addAll(["fails", "dead"]);
  await until(async () => {
    const { delayed, givenUp } = await queue.counts();
    return delayed + givenUp === 2;
  }, "both have failed");
  await pool.stop();
  await queue.addAll(["b", "a", "c"]);
  await queue.add("urgent", { priority: 7 });
  await queue.addAfter("later", "2h", { priority: 3 });
}

async function contentsOf(queue: RemoteQueue): Promise<unknown> {
  const { ready, delayed, failing, givenUp, readyItems, delayedItems, failingItems } = await queue.snapshot();
  const dead = (await queue.givenUp()).items.map((
    { item, error, attempts, reason },
  ) => [item, error, attempts, reason]);
  return {
    counts: { ready, delayed, failing, givenUp },
    readyItems,
    delayed: delayedItems.map(({ item, priority, dueInMs }) => [item, priority, Math.round(dueInMs / 60_000)]),
    failing: failingItems.map(({ item, attempts, error }) => [item, attempts, error]),
    dead,
  };
}

for (const runtime of Object.keys(someRuntimes)) {
  copyTest(
    "items keep their places, priorities, delays and failures",
    async (workspace, ends) => {
      await using from = ends.openFrom();
      await fill(from);
      const before = await contentsOf(from);
      const { code, stdout, stderr } = await workspace.run(["copy", ends.from, ends.to]);
      assertEquals([code, stderr], [0, ""]);
      assertMatch(
        stdout,
        /^Copied 6 items and 1 given-up item\.\n'.+' stays paused, so that no item runs twice\. To res/,
      );
      await using to = ends.openTo();
      assertEquals(await contentsOf(to), before);
      assertEquals(await contentsOf(from), before);
      assertEquals([(await from.snapshot()).paused, (await to.snapshot()).paused], [true, false]);
      const resume = stdout.match(/workqueue (resume .+)/)![1]!.replaceAll("'", "").split(" ");
      assertEquals((await workspace.run(resume)).code, 0);
      assertEquals((await from.snapshot()).paused, false);
    },
    runtime,
  );
}

copyTest("a target with items is refused, unless an option allows them", async (workspace, ends) => {
  await using from = ends.openFrom();
  await using to = ends.openTo();
  await from.addAll(["a", "b"]);
  await to.add("b", { priority: 5 });
  await to.add("c");
  const refused = await workspace.run(["copy", ends.from, ends.to]);
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertStringIncludes(refused.stderr, "the target is not empty: it has 2 items; to add to these items, or to go on");
  assertEquals([(await from.snapshot()).paused, (await to.snapshot()).paused], [false, false]);
  assertEquals((await workspace.run(["copy", ends.from, ends.to, "--merge", "--paused", "--quiet"])).stdout, "");
  const { readyItems, paused } = await to.snapshot();
  assertEquals(readyItems.map(({ item, priority }) => [item, priority]).sort(), [["a", 0], ["b", 5], ["c", 0]]);
  assertEquals(paused, true);
});

copyTest("items that are processing are refused, unless an option includes them", async (workspace, ends) => {
  await using from = ends.openFrom();
  await from.addAll(["a", "b"]);
  const lease = await from.get();
  const refused = await workspace.run(["copy", ends.from, ends.to]);
  assertEquals(refused.code, 2);
  assertStringIncludes(
    refused.stderr,
    "1 item of the source is processing; wait until they have ended, or give --proc",
  );
  assertEquals((await from.snapshot()).paused, false);
  assertEquals((await workspace.run(["copy", ends.from, ends.to, "--processing"])).code, 0);
  await using to = ends.openTo();
  assertEquals((await to.snapshot()).readyItems.map(({ item }) => item).sort(), ["a", "b"]);
  if (!lease.shutdown) await lease.finish();
});

copyTest(
  "a copy that was killed can continue, and copies each item once",
  async (workspace, ends) => {
    const items = Array.from({ length: 10_000 }, (_, i) => `item ${i}`);
    await using from = ends.openFrom();
    await from.addAll(items);
    {
      await using to = ends.openTo(); // creates a file
      await to.counts();
      const copy = await workspace.start(["copy", ends.from, ends.to]);
      await until(async () => (await to.counts()).ready > 0, "the copy has begun");
      copy.kill("SIGKILL");
      await copy.ended;
      const { ready, paused } = await to.snapshot({ limit: 0 });
      assert(ready < items.length, "it was killed in the middle");
      assertEquals(paused, true, "no item runs before all are there");
    }
    const { code, stdout } = await workspace.run(["copy", ends.from, ends.to, "--merge"]);
    assertEquals(code, 0);
    assertStringIncludes(stdout, "Copied 10,000 items and 0 given-up items.");
    await using to = ends.openTo();
    const { ready, paused, readyItems } = await to.snapshot({ limit: 1000 });
    assertEquals([ready, paused], [items.length, false]);
    assertEquals(readyItems.map(({ item }) => item), items.slice(0, 1000));
  },
  undefined,
  KINDS.slice(0, 2),
);

copyTest(
  "a copy that is interrupted says how to continue",
  async (workspace, ends) => {
    await using from = ends.openFrom();
    await from.addAll(Array.from({ length: 10_000 }, (_, i) => `item ${i}`));
    await using to = ends.openTo();
    const copy = await workspace.start(["copy", ends.from, ends.to, "--to-partitions", "1", "--paused"]);
    await until(async () => (await to.counts()).ready > 0, "the copy has begun");
    copy.kill("SIGINT");
    const { code, stderr } = await copy.ended;
    assertEquals(code, 130);
    const said = /^Interrupted\. Both queues stay paused\. To go on: workqueue (copy .+)\n$/.exec(stderr);
    const again = said![1]!.replaceAll("'", "").split(" ");
    assertEquals(again, ["copy", ends.from, ends.to, "--to-partitions", "1", "--paused", "--merge"]);
    const { stdout } = await workspace.run(again);
    assertStringIncludes(stdout, "Copied 10,000 items");
    assertEquals((await to.snapshot({ limit: 0 })).paused, true);
  },
  undefined,
  KINDS.slice(0, 1),
);

redisTest("copy: queues with partitions are copied, to other numbers of partitions", async ({ url }) => {
  await using workspace = new Workspace();
  const [name, other] = [uniqueName("parts"), uniqueName("parts")];
  await using from = createRedisQueue({ name, url, partitions: 3 });
  await using to = createRedisQueue({ name: other, url, partitions: 5 });
  const items = Array.from({ length: 500 }, (_, i) => `item ${i}`);
  await from.addAll(items);
  const queues = [name, other, "--redis", url, "--from-partitions", "3", "--to-partitions", "5"];
  const { code, stdout } = await workspace.run(["copy", ...queues]);
  assertEquals(code, 0);
  const { ready, readyItems } = await to.snapshot({ limit: 1000 });
  assertEquals([ready, readyItems.map(({ item }) => item).sort()], [500, items.toSorted()]);
  const resume = /workqueue (resume .+)/.exec(stdout)![1]!.replaceAll("'", "").split(" ");
  assertEquals(await workspace.run(resume), { code: 0, stdout: `Resumed '${name}'.\n`, stderr: "" });
});

Deno.test("copy: payloads of programs are copied", async () => {
  await using workspace = new Workspace();
  interface Job {
    readonly id: string;
    readonly size: number;
  }
  const open = (file: string) => {
    return createSqliteQueue<Job>({ name: "jobs", path: `${workspace.directory}/${file}`, keyOf: ({ id }) => id });
  };
  await using from = open("from.db");
  await from.add({ id: "a", size: 3 });
  assertEquals((await workspace.run(["copy", "from.db", "to.db#jobs"])).code, 0);
  await using to = open("to.db");
  assertEquals((await to.snapshot()).readyItems.map(({ item }) => item), [{ id: "a", size: 3 }]);
});

const WRONG: Record<string, [args: string[], message: string]> = {
  "a file that is not there": [["none.db", "to.db"], "Cannot use 'none.db': there is no such file"],
  "one queue": [["jobs.db", "jobs.db#default"], "both are the same queue"],
  "a server, if both are files": [["jobs.db", "to.db", "--redis", "redis://localhost"], "both queues are in files"],
  "partitions of a file": [["jobs.db", "to.db", "--to-partitions", "2"], "Cannot use --to-partitions: 'to.db' is a f"],
  "a server without a queue": [["jobs.db", "redis://localhost#"], "write its name after #"],
};

for (const [name, [args, message]] of Object.entries(WRONG)) {
  Deno.test(`copy: ${name} is refused`, async () => {
    await using workspace = new Workspace();
    await workspace.run(["push", "--queue", "jobs.db"], "a\n");
    const { code, stdout, stderr } = await workspace.run(["copy", ...args]);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, message);
    const { stdout: status } = await workspace.run(["status", "--queue", "jobs.db"]);
    assertMatch(status, /^Ready {7}1/m);
    assert(!status.includes("paused"));
  });
}
