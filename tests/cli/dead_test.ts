/** Tests of `workqueue dead`, which shows the given-up items of a queue, adds them again or discards them. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { RemoteQueue } from "@workqueue/engine";
import { until } from "../redis/faults/faults.ts";
import { giveUpAll } from "../redis/give_up_all.ts";
import { someRuntimes, Workspace } from "./cli.ts";
import { queueTest, type TestQueue } from "./queue_tests.ts";

/** Queue with given-up items. */
class Dead implements AsyncDisposable {
  readonly queue: RemoteQueue;
  readonly #args: readonly string[];
  readonly #workspace: Workspace;

  constructor(shared: TestQueue, runtime?: string) {
    this.queue = shared.open();
    this.#args = shared.args;
    this.#workspace = new Workspace(runtime);
  }

  /** Gives items up, in this order. The text after `!` is the error. */
  async giveUp(...items: string[]): Promise<void> {
    const errors = items.map((item) => [item, item.split("!")[1] ?? "no such file"]);
    await giveUpAll(this.queue, Object.fromEntries(errors));
  }

  async run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return await this.#workspace.run(["dead", ...args, ...this.#args]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.queue.shutDownWithDrain();
    await this.#workspace[Symbol.asyncDispose]();
  }
}

for (const runtime of Object.keys(someRuntimes)) {
  queueTest(`dead, ${runtime}: items are listed, redriven and discarded`, async (shared) => {
    await using dead = new Dead(shared, runtime);
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

queueTest("dead: a redrive keeps to its rate, and another command can stop it", async (shared) => {
  await using dead = new Dead(shared);
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

queueTest("dead: a list can be longer than a page of the server", async (shared) => {
  await using dead = new Dead(shared);
  await dead.giveUp(...Array.from({ length: 1010 }, (_, i) => `item ${i}`));
  const { stdout } = await dead.run("list", "--limit", "1005", "--json");
  const keys = stdout.trimEnd().split("\n").map((line) => JSON.parse(line).key);
  assertEquals([keys.length, keys[0], keys.at(-1)], [1005, "item 1009", "item 5"]);
  assertEquals(
    (await dead.run("list", "--search", "ITEM 77", "--limit", "1")).stdout.split("\n")[1],
    "1 of 1,010 given-up items",
  );
});

queueTest("dead: wrong options are reported, and nothing is discarded", async (shared) => {
  await using dead = new Dead(shared);
  await dead.giveUp("a");
  const wrong: [string[], RegExp][] = [
    [["discard"], /^workqueue: Cannot discard items: select them with --search or --key, or give --all/],
    [["discard", "--search", ""], /^workqueue: Cannot discard items: select them/],
    [["discard", "--search", "a", "--all"], /^workqueue: Cannot discard items: select them/],
    [["redrive", "--stop", "--rate", "1"], /^workqueue: Cannot stop redrive: --stop takes no other options/],
    [["redrive", "--rate", "0"], /It must be a positive number/],
    [["list", "--limit", "0"], /It must be an integer from 1 to 1000000/],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await dead.run(...args);
    assertEquals([code, stdout], [2, ""], args.join(" "));
    assertMatch(stderr, message);
  }
  assertEquals((await dead.run("discard", "--all")).stdout, "1 item discarded.\n");
});

Deno.test("dead: wrong options of a server are reported", async () => {
  await using workspace = new Workspace();
  const wrong: [string[], RegExp][] = [
    [["--ca", "nope.pem", "--queue", "q"], /^workqueue: Cannot read certificate 'nope.pem': there is no such file\n$/],
    [["--ca", ".", "--queue", "q"], /^workqueue: Cannot read certificate '\.': it is a directory\n$/],
    [["--redis", "redis://localhost"], /^error: required option '--queue <queue>' not specified\n$/],
    [["--redis", "redis://localhost", "--queue", "{a}"], /without braces/],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await workspace.run(["dead", "list", ...args]);
    assertEquals([code, stdout], [2, ""], args.join(" "));
    assertMatch(stderr, message);
  }
});
