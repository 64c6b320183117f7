import { assert, assertEquals, assertMatch } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import type { OutputStream } from "../../packages/cli/system/standard_streams.ts";
import { canShowRows, loadProgress } from "../../packages/cli/view/progress.ts";
import { quickConfig, until, Workspace } from "./cli.ts";
import { failingTally, tallyOf } from "./tallies.ts";

/** Returns the kind of progress display for a stream. */
async function kindOf(stream: Partial<OutputStream>, env: Record<string, string> = {}): Promise<string> {
  const stderr = { isTTY: true, columns: 80, rows: 24, write: () => true, ...stream };
  const showProgress = await loadProgress(canShowRows(stderr, env) ? "rows" : "lines", env);
  const progress = showProgress(() => tallyOf(), stderr, stderr);
  progress.end();
  return progress.constructor.name;
}

Deno.test("progress: is live on a terminal that can show it, and plain elsewhere", async () => {
  assertEquals(await kindOf({}), "LiveProgress");
  assertEquals(await kindOf({}, { TERM: "xterm", CI: "" }), "LiveProgress");
  assertEquals(await kindOf({ isTTY: false }), "PlainProgress");
  assertEquals(await kindOf({ columns: 0 }), "PlainProgress");
  assertEquals(await kindOf({ columns: undefined }), "PlainProgress");
  assertEquals(await kindOf({}, { TERM: "dumb" }), "PlainProgress");
  assertEquals(await kindOf({}, { CI: "true" }), "PlainProgress");
});

Deno.test("progress: without rows, each line of error output has its item in front, and ends", async () => {
  let written = "";
  const stream: OutputStream = {
    write: (data, callback) => {
      written += new TextDecoder().decode(data as Uint8Array);
      callback?.();
      return true;
    },
  };
  const progress = (await loadProgress("quiet"))(() => tallyOf(), stream, stream);
  await progress.writeError("a", new TextEncoder().encode("one\n\ntwo"));
  await progress.writeError("b", new TextEncoder().encode("three\n"));
  assertEquals(written, "a\tone\na\t\na\ttwo\nb\tthree\n");
  progress.end();
});

Deno.test("progress: plain lines of a worker show how many items wait, and an idle worker prints no more of them", async () => {
  let tally = tallyOf({ waiting: { items: 40, oldest: 90 }, queued: 0 });
  let written = "";
  const stream: OutputStream = { write: (data) => ((written += data), true) };
  using time = new FakeTime();
  const progress = (await loadProgress("lines"))(() => tally, stream, stream);
  time.tick(1000);
  assertEquals(written, "612 done, 8 running, 40 waiting, the oldest for 1 min 30 s, 61.2 items/s\n");
  tally = tallyOf({ waiting: { items: 0, oldest: 0 }, queued: 0, running: 0 });
  written = "";
  time.tick(3_600_000);
  assertEquals(written, "612 done, none waiting\n");
  tally = { ...tally, succeeded: tally.succeeded + 1 };
  time.tick(60_000);
  assertEquals(written, "612 done, none waiting\n613 done, none waiting\n");
  progress.end();
});

Deno.test("progress: plain lines show the last failure while items fail", async () => {
  let tally = failingTally({ refused: 2 });
  let written = "";
  const stream: OutputStream = { write: (data) => ((written += data), true) };
  using time = new FakeTime();
  const showProgress = await loadProgress("lines");
  const progress = showProgress(() => tally, stream, stream);
  time.tick(1000);
  assertEquals(
    written,
    "612 of 1000 done, 8 running, 380 queued, 12 failing, 3 given up, 2 refused, 61.2 items/s, 6.3 s left; " +
      "last error: psql: could not connect to server: db down\n",
  );
  tally = { ...tally, failing: 0 };
  written = "";
  time.tick(1000);
  assertMatch(written, /6\.3 s left\n$/);
  tally = { ...tally, maxRate: 1 };
  time.tick(2000);
  assertMatch(written, /6 min 28 s left\n$/);
  tally = { ...tally, throttleState: "empty", blockedRetries: 5 };
  written = "";
  time.tick(4000);
  assertMatch(
    written,
    /given up, 2 refused, 5 retries wait for the retry budget, .* items\/s, throttle empty, .* left\n$/,
  );
  tally = { ...tally, throttleState: undefined, blockedRetries: 0 };
  tally = { ...tally, heldBack: "open for 12 s: 14 of 20 attempts failed" };
  written = "";
  time.tick(8000);
  assertMatch(written, /items\/s, throttle open for 12 s: 14 of 20 attempts failed\n$/);
  tally = { ...tally, isPaused: true };
  time.tick(16_000);
  assertMatch(written, /items\/s, paused\n$/);
  progress.end();
});

Deno.test("progress: an item that has failed is shown before its retry", async () => {
  await using workspace = new Workspace();
  const limiter = { type: "exponential", baseDelay: "1h", maxDelay: "1h" };
  workspace.write("config.json", JSON.stringify({ queues: { slow: { limiter } } }));
  const script = '[ "$1" != bad ] || exit 1; until [ -e go ]; do sleep 0.02; done';
  const args = ["--config", "config.json", "--concurrency", "1", "--", "sh", "-c", script, "sh", "{}"];
  const cli = await workspace.start(["run", ...args], "bad\ngood\n");
  await until(() => cli.stderr.includes("\n"), "there is a line");
  assertMatch(cli.stderr, /^0 of 2 done, 1 running, 1 queued, 1 failing, /);
  cli.kill("SIGINT");
  workspace.write("go", "");
  await cli.ended;
});

Deno.test("progress: a run in which nothing runs shows the reason: an empty bucket, or the retry budget", async () => {
  await using workspace = new Workspace();
  const limiter = { type: "exponential", baseDelay: 1, maxDelay: 1 };
  const queues = {
    empty: { throttle: { type: "bucket", rate: 0, burst: 0 } },
    budget: { limiter, retryBudget: { ratio: 0, minRate: 0.001 } },
  };
  workspace.write("config.json", JSON.stringify({ queues }));
  for (
    const [queue, reason] of [["empty", /, throttle empty, /], ["budget", /, 3 retries wait for the retry budget,/]]
  ) {
    const cli = await workspace.start(
      ["run", "--config", "config.json", "--queue", `${queue}`, "--", "false"],
      "a\nb\nc\n",
    );
    await until(() => (reason as RegExp).test(cli.stderr), `there is a line with ${reason}`);
    cli.kill("SIGINT");
    await cli.ended;
  }
});

Deno.test("progress: without a terminal, a line comes now and then, and none at the start", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig());
  const quick = await workspace.run(["run", "--", "true"], "a\n");
  assert(!quick.stderr.includes(" running"));

  const script = "until [ -e go ]; do sleep 0.02; done";
  const cli = await workspace.start(["run", "--concurrency", "2", "--", "sh", "-c", script], "a\nb\nc\na\n");
  await until(() => cli.stderr.includes("\n"), "there is a line");
  assertMatch(
    cli.stderr,
    /^0 of 3 done, 2 running, 1 queued, 0\.0 items\/s, \? left\n$/,
  );
  workspace.write("go", "");
  assertEquals((await cli.ended).code, 0);
});
