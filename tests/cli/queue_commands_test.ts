/** Tests of the commands that use a queue on Redis, with a real server. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { redisTest, type SharedServer, uniqueName } from "../redis/redis_tests.ts";
import { runtimes, until, Workspace } from "./cli.ts";

for (const runtime of Object.keys(runtimes)) {
  redisTest(`queue commands, ${runtime}: push adds lines, which status counts`, async ({ url }) => {
    await using workspace = new Workspace(runtime);
    const queue = ["--redis", url, "--queue", uniqueName("pushed")];
    const pushed = await workspace.run(["push", ...queue], "a\nb\n\na\n");
    assertEquals(pushed, { code: 0, stdout: "", stderr: "Added 3 lines.\n" });
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

redisTest("queue commands: push waits until the queue is short enough, and refuses lines", async ({ url, call }) => {
  await using workspace = new Workspace();
  const queue = ["--redis", url, "--queue", uniqueName("short")];
  const bytes = new Uint8Array([...new TextEncoder().encode("a\nb\n"), 0xff, 0x0a]);
  const { code, stderr } = await workspace.run(["push", ...queue, "--when-below", "9"], bytes);
  assertEquals({ code, stderr }, { code: 1, stderr: "Refused (not UTF-8): line 3\nAdded 2 lines.\n" });
  const before = await scriptsRun(call);
  const waiting = await workspace.start(["push", ...queue, "--when-below", "2"], "c\n");
  const { createRedisQueue } = await import("@workqueue/redis");
  const own = createRedisQueue({ name: queue[3]!, url });
  // A command that doesn't wait runs two scripts: it adds the line and leaves. Each look at the queue runs another one.
  await until(async () => await scriptsRun(call) >= before + 4, "the command has looked at the queue several times");
  assertEquals((await own.counts()).ready, 2);
  for (let i = 0; i < 2; i++) {
    const lease = await own.get();
    if (!lease.shutdown) await lease.finish();
  }
  assertEquals((await waiting.ended).code, 0);
  await own.shutDownWithDrain();
});

redisTest("queue commands: status lists groups with blocked items, and why", async ({ url }) => {
  await using workspace = new Workspace();
  const name = uniqueName("grouped");
  const { createRedisQueue } = await import("@workqueue/redis");
  await using queue = createRedisQueue({ name, url, discipline: { type: "fair", separator: "/", maxPerGroup: 1 } });
  await queue.addAll(["a/1", "a/2", "b/1", "b/2"]);
  await queue.pauseGroup("b", "1h");
  const lease = await queue.get();
  const { stdout } = await workspace.run(["status", "--redis", url, "--queue", name]);
  assertStringIncludes(
    stdout,
    "Blocked     3\n  2 of b: the group is paused\n  1 of a: as many of the group are processing as may be\n",
  );
  if (!lease.shutdown) await lease.finish();
});

redisTest("queue commands: the server may be named by a variable", async ({ url }) => {
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
  "no queue": [["--redis", "redis://localhost"], "required option '--queue <name>' not specified"],
  "a URL of another protocol": [["--redis", "http://localhost", "--queue", "q"], "must begin with redis://"],
  "a queue with braces": [["--redis", "redis://localhost", "--queue", "{q}"], "non-empty string without braces"],
  "certificates that are not there": [
    ["--redis", "rediss://localhost", "--queue", "q", "--ca", "nope.pem"],
    "Cannot read certificate 'nope.pem': there is no such file",
  ],
  "certificates without TLS": [["--redis", "redis://localhost", "--queue", "q", "--ca", "list"], "'tls.ca' must be"],
};

redisTest(
  "queue commands: workers share a queue, and none of its items is lost with a killed one",
  async ({ url, call }) => {
    await using workspace = new Workspace("Deno");
    await using other = new Workspace("Bun");
    const queue = ["--redis", url, "--queue", uniqueName("shared")];
    const done = `${workspace.directory}/done`;
    await workspace.run(["push", ...queue], "a\nb\nhang\nc\nd\n");
    // The first attempt of one item hangs until its worker is killed.
    const script =
      `if [ "$1" = hang ] && mkdir '${done}.hung' 2>&-; then echo hung; sleep 60; fi; echo "$1" >> '${done}'`;
    const work = ["work", ...queue, "-j1", "--config", "short.json", "--", "sh", "-c", script, "sh"];
    const config = JSON.stringify({ queues: { [queue[3]!]: {} } });
    for (const place of [workspace, other]) place.write("short.json", config);
    const killed = await workspace.start(work);
    await until(() => killed.stdout.includes("hung"), "the item hangs");
    killed.kill("SIGKILL");
    await killed.ended;
    const owners = `workqueue:{${queue[3]}}:owners`;
    for (const owner of await call("ZRANGE", owners, "0", "-1") as string[]) await call("ZADD", owners, "2", owner);
    work.splice(1, 0, "--until-empty");
    assertEquals((await other.run(work)).code, 0);
    assertEquals(workspace.read("done").split("\n").sort().join(""), "abcdhang");
  },
);

redisTest("queue commands: work retries an item, gives it up, and ends when the queue is empty", async ({ url }) => {
  await using workspace = new Workspace();
  const queue = ["--redis", url, "--queue", uniqueName("failing")];
  await workspace.run(["push", ...queue], "good\nbad\n");
  const options = ["--until-empty", "--retries", "1", "--backoff", "1ms..1ms", "-j1"];
  const script = 'echo "$1 $WORKQUEUE_ATTEMPT"; [ "$1" = good ] || { echo broken >&2; exit 7; }';
  const { code, stdout } = await workspace.run(["work", ...queue, ...options, "--", "sh", "-c", script, "sh", "{}"]);
  assertEquals([code, stdout.trim().split("\n").sort()], [1, ["bad 1", "bad 2", "good 1"]]);
  const dead = await workspace.run(["dead", "list", ...queue]);
  assertMatch(dead.stdout, /^bad: .*broken \(2 attempts, maxRetries, /);
});

redisTest("queue commands: work hands items back on the second SIGTERM", async ({ url }) => {
  await using workspace = new Workspace();
  const queue = ["--redis", url, "--queue", uniqueName("stopped")];
  await workspace.run(["push", ...queue], "a\nb\n");
  const script = "echo begun; sleep 60";
  const worker = await workspace.start(["work", ...queue, "-j1", "--backoff", "1h..1h", "--", "sh", "-c", script]);
  await until(() => worker.stdout.includes("begun"), "a command runs");
  worker.kill("SIGTERM");
  await until(() => worker.stderr.includes("Another SIGTERM kills it"), "the worker waits");
  worker.kill("SIGTERM");
  const { code, stderr } = await worker.ended;
  assertEquals(code, 143);
  assertStringIncludes(stderr, "Unfinished items are in the queue again.");
  const { stdout } = await workspace.run(["status", ...queue, "--json"]);
  const { ready, delayed, processing, givenUp } = JSON.parse(stdout);
  assertEquals({ left: ready + delayed, processing, givenUp }, { left: 2, processing: 0, givenUp: 0 });
});

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
