/** Tests of exit codes that decide about retries: `--give-up-on` and `--retry-after-on`. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { someRuntimes, Workspace } from "./cli.ts";

const QUICK = ["run", "--concurrency", "1", "--backoff", "1ms..1ms", "--report", "report.jsonl"];

/** Returns arguments that run a shell script, in which `$1` is the item. */
const sh = (script: string) => ["--", "sh", "-c", script, "sh", "{}"];

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`exit codes, ${runtime}: --give-up-on names codes that are never retried`, async () => {
    await using workspace = new Workspace(runtime);
    const args = [...QUICK, "--retries", "2", "--give-up-on", "65,64", ...sh('exit "$1"'), ":::", "0", "1", "64", "65"];
    const { code, stderr } = await workspace.run(args);
    assertEquals(code, 1);
    assertStringIncludes(stderr, "  65: exit code 65 after 1 attempt\n");
    assertEquals(workspace.report().map(({ item, outcome, reason, attempts }) => [item, outcome, reason, attempts]), [
      ["0", "succeeded", null, 1],
      ["1", "given-up", "maxRetries", 3],
      ["64", "given-up", "terminal", 1],
      ["65", "given-up", "terminal", 1],
    ]);
  });

  Deno.test(`exit codes, ${runtime}: --retry-after-on delays the retry as long as standard error says`, async () => {
    await using workspace = new Workspace(runtime);
    // The delays of the limiter are 1 ms long. When the last item has had ten attempts, it ends the run. More attempts
    // may begin before the signal arrives.
    const script = `
      case $1 in
        asks) echo "retry-after: 1h" >&2; seq 2000 >&2; exit 75 ;;
        silent) exit 75 ;;
        other) echo "retry-after: 1h" >&2; exit 1 ;;
        last) [ $WORKQUEUE_ATTEMPT -gt 9 ] && kill -s TERM $PPID; exit 1 ;;
      esac`;
    const args = [...QUICK, "--retries", "20", "--retry-after-on", "75", ...sh(script)];
    const { code } = await workspace.run(args, "asks\nsilent\nother\nlast\n");
    assertEquals(code, 143);
    const attempts = Object.fromEntries(workspace.report().map(({ item, attempts }) => [item, attempts]));
    assertEquals(attempts["asks"], 1);
    assertEquals([attempts["silent"]! > 3, attempts["other"]! > 3, attempts["last"]! > 9], [true, true, true]);
  });
}

Deno.test("exit codes: a failure that asks for a delay counts as a retry", async () => {
  await using workspace = new Workspace();
  const script = 'echo "retry-after: 1ms" >&2; exit 75';
  const { code } = await workspace.run([
    ...QUICK,
    "--retries",
    "2",
    "--retry-after-on",
    "75",
    ...sh(script),
    ":::",
    "a",
  ]);
  assertEquals(code, 1);
  assertEquals(workspace.report().map(({ attempts, reason, exitCode }) => [attempts, reason, exitCode]), [
    [3, "maxRetries", 75],
  ]);
});

/** Script whose first command refuses. The file `log` has the item of each command. */
const REFUSES_ONCE = `echo "$1" >> log; name="began $(echo "$1" | tr / _)"; [ -e "$name" ] || touch "$name"
if mkdir refused 2> none; then echo retry-after: 600ms >&2; exit 75; fi`;

/** Returns the milliseconds from the first command of an item to that of another one. */
function between(workspace: Workspace, ...items: [string, string]): number {
  const [first, second] = items.map((item) => {
    return Deno.statSync(`${workspace.directory}/began ${item.replace("/", "_")}`).mtime!.getTime();
  });
  return second! - first!;
}

/** Least time from a refusal to the end of its delay, in milliseconds. Times of files are some milliseconds late. */
const LEAST = 600 - 10;
const REFUSED = ["-j1", "--backoff", "1ms..1ms", "--retries", "0", "--retry-after-on", "75", "--retry-after-scope"];

for (const queue of [[], ["--queue", "jobs.db"]]) {
  const where = queue.length === 0 ? "in memory" : "in a file";
  Deno.test(`exit codes: --retry-after-scope run lets no item begin during the delay (${where})`, async () => {
    await using workspace = new Workspace();
    const run = ["run", ...queue, ...REFUSED, "run"];
    const { code } = await workspace.run([...run, ...sh(REFUSES_ONCE), ":::", "a", "b"]);
    assertEquals(code, 0, "the refusal is no failure");
    assertEquals(workspace.read("log").split("\n").sort(), ["", "a", "a", "b"]);
    assert(between(workspace, "a", "b") >= LEAST);
  });

  Deno.test(`exit codes: --retry-after-scope group delays the items of its group (${where})`, async () => {
    await using workspace = new Workspace();
    const items = ["x/1", "x/2", "y/1"];
    const run = ["run", ...queue, "--group-by", "/", ...REFUSED, "group"];
    const { code } = await workspace.run([...run, ...sh(REFUSES_ONCE), ":::", ...items]);
    assertEquals(code, 0, "the refusal is no failure");
    assertEquals(workspace.read("log").split("\n").slice(0, 2), ["x/1", "y/1"]);
    assert(between(workspace, "x/1", "x/2") >= LEAST);
  });
}

Deno.test("exit codes: --retry-after-scope run delays all items of the workers of a queue", async () => {
  await using workspace = new Workspace();
  const queue = ["--queue", "jobs.db"];
  await workspace.run(["push", ...queue], "a\nb\n");
  const { code } = await workspace.run(["work", ...queue, "--until-empty", ...REFUSED, "run", ...sh(REFUSES_ONCE)]);
  assertEquals(code, 0, "the refusal is no failure");
  assertEquals(workspace.read("log").split("\n").sort(), ["", "a", "a", "b"]);
});

Deno.test("exit codes: --retry-after-scope group is refused without groups", async () => {
  await using workspace = new Workspace();
  const { code, stderr } = await workspace.run(["run", "--retry-after-scope", "group", "--", "true"], "a\n");
  assertEquals([code, stderr], [
    2,
    "workqueue: Cannot delay groups: --retry-after-scope group needs --group-by, or a discipline with a separator in the " +
    "config\n",
  ]);
});

Deno.test("exit codes: after a timeout, the exit code does not count", async () => {
  await using workspace = new Workspace();
  const script = "trap 'exit 65' TERM; sleep 300 & wait";
  const args = [...QUICK, "--retries", "1", "--timeout", "100ms", "--give-up-on", "65", ...sh(script), ":::", "a"];
  assertEquals((await workspace.run(args)).code, 1);
  assertEquals(workspace.report().map(({ attempts, reason, timedOut }) => [attempts, reason, timedOut]), [
    [2, "maxRetries", true],
  ]);
});

Deno.test("exit codes: a command that is killed with the run is unfinished, whatever its exit code", async () => {
  await using workspace = new Workspace();
  const script = "trap 'exit 65' TERM; kill -s QUIT $PPID; sleep 300 & wait";
  await workspace.run([...QUICK, "--give-up-on", "65", ...sh(script), ":::", "a"]);
  assertEquals(workspace.report().map(({ outcome }) => outcome), ["unfinished"]);
});
