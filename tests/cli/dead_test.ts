/** Tests of `workqueue dead`, which shows the given-up items of a queue on Redis, adds them again or discards them. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createRedisQueue, type RedisQueue } from "@workqueue/redis";
import { until } from "../redis/faults/faults.ts";
import { giveUpAll } from "../redis/give_up_all.ts";
import { redisTest, uniqueName } from "../redis/redis_tests.ts";
import { runtimes, Workspace } from "./cli.ts";

/** Queue with given-up items. */
class Dead implements AsyncDisposable {
  readonly name = uniqueName("dead");
  readonly queue: RedisQueue;
  readonly #workspace: Workspace;

  constructor(readonly url: string, runtime?: string) {
    this.queue = createRedisQueue({ name: this.name, url });
    this.#workspace = new Workspace(runtime);
  }

  /** Gives items up, in this order. The text after `!` is the error. */
  async giveUp(...items: string[]): Promise<void> {
    const errors = items.map((item) => [item, item.split("!")[1] ?? "no such file"]);
    await giveUpAll(this.url, this.name, Object.fromEntries(errors));
  }

  async run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return await this.#workspace.run(["dead", ...args, "--queue", this.name, "--redis", this.url]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.queue.shutDownWithDrain();
    await this.#workspace[Symbol.asyncDispose]();
  }
}

for (const runtime of Object.keys(runtimes)) {
  redisTest(`dead, ${runtime}: items are listed, redriven and discarded`, async ({ url }) => {
    await using dead = new Dead(url, runtime);
    await dead.giveUp("a.jpg", "b.jpg", "c.jpg!HTTP\n503");
    const { code, stdout, stderr } = await dead.run("list", "--limit", "2");
    assertEquals([code, stderr], [0, ""]);
    assertMatch(
      stdout,
      /^c\.jpg!HTTP.503: TerminalError: HTTP 503 \(1 attempt, terminal, .* ago\)\nb\.jpg: TerminalError: no such file \(.*\)\n2 of 3 given-up items\n$/,
    );
    assertEquals(await dead.run("redrive", "--search", "http"), {
      code: 0,
      stdout: "1 item added again.\n",
      stderr: "",
    });
    assertEquals(await dead.run("discard", "--key", "a.jpg", "--key", "x"), {
      code: 0,
      stdout: "1 item discarded.\n",
      stderr: "",
    });
    const json = JSON.parse((await dead.run("list", "--json")).stdout);
    const { firstFailedAgoMs, givenUpAgoMs, ...others } = json;
    assertEquals(others, { key: "b.jpg", error: "TerminalError: no such file", attempts: 1, reason: "terminal" });
    assert(Number.isInteger(givenUpAgoMs) && firstFailedAgoMs >= givenUpAgoMs);
    assertEquals((await dead.queue.counts()).ready, 1);
  });
}

redisTest("dead: a redrive waits for its rate, and is stopped by another", async ({ url }) => {
  await using dead = new Dead(url);
  await dead.giveUp("a", "b", "c");
  const redrive = dead.run("redrive", "--rate", "0.001");
  await until(async () => (await dead.queue.redriveProgress())?.running);
  const second = await dead.run("redrive");
  assertEquals([second.code, second.stdout], [1, ""]);
  assertStringIncludes(second.stderr, "a redrive of this queue is running");
  assertEquals((await dead.run("redrive", "--stop")).stdout, "Stopped: 1 item added again; 2 left.\n");
  assertEquals(await redrive, { code: 1, stdout: "1 item added again; 2 left.\n", stderr: "" });
  assertEquals(await dead.run("redrive", "--stop"), { code: 0, stdout: "No redrive is running.\n", stderr: "" });
  assertEquals((await dead.run("redrive", "--rate", "1000")).stdout, "2 items added again.\n");
});

redisTest("dead: a list goes beyond a page of the server", async ({ url }) => {
  await using dead = new Dead(url);
  await dead.giveUp(...Array.from({ length: 1010 }, (_, i) => `item ${i}`));
  const { stdout } = await dead.run("list", "--limit", "1005", "--json");
  const keys = stdout.trimEnd().split("\n").map((line) => JSON.parse(line).key);
  assertEquals([keys.length, keys[0], keys.at(-1)], [1005, "item 1009", "item 5"]);
  assertEquals(
    (await dead.run("list", "--search", "ITEM 77", "--limit", "1")).stdout.split("\n")[1],
    "1 of 1,010 given-up items",
  );
});

redisTest("dead: wrong options are told, and nothing is discarded", async ({ url }) => {
  await using dead = new Dead(url);
  await dead.giveUp("a");
  const wrong: [string[], RegExp][] = [
    [["discard"], /^workqueue: Cannot discard items: select them with --search or --key, or give --all/],
    [["discard", "--search", ""], /^workqueue: Cannot discard items: select them/],
    [["discard", "--search", "a", "--all"], /^workqueue: Cannot discard items: select them/],
    [["redrive", "--stop", "--rate", "1"], /^workqueue: Cannot stop redrive: --stop takes no other options/],
    [["redrive", "--rate", "0"], /It must be a positive number/],
    [["list", "--limit", "0"], /It must be an integer from 1 to 1000000/],
    [["list", "--ca", "nope.pem"], /^workqueue: Cannot read certificate 'nope.pem': there is no such file\n$/],
    [["list", "--ca", "."], /^workqueue: Cannot read certificate '\.': it is a directory\n$/],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await dead.run(...args);
    assertEquals([code, stdout], [2, ""], args.join(" "));
    assertMatch(stderr, message);
  }
  await using workspace = new Workspace();
  const named = await workspace.run(["dead", "list", "--redis", url]);
  assertEquals([named.code, named.stderr], [2, "error: required option '--queue <name>' not specified\n"]);
  const bad = await workspace.run(["dead", "list", "--queue", "{a}", "--redis", url]);
  assertEquals(bad.code, 2);
  assertStringIncludes(bad.stderr, "without braces");
  assertEquals((await dead.run("discard", "--all")).stdout, "1 item discarded.\n");
});
