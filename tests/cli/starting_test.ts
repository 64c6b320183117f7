/** Tests of commands that can't be started, temporarily or permanently. */

import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { quickConfig, runtimes, until, Workspace } from "./cli.ts";

for (const runtime of Object.keys(runtimes)) {
  for (const files of [40, 60]) {
    Deno.test(`starting, ${runtime}: without room for all commands, fewer run, and no attempt is lost, with ${files} files`, async () => {
      await using workspace = new Workspace(runtime);
      workspace.write("config.json", quickConfig({ maxRetries: 0 }));
      const items = Array.from({ length: 100 }, (_, i) => `${i}\n`).join("");
      const args = [
        "--config",
        "config.json",
        "--concurrency",
        "60",
        "--report",
        "report.jsonl",
        "--no-append",
        "--",
        "sleep",
        "0.1",
      ];
      const { code, stderr } = await workspace.run(["run", ...args], items, `ulimit -n ${files}; exec "$@"`);
      assertEquals(code, 0, stderr);
      assertStringIncludes(stderr, "Running fewer commands at once: too many files are open.\n");
      assertEquals(stderr.match(/fewer commands/g)!.length, 1);
      const report = workspace.report();
      assertEquals(report.length, 100);
      for (const { outcome, attempts } of report) assertEquals([outcome, attempts], ["succeeded", 1]);
    });
  }

  Deno.test(`starting, ${runtime}: an item that waits for file descriptors is neither started nor given up after an interruption`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("config.json", quickConfig({ maxRetries: 0 }));
    const items = Array.from({ length: 60 }, (_, i) => `${i}\n`).join("");
    const script = "until [ -e go ]; do sleep 0.1; done";
    const cli = await workspace.start(
      ["run", "--config", "config.json", "--concurrency", "60", "--report", "report.jsonl", "--", "sh", "-c", script],
      items,
      'ulimit -n 60; exec "$@"',
    );
    await until(() => cli.stderr.includes(" running, "), "there is a line");
    cli.kill("SIGINT");
    await until(() => cli.stderr.includes("Interrupted"), "it says so");
    workspace.write("go", "");
    const { code, stderr } = await cli.ended;
    const report = workspace.report();
    const begun = report.filter(({ attempts }) => attempts === 1);
    assertEquals([code, report.length], [130, 60], stderr);
    assert(begun.length > 0 && begun.length < 40, `${begun.length} were begun`);
    for (const { outcome, attempts } of report) assertEquals(outcome, attempts === 1 ? "succeeded" : "unfinished");
  });

  Deno.test(`starting, ${runtime}: an item that is too long for any command is given up at once`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("config.json", quickConfig({ maxRetries: 3 }));
    const { code, stdout, stderr } = await workspace.run(
      ["run", "--config", "config.json", "--report", "report.jsonl", "--", "echo", "{}"],
      `n\0ul\n${"x".repeat(3_000_000)}\nz\n`,
    );
    assertEquals([code, stdout], [1, "z\n"]);
    assertStringIncludes(
      stderr,
      "not started after 1 attempt: Cannot run 'echo': its arguments cannot contain NUL\n",
    );
    assertStringIncludes(stderr, "not started after 1 attempt: Cannot run 'echo': its arguments are too long\n");
    assertEquals(
      workspace.report().map(({ outcome, attempts }) => [outcome, attempts]),
      [["given-up", 1], ["given-up", 1], ["succeeded", 1]],
    );
  });

  Deno.test(`starting, ${runtime}: processes that a child leaves behind do not keep others from starting`, async () => {
    await using workspace = new Workspace(runtime);
    // The command of the item "patient" waits for thirty other commands, which run one at a time. If each of these took
    // half a second, the waiting command would give up.
    const patient =
      "i=0; until [ $(ls | grep -c did) = 30 ]; do sleep 0.02; i=$((i+1)); [ $i -lt 300 ] || exit 9; done";
    const leaving = 'sleep 30 & touch "did $1"; echo $! >> left';
    const items = ["patient", ...Array.from({ length: 30 }, (_, i) => `${i}`)];
    const script = `case "$1" in patient) ${patient};; *) ${leaving};; esac`;
    const { code } = await workspace.run(
      ["run", "--concurrency", "2", "--report", "report.jsonl", "--", "sh", "-c", script, "sh", "{}"],
      items.join("\n"),
    );
    for (const pid of workspace.read("left").trim().split("\n")) Deno.kill(Number(pid));
    assertEquals(code, 0);
    assertEquals(workspace.report().every(({ attempts }) => attempts === 1), true);
  });

  Deno.test(`starting, ${runtime}: output just after the end of a child belongs to the child`, async () => {
    await using workspace = new Workspace(runtime);
    const script = "(sleep 0.2; echo late; echo why >&2) & echo early; sleep 0.05";
    const { stdout } = await workspace.run(["run", "--report", "report.jsonl", "--", "sh", "-c", script], "a\n");
    const [item] = workspace.report();
    assertEquals([stdout, item!.outcome, item!.stderr], ["early\nlate\n", "succeeded", "why\n"]);
  });

  Deno.test(`starting, ${runtime}: an item whose retry is due goes before new lines`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("config.json", quickConfig({ concurrency: 1 }));
    const items = Array.from({ length: 200 }, (_, i) => `${i}\n`).join("");
    const script = 'echo "$1 $WORKQUEUE_ATTEMPT" >> log; [ $WORKQUEUE_ATTEMPT = 2 ]';
    const { code } = await workspace.run(
      ["run", "--config", "config.json", "--", "sh", "-c", script, "sh", "{}"],
      items,
    );
    assertEquals(code, 0);
    const log = workspace.read("log").trim().split("\n");
    assertEquals(log.length, 400);
    // A few other items start during the delay of one millisecond. If the item were retried after all other items, its
    // retry would come 200 places later.
    for (let i = 0; i < 200; i++) assertLess(log.indexOf(`${i} 2`) - log.indexOf(`${i} 1`), 10);
  });
}
