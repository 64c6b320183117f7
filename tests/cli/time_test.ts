/**
 * Tests of runs that take longer than their commands: slow readers, orphaned processes, and a run stopped by SIGSTOP or
 * SIGTSTP.
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async";
import { isStopped, someRuntimes, until, WITH_PID, Workspace } from "./cli.ts";

const sh = (script: string, ...args: string[]) => ["--", "sh", "-c", script, "sh", ...args];

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`time, ${runtime}: a command that has ended has not timed out, however slowly its output is read`, async () => {
    await using workspace = new Workspace(runtime);
    const script = 'echo "$1 $WORKQUEUE_ATTEMPT" >> log; head -c 60000 /dev/zero | tr "\\0" "$1"; echo';
    const args = ["run", "--concurrency", "2", "--timeout", "700ms", "--retries", "2", ...sh(script, "{}")];
    const cli = await workspace.start(
      args,
      "1\n2\n3\n4\n",
      '"$@" | { until [ -e go ]; do sleep 0.05; done; wc -c > count; }',
    );
    await until(() => workspace.has("log") && workspace.read("log").split("\n").length > 2, "two were run");
    await delay(1500); // longer than the timeout
    workspace.write("go", "");
    assertEquals((await cli.ended).code, 0);
    assertEquals(workspace.read("count").trim(), "240004");
    assertEquals(workspace.read("log").trim().split("\n").sort(), ["1 1", "2 1", "3 1", "4 1"]);
  });

  Deno.test(`time, ${runtime}: while SIGTSTP stops a command, its timeout stands still`, async () => {
    await using workspace = new Workspace(runtime);
    const args = ["run", "--timeout", "2s", "--retries", "0", "--report", "report.jsonl"];
    const script = "touch began; until [ -e go ]; do sleep 0.02; done";
    const cli = await workspace.start([...args, ...sh(script)], "1\n", WITH_PID);
    await until(() => workspace.has("began"), "it runs");
    const pid = workspace.read("pid");
    Deno.kill(Number(pid), "SIGTSTP");
    await until(() => isStopped(pid), "it is stopped");
    await delay(2500); // longer than the timeout
    Deno.kill(Number(pid), "SIGCONT");
    await until(async () => !await isStopped(pid), "it continues");
    await delay(300); // a timer that did not stand still would fire now
    workspace.write("go", "");
    assertEquals((await cli.ended).code, 0);
    assertEquals(workspace.report()[0]!.timedOut, false);
  });

  Deno.test(`time, ${runtime}: after a stop that is longer than the timeout, a command that has ended meanwhile has succeeded`, async () => {
    await using workspace = new Workspace(runtime);
    const args = ["run", "--timeout", "1500ms", "--retries", "1", "--concurrency", "2"];
    const cli = await workspace.start(
      [...args, ...sh('echo "$1" >> ran; sleep 0.5; touch "ended $1"', "{}")],
      "1\n2\n",
      WITH_PID,
    );
    await until(() => workspace.has("ran") && workspace.read("ran").split("\n").length === 3, "both run");
    const pid = Number(workspace.read("pid"));
    Deno.kill(pid, "SIGSTOP");
    await until(() => workspace.has("ended 1") && workspace.has("ended 2"), "both have ended");
    await delay(2000); // longer than the timeout
    Deno.kill(pid, "SIGCONT");
    const { code, stderr } = await cli.ended;
    assertEquals([code, workspace.read("ran").trim().split("\n").sort()], [0, ["1", "2"]], stderr);
  });

  Deno.test(`time, ${runtime}: descendants of a child may clean up before they are killed`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write(
      "inner.sh",
      'trap "sleep 0.7; touch cleaned; exit" TERM; touch ready; while :; do sleep 0.05; done\n',
    );
    const script = "sh inner.sh > /dev/null 2>&1 & until [ -e ready ]; do sleep 0.02; done; touch began; wait";
    const args = ["run", "--retries", "0", "--timeout", "1s", "--no-append", ...sh(script)];
    const { code, stderr } = await workspace.run(args, "a\n");
    assertEquals(code, 1);
    assertStringIncludes(stderr, "timed out");
    assertEquals(workspace.files(), ["began", "cleaned", "inner.sh", "ready"]);
  });

  Deno.test(`time, ${runtime}: output of processes left behind is read as long as they print`, async () => {
    await using workspace = new Workspace(runtime);
    const script = "(for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; echo $i; done; touch finished) & echo early";
    const { code, stdout } = await workspace.run(["run", "--no-append", ...sh(script)], "a\n");
    assertEquals([code, stdout], [0, "early\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"]);
    await until(() => workspace.has("finished"), "nobody has stopped it");
  });

  Deno.test(`time, ${runtime}: a script without an interpreter line is run by a shell`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("script", 'echo "got $1"\n');
    Deno.chmodSync(`${workspace.directory}/script`, 0o755);
    const { code, stdout } = await workspace.run(["run", "--concurrency", "1", "--", "./script"], "a\nb\n");
    assertEquals([code, stdout], [0, "got a\ngot b\n"]);
  });

  Deno.test({
    name: `time, ${runtime}: nohup works`,
    ignore: runtime === "Node", // Node resets ignored signals, so `nohup` has no effect
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const script = 'touch "began $1"; until [ -e go ]; do sleep 0.02; done';
      const args = ["run", "--concurrency", "1", ...sh(script, "{}")];
      const cli = await workspace.start(args, "a\nb\n", `nohup ${WITH_PID}`);
      await until(() => workspace.has("began a"), "it has begun");
      Deno.kill(Number(workspace.read("pid")), "SIGHUP");
      workspace.write("go", "");
      assertEquals((await cli.ended).code, 0);
    },
  });
}
