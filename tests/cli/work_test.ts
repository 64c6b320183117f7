/** Tests of `workqueue work`, with real processes, servers and files. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { RedisServer } from "../redis/server.ts";
import { serverTest } from "../redis/redis_tests.ts";
import { type Cli, until, Workspace } from "./cli.ts";
import { queueTest } from "./queue_tests.ts";

queueTest(
  "work: a killed worker loses no item",
  async (shared) => {
    await using workspace = new Workspace("Deno");
    await using other = new Workspace("Bun");
    const queue = shared.args;
    const done = `${workspace.directory}/done`;
    await workspace.run(["push", ...queue], "a\nb\nhang\nc\nd\n");
    // The first attempt of one item hangs until its worker is killed.
    const script =
      `if [ "$1" = hang ] && mkdir '${done}.hung' 2>&-; then echo hung; sleep 60; fi; echo "$1" >> '${done}'`;
    const work = ["work", ...queue, "-j1", "--config", "short.json", "--", "sh", "-c", script, "sh"];
    const config = JSON.stringify({ queues: { [shared.name]: {} } });
    for (const place of [workspace, other]) place.write("short.json", config);
    const killed = await workspace.start(work);
    await until(() => killed.stdout.includes("hung"), "the item hangs");
    killed.kill("SIGKILL");
    await killed.ended;
    await shared.expireLeases();
    work.splice(1, 0, "--until-empty");
    assertEquals((await other.run(work)).code, 0);
    assertEquals(workspace.read("done").split("\n").sort().join(""), "abcdhang");
  },
);

queueTest("work: it retries an item, gives it up, and ends when the queue is empty", async (shared) => {
  await using workspace = new Workspace();
  const queue = shared.args;
  await workspace.run(["push", ...queue], "good\nbad\n");
  const options = ["--until-empty", "--retries", "1", "--backoff", "1ms..1ms", "-j1"];
  const script = 'echo "$1 $WORKQUEUE_ATTEMPT"; [ "$1" = good ] || { echo broken >&2; exit 7; }';
  const { code, stdout } = await workspace.run(["work", ...queue, ...options, "--", "sh", "-c", script, "sh", "{}"]);
  assertEquals([code, stdout.trim().split("\n").sort()], [1, ["bad 1", "bad 2", "good 1"]]);
  const dead = await workspace.run(["dead", "list", ...queue]);
  assertMatch(dead.stdout, /^bad: .*broken \(2 attempts, maxRetries, /);
});

queueTest("work: it hands items back on the second SIGTERM", async (shared) => {
  await using workspace = new Workspace();
  const queue = shared.args;
  await workspace.run(["push", ...queue], "a\nb\n");
  const script = "echo begun; sleep 60";
  const worker = await workspace.start(["work", ...queue, "-j1", "--backoff", "1h..1h", "--", "sh", "-c", script]);
  await until(() => worker.stdout.includes("begun"), "a command runs");
  worker.kill("SIGTERM");
  await until(() => worker.stderr.includes("Another SIGTERM kills it"), "the worker waits");
  worker.kill("SIGTERM");
  const { code, stderr } = await worker.ended;
  assertEquals(code, 143);
  assertStringIncludes(stderr, "Unfinished items are in the queue.");
  const { stdout } = await workspace.run(["status", ...queue, "--json"]);
  const { ready, delayed, failing, processing, givenUp } = JSON.parse(stdout);
  const expected = { ready: 2, delayed: 0, failing: 0, processing: 0, givenUp: 0 };
  assertEquals({ ready, delayed, failing, processing, givenUp }, expected);
});

queueTest("work: several workers at once run each item once", async (shared) => {
  await using workspace = new Workspace("Deno");
  await using other = new Workspace("Bun");
  const queue = shared.args;
  const lines = Array.from({ length: 60 }, (_, i) => `${i}`);
  await workspace.run(["push", ...queue], lines.join("\n"));
  const { directory } = workspace;
  // No command ends before both workers have begun one.
  const script = `touch "$0"; until [ -e '${directory}/one' ] && [ -e '${directory}/two' ]; do sleep 0.01; done; ` +
    `echo "$1" >> "$0"`;
  const work = (name: string) => {
    return ["work", ...queue, "-j4", "--until-empty", "--", "sh", "-c", script, `${directory}/${name}`];
  };
  const ends = await Promise.all([workspace.run(work("one")), other.run(work("two"))]);
  assertEquals(ends.map(({ code }) => code), [0, 0]);
  const [one, two] = ["one", "two"].map((name) => workspace.read(name).trim().split("\n"));
  assert(one!.length >= 4 && two!.length >= 4, "both workers take part");
  assertEquals([...one!, ...two!].sort(), lines.sort());
});

serverTest("work: a worker continues after an outage of the server, and each item runs once", async () => {
  await using server = await RedisServer.start({ appendonly: true });
  await using workspace = new Workspace();
  const queue = ["--redis", server.url, "--queue", "outage"];
  await workspace.run(["push", ...queue], "a\nb\nc\nd\n");
  const script = 'echo "$1" >> begun; until [ -e go ]; do sleep 0.01; done; echo "$1" >> done';
  const worker = await workspace.start(["work", ...queue, "-j2", "--until-empty", "--", "sh", "-c", script, "sh"]);
  await until(() => workspace.has("begun") && lineCount(workspace, "begun") === 2, "two commands run");
  await server.kill("SIGKILL");
  workspace.write("go", "");
  await until(() => workspace.has("done") && lineCount(workspace, "done") === 2, "the commands end during the outage");
  await server.start();
  assertEquals((await worker.ended).code, 0);
  for (const file of ["begun", "done"]) {
    assertEquals(workspace.read(file).trim().split("\n").sort().join(""), "abcd", file);
  }
});

serverTest("work: --until-empty continues while a server refuses calls", async () => {
  await using server = await RedisServer.start();
  await using workspace = new Workspace();
  const queue = ["--redis", server.url, "--queue", "refused"];
  await workspace.run(["push", ...queue], "a\n");
  const script = "touch begun; until [ -e go ]; do sleep 0.01; done";
  const worker = await workspace.start(["work", ...queue, "--until-empty", "--", "sh", "-c", script]);
  await until(() => workspace.has("begun"), "a command runs");
  await server.call("ACL", "SETUSER", "default", "-evalsha", "-eval");
  await until(() => worker.stderr.includes("NOPERM"), "the server refuses a call");
  await server.call("ACL", "SETUSER", "default", "+evalsha", "+eval");
  workspace.write("go", "");
  assertEquals((await worker.ended).code, 0);
});

queueTest("work: after one SIGTERM, it finishes the running command, and takes no more items", async (shared) => {
  await using workspace = new Workspace();
  const queue = shared.args;
  await workspace.run(["push", ...queue], "a\nb\n");
  const script = 'touch "began $1"; until [ -e go ]; do sleep 0.01; done; touch "ended $1"';
  const worker = await workspace.start(["work", ...queue, "-j1", "--", "sh", "-c", script, "sh"]);
  await until(() => workspace.has("began a"), "a command runs");
  worker.kill("SIGTERM");
  await until(() => worker.stderr.includes("waiting for 1 running command"), "the worker waits");
  workspace.write("go", "");
  assertEquals((await worker.ended).code, 143);
  assertEquals(workspace.files(), ["began a", "ended a", "go"]);
  assertEquals(await stateOf(workspace, queue), { ready: 1, delayed: 0, processing: 0, failing: 0, givenUp: 0 });
});

queueTest("work: it ends the command of an item whose lease is lost, and continues", async (shared) => {
  await using workspace = new Workspace();
  const queue = shared.args;
  await workspace.run(["push", ...queue], "long\n");
  // The command of the first line ends only when it gets a signal.
  const script = '[ "$1" = short ] && touch short && exit; trap "touch ended; exit 0" TERM; touch begun; ' +
    "while :; do sleep 0.01; done";
  const worker = await workspace.start(["work", ...queue, "-j2", "--retries", "0", "--", "sh", "-c", script, "sh"]);
  await until(() => workspace.has("begun"), "the command runs");

  await using other = shared.open();
  await shared.expireLeases();
  const lease = await other.get(); // the other worker has the item now
  await other.add("short");
  await until(() => workspace.has("short"), "the worker runs another item");
  await until(() => workspace.has("ended"), "the command is ended");
  await until(() => worker.stderr.includes('The lease of "long" was lost'), "the worker says so");
  assertEquals(!lease.shutdown && await lease.finish(), true);

  await endsWell(worker);
  assertEquals(await stateOf(workspace, queue), { ready: 0, delayed: 0, processing: 0, failing: 0, givenUp: 0 });
});

/** Ends a worker with SIGTERM. It must have given nothing up, and have no unfinished items. */
async function endsWell(worker: Cli): Promise<void> {
  worker.kill("SIGTERM");
  const { code, stderr } = await worker.ended;
  assertEquals(code, 143);
  assertMatch(stderr, /^Succeeded +1$/m);
  for (const word of ["Given up", "Unfinished"]) assertEquals(stderr.includes(word), false, stderr);
}

/** Returns the counts of a queue. */
async function stateOf(workspace: Workspace, queue: readonly string[]): Promise<Record<string, number>> {
  const { stdout } = await workspace.run(["status", ...queue, "--json"]);
  const { ready, delayed, processing, failing, givenUp } = JSON.parse(stdout);
  return { ready, delayed, processing, failing, givenUp };
}

function lineCount(workspace: Workspace, file: string): number {
  return workspace.read(file).trim().split("\n").length;
}
