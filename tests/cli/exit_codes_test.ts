/** Tests of exit codes that decide about retries: `--give-up-on` and `--retry-after-on`. */

import { assertEquals, assertStringIncludes } from "@std/assert";
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
