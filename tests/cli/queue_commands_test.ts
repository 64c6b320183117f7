/** Tests of the commands that use a queue that processes share, with a real server and files. */

import { assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { Cluster } from "../redis/clusters.ts";
import { redisTest, serverTest, type SharedServer, uniqueName } from "../redis/redis_tests.ts";
import { someRuntimes, until, Workspace } from "./cli.ts";
import { queueTest } from "./queue_tests.ts";

for (const runtime of Object.keys(someRuntimes)) {
  queueTest(`queue commands, ${runtime}: push adds lines, and status counts them`, async ({ args: queue }) => {
    await using workspace = new Workspace(runtime);
    const pushed = await workspace.run(["push", ...queue], "a\nb\n\na\n");
    assertEquals(pushed, { code: 0, stdout: "", stderr: "Added 3 lines: 2 items, 1 folded.\n" });
    const again = await workspace.run(["push", ...queue], "b\na\nb\n");
    assertEquals(again.stderr, "Added 3 lines: 0 items, 3 folded.\n");
    workspace.write("later", "c\0");
    const later = ["--input", "later", "-0", "--delay", "1h", "--priority", "3", "--quiet"];
    assertEquals(await workspace.run(["push", ...queue, ...later]), { code: 0, stdout: "", stderr: "" });

    const { code, stdout } = await workspace.run(["status", ...queue, "--json"]);
    const { ready, delayed, readyItems, delayedItems } = JSON.parse(stdout);
    assertEquals([code, ready, delayed], [0, 2, 1]);
    assertEquals(readyItems.map(({ item }: { item: string }) => item), ["a", "b"]);
    assertEquals([delayedItems[0].item, delayedItems[0].priority], ["c", 3]);
    const text = await workspace.run(["status", ...queue]);
    assertMatch(text.stdout, /^Ready {7}2, the oldest for .+\nBlocked {5}0\nDelayed {5}1, the next is due in .+$/m);
  });
}

redisTest(
  "queue commands: push waits until the queue is short enough, and refuses invalid lines",
  async ({ url, call }) => {
    await using workspace = new Workspace();
    const queue = ["--redis", url, "--queue", uniqueName("short")];
    const bytes = new Uint8Array([...new TextEncoder().encode("a\nb\n"), 0xff, 0x0a]);
    const { code, stderr } = await workspace.run(["push", ...queue, "--when-below", "9"], bytes);
    assertEquals({ code, stderr }, { code: 1, stderr: "Refused (not UTF-8): line 3\nAdded 2 lines.\n" });
    const before = await scriptsRun(call);
    const waiting = await workspace.start(["push", ...queue, "--when-below", "2"], "c\n");
    const { createRedisQueue } = await import("@workqueue/redis");
    const own = createRedisQueue({ name: queue[3]!, url });
    // A command that doesn't wait runs two scripts: it adds the line and leaves. Each look at the queue runs one more.
    await until(async () => await scriptsRun(call) >= before + 4, "the command has looked at the queue several times");
    assertEquals((await own.counts()).ready, 2);
    for (let i = 0; i < 2; i++) {
      const lease = await own.get();
      if (!lease.shutdown) await lease.finish();
    }
    assertEquals((await waiting.ended).code, 0);
    await own.shutDownWithDrain();
  },
);

queueTest("queue commands: pause applies to all processes until resume", async (shared) => {
  await using workspace = new Workspace();
  await using queue = shared.open();
  await queue.add("a");
  const paused = await workspace.run(["pause", ...shared.args]);
  assertEquals([paused.code, paused.stderr], [0, ""]);
  assertMatch(paused.stdout, /^Paused '.+': no process takes items until it is resumed\.\n$/);
  const taken = queue.get();
  assertMatch((await workspace.run(["status", ...shared.args])).stdout, /^State {7}paused\nReady {7}1,/m);
  assertMatch((await workspace.run(["resume", ...shared.args])).stdout, /^Resumed '.+'\.\n$/);
  assertMatch((await workspace.run(["resume", ...shared.args])).stdout, /^'.+' was not paused\.\n$/);
  const lease = await taken;
  assertFalse(lease.shutdown);
  assertEquals(lease.item, "a");
  await lease.finish();
});

queueTest("queue commands: cancel takes an item out, and aborts a running attempt", async (shared) => {
  await using workspace = new Workspace();
  await using queue = shared.open();
  await queue.add("a");
  await queue.addAfter("b", "1h");
  const cancel = (key: string, ...args: string[]) => workspace.run(["cancel", key, ...shared.args, ...args]);
  const lease = await queue.get();
  assertFalse(lease.shutdown);
  assertEquals(await cancel("b"), { code: 0, stdout: "Cancelled b: it was delayed.\n", stderr: "" });
  assertEquals(await cancel("a", "--reason", "too old"), {
    code: 0,
    stdout: "Cancelled a: the process that works on it is told, and it is not retried.\n",
    stderr: "",
  });
  await until(() => lease.signal.aborted, "the process is told");
  assertEquals([lease.signal.reason, await lease.finish({ requeue: true })], ["too old", true]);
  const { code, stdout } = await cancel("a");
  assertEquals(code, 1);
  assertMatch(stdout, /^a is neither waiting nor running in '.+'\.\n$/);
});

Deno.test("queue commands: a missing file is neither paused nor created", async () => {
  await using workspace = new Workspace();
  for (const command of ["pause", "resume"]) {
    const { code, stderr } = await workspace.run([command, "--queue", "none.db"]);
    assertEquals([code, stderr], [2, "workqueue: Cannot use 'none.db': there is no such file\n"]);
  }
});

queueTest("queue commands: status lists groups with blocked items, and the reason", async (shared) => {
  await using workspace = new Workspace();
  await using queue = shared.open({ discipline: { type: "fair", separator: "/", maxPerGroup: 1 } });
  await queue.addAll(["a/1", "a/2", "b/1", "b/2"]);
  await queue.pauseGroup("b", "1h");
  const lease = await queue.get();
  const { stdout } = await workspace.run(["status", ...shared.args]);
  assertStringIncludes(
    stdout,
    "Blocked     3\n  2 of b: the group is paused\n  1 of a: as many of the group are processing as may be\n",
  );
  if (!lease.shutdown) await lease.finish();
});

queueTest(
  "queue commands: status shows the age of the oldest item, also if only blocked items are left",
  async (shared) => {
    await using workspace = new Workspace();
    await using queue = shared.open({ discipline: { type: "fair", separator: "/" } });
    const oldest = async () => {
      const { stdout } = await workspace.run(["status", ...shared.args]);
      return stdout.split("\n").filter((line) => /^(Ready|Blocked|Oldest) /.test(line))
        .map((line) => line.replace(/[0-9.]+ m?s$/, "TIME"));
    };
    await queue.addAll(["a/1", "b/1"]);
    assertEquals(await oldest(), ["Ready       2, the oldest for TIME", "Blocked     0"]);
    await queue.pauseGroup("a", "1h");
    assertEquals(await oldest(), ["Ready       1", "Blocked     1", "Oldest      ready or blocked for TIME"]);
    await queue.cancel("b/1");
    assertEquals(await oldest(), ["Ready       0", "Blocked     1", "Oldest      ready or blocked for TIME"]);
  },
);

queueTest("queue commands: status shows how many retries wait for the retry budget", async (shared) => {
  await using workspace = new Workspace();
  const limiter = { type: "exponential", baseDelay: 1, maxDelay: 1 } as const;
  await using queue = shared.open({ limiter, retryBudget: { ratio: 0, minRate: 0 } });
  for (const item of ["a", "b"]) await queue.addRateLimited(item);
  await until(async () => (await queue.counts()).blocked === 2, "both retries are blocked");
  const { stdout } = await workspace.run(["status", ...shared.args]);
  assertStringIncludes(stdout, "Blocked     2\n  2 retries wait for the retry budget\n");
});

serverTest("queue commands: a queue with partitions on a cluster can be filled, worked on and shown", async () => {
  await using cluster = await Cluster.start();
  await using workspace = new Workspace();
  const queue = ["--redis", cluster.urls[0]!, "--cluster", "--queue", uniqueName("spread"), "--partitions", "4"];
  assertEquals((await workspace.run(["push", ...queue], "a\nb\nc\nd\n")).stderr, "Added 4 lines.\n");
  assertMatch((await workspace.run(["status", ...queue])).stdout, /^Ready {7}4/m);
  const { code, stdout } = await workspace.run([
    "work",
    ...queue,
    "--until-empty",
    "--retries",
    "0",
    "--",
    "sh",
    "-c",
    '[ "$1" != a ] && echo "$1"',
    "sh",
  ]);
  assertEquals([code, stdout.split("\n").toSorted()], [1, ["", "b", "c", "d"]]);
  assertMatch((await workspace.run(["dead", "list", ...queue])).stdout, /^a: /);
});

redisTest("queue commands: an environment variable may name the server", async ({ url }) => {
  await using workspace = new Workspace();
  const { code } = await workspace.run(["status", "--queue", "q"], "", `WORKQUEUE_REDIS='${url}' "$@"`);
  assertEquals(code, 0);
});

/** Returns how many scripts the server has run. */
async function scriptsRun(call: SharedServer["call"]): Promise<number> {
  const statistics = String(await call("INFO", "commandstats"));
  const calls = Array.from(
    statistics.matchAll(/^cmdstat_(?:eval|evalsha):calls=(\d+)/gm),
    ([, count]) => Number(count),
  );
  return calls.reduce((sum, count) => sum + count, 0);
}

const WRONG: Record<string, [args: string[], message: string]> = {
  "no queue": [["--redis", "redis://localhost"], "required option '--queue <queue>' not specified"],
  "a URL of another protocol": [["--redis", "http://localhost", "--queue", "q"], "must begin with redis://"],
  "a queue with braces": [["--redis", "redis://localhost", "--queue", "{q}"], "non-empty string without braces"],
  "certificates that are not there": [
    ["--redis", "rediss://localhost", "--queue", "q", "--ca", "nope.pem"],
    "Cannot read certificate 'nope.pem': there is no such file",
  ],
  "certificates without TLS": [["--redis", "redis://localhost", "--queue", "q", "--ca", "list"], "'tls.ca' must be"],
};

for (const [name, [args, message]] of Object.entries(WRONG)) {
  Deno.test(`queue commands: ${name} is refused`, async () => {
    await using workspace = new Workspace();
    workspace.write("list", "a\n");
    for (const command of ["push", "status"]) {
      const { code, stderr } = await workspace.run([command, ...args], "a\n");
      assertEquals(code, 2, stderr);
      assertStringIncludes(stderr, message);
    }
    const { code, stderr } = await workspace.run(["work", ...args, "--", "true"]);
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, message);
  });
}
