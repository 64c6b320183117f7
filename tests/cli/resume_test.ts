/** Tests of resumed runs. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { someRuntimes, until, Workspace } from "./cli.ts";

const sh = (script: string, ...args: string[]) => ["--", "sh", "-c", script, "sh", ...args];
const RESUME = ["--resume", "report.jsonl", "--retries", "0"];

/**
 * Command that records each item. Until the file `mended` exists, the command fails for items that begin with `bad`.
 */
const NOTING = sh('echo "$1" >> ran; case "$1" in bad*) [ -e mended ];; esac', "{}");

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`resume, ${runtime}: items that have succeeded are left out, and all others are run again`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("items", "a\nbad 1\nb\na\nbad 2\n");
    const args = ["run", ...RESUME, "--input", "items", "--concurrency", "1", ...NOTING];
    assertEquals((await workspace.run(args)).code, 1, "a report that is not there is begun");
    assertEquals(workspace.read("ran"), "a\nbad 1\nb\nbad 2\n");

    workspace.write("ran", "");
    workspace.write("mended", "");
    workspace.write("items", "a\nbad 1\nnew\nb\na\nbad 2\n");
    const { code, stderr } = await workspace.run(args);
    assertEquals([code, workspace.read("ran")], [0, "bad 1\nnew\nbad 2\n"]);
    assertStringIncludes(stderr, "Already done       2\n");

    const outcomes = workspace.report().map(({ item, outcome }) => `${item} ${outcome}`);
    assertEquals(outcomes, [
      "a succeeded",
      "b succeeded",
      "bad 1 given-up",
      "bad 1 succeeded",
      "bad 2 given-up",
      "bad 2 succeeded",
      "new succeeded",
    ]);
    const whole = workspace.read("report.jsonl");
    const last = await workspace.run(args);
    assertEquals(
      [last.code, last.stdout, workspace.read("report.jsonl")],
      [0, "", whole],
      "there is nothing left to do",
    );
  });

  Deno.test(`resume, ${runtime}: an incomplete last line is ignored`, async () => {
    await using workspace = new Workspace(runtime);
    const args = ["run", ...RESUME, ...NOTING];
    await workspace.run(args, "a\nb\n");
    const whole = workspace.read("report.jsonl");
    for (const cut of [whole.length - 1, whole.length - 40, whole.indexOf("\n") + 2]) {
      workspace.write("report.jsonl", whole.slice(0, cut));
      assertEquals((await workspace.run(args, "a\nb\n")).code, 0);
      assertEquals(workspace.report().map(({ item, outcome }) => [item, outcome]), [["a", "succeeded"], [
        "b",
        "succeeded",
      ]]);
    }
    workspace.write("report.jsonl", whole.slice(0, 20)); // killed while writing the first line
    await workspace.run(args, "a\nb\n");
    assertEquals(workspace.report().length, 2);
  });

  Deno.test(`resume, ${runtime}: a run that is killed and resumed until it ends repeats only what was running`, async () => {
    await using workspace = new Workspace(runtime);
    const items = Array.from({ length: 300 }, (_, i) => `${i}`);
    workspace.write("items", items.join("\n"));
    // In each run, half of the items fail on their first attempt. The script records the start of each attempt, and
    // each success.
    const script =
      'echo "$1" >> began; [ $(($1 % 2)) = 0 ] || [ $WORKQUEUE_ATTEMPT -gt 1 ] || exit 1; echo "$1" >> ended';
    const args = ["run", "--resume", "report.jsonl", "--backoff", "1ms..1ms", "--input", "items", "--concurrency", "4"];
    let kills = 0;
    for (;; kills++) {
      const cli = await workspace.start([...args, ...sh(script, "{}")]);
      const before = workspace.has("ended") ? workspace.read("ended").length : 0;
      const most = 20 + Math.floor(Math.random() * 400);
      let hasEnded = false;
      const ended = cli.ended.then(() => hasEnded = true);
      await until(
        () => hasEnded || workspace.has("ended") && workspace.read("ended").length > before + most,
        "it is time",
      );
      cli.kill("SIGKILL");
      await ended;
      if ((await cli.ended).code === 0) break;
    }
    const ran = workspace.read("ended").trim().split("\n");
    assertEquals([...new Set(ran)].sort(), items.toSorted(), "each has succeeded");
    assert(
      ran.length - items.length <= kills * 4,
      `${ran.length} attempts have succeeded, with ${kills} kills and four at once`,
    );
    const succeeded = workspace.report().filter(({ outcome }) => outcome === "succeeded").map(({ item }) => item);
    assertEquals(succeeded, items.toSorted(), "and is reported once");
  });
}

Deno.test("resume: with --no-dedupe, as many of several equal lines are left out as have succeeded", async () => {
  await using workspace = new Workspace();
  const args = ["run", "--no-dedupe", ...RESUME, ...NOTING];
  await workspace.run(args, "a\na\nb\n");
  workspace.write("ran", "");
  await workspace.run(args, "a\na\na\nb\nb\n");
  assertEquals(workspace.read("ran").trim().split("\n").sort(), ["a", "b"]);
});

Deno.test("resume: an item keeps its number", async () => {
  await using workspace = new Workspace();
  const args = ["run", ...RESUME, ...sh('echo "$1"; [ -e mended ] || [ $1 = 1 ]', "{#}")];
  await workspace.run(args, "a\nb\n");
  workspace.write("mended", "");
  assertEquals((await workspace.run(args, "a\nb\n")).stdout, "2\n");
});

Deno.test("resume: with --dry-run, the remaining items are shown, and the report is not changed", async () => {
  await using workspace = new Workspace();
  await workspace.run(["run", ...RESUME, "--", "test", "a", "="], "a\nb\n");
  const before = workspace.read("report.jsonl");
  const { stdout } = await workspace.run(["run", "--dry-run", ...RESUME, "--", "test", "a", "="], "a\nb\nc\n");
  assertEquals([stdout, workspace.read("report.jsonl")], ["test a = b\ntest a = c\n", before]);
});

const CHANGED: Record<string, [string[], string]> = {
  "another command": [[...RESUME, "--", "echo", "b"], "it belongs to another command: echo a"],
  "a config": [
    [...RESUME, "--config", "config.json", "--", "echo", "a"],
    "its config was different; restore it, and make changes with options such as --rate instead",
  ],
  "another way to read lines": [
    [...RESUME, "--null", "--", "echo", "a"],
    "its run read lines without --null; use the same options\n",
  ],
};

for (const [name, [args, reason]] of Object.entries(CHANGED)) {
  Deno.test(`resume: ${name} is refused, and the report is not changed`, async () => {
    await using workspace = new Workspace();
    workspace.write("config.json", '{ "queues": { "default": { "timeout": "1m" } } }');
    await workspace.run(["run", ...RESUME, "--", "echo", "a"], "x\n");
    const before = workspace.read("report.jsonl");
    const { code, stdout, stderr } = await workspace.run(["run", ...args], "x\ny\n");
    assertEquals([code, stdout, workspace.read("report.jsonl")], [2, "", before]);
    assertStringIncludes(stderr, `workqueue: Cannot resume 'report.jsonl': ${reason}`);
  });
}

Deno.test("resume: values of options, and the wording of a config, may change", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", '{ "queues": { "default": { "timeout": "1m", "concurrency": 1 } } }');
  const args = (config: string, ...more: string[]) => {
    return ["run", "--resume", "report.jsonl", "--config", config, ...more, "--", "echo"];
  };
  await workspace.run(args("config.json", "--retries", "3"), "a\n");
  workspace.write("config.yaml", "queues:\n  default: { concurrency: 1, timeout: 1m } # the same\n");
  const gentler = ["--concurrency", "2", "--rate", "100/s", "--retries", "1", "--timeout", "5s", "--backoff", "1s..2s"];
  const { code, stdout } = await workspace.run(args("config.yaml", ...gentler), "a\nb\n");
  assertEquals([code, stdout], [0, "b\n"]);
  workspace.write("config.yaml", "queues: { default: { concurrency: 2, timeout: 1m } }");
  assertEquals((await workspace.run(args("config.yaml"), "a\nb\n")).code, 2);
});

Deno.test("resume: the report accepts a config that changed during the run, and refuses the earlier one", async () => {
  await using workspace = new Workspace();
  const before = "queues: { q: { concurrency: 1 }, other: {} }";
  workspace.write("config.yaml", before);
  const script = 'echo "$1" >> ran; until [ -e go ]; do sleep 0.02; done';
  const args = ["run", "--resume", "report.jsonl", "--config", "config.yaml", "--queue", "q", ...sh(script, "{}")];
  const cli = await workspace.start(args, "a\nb\n");
  await until(() => workspace.has("ran"), "it has begun");
  const after = "queues: { q: { concurrency: 2 }, other: {} }";
  workspace.write("config.yaml", after);
  await until(() => cli.stderr.includes("Config: /queues/q/concurrency changed from 1 to 2"), "it is in force");
  workspace.write("go", "");
  assertEquals((await cli.ended).code, 0);

  assertEquals((await workspace.run(args, "a\nb\nc\n")).code, 0);
  assertEquals(workspace.read("ran").trim().split("\n").sort(), ["a", "b", "c"]);
  workspace.write("config.yaml", before);
  assertEquals((await workspace.run(args, "a\nb\nc\n")).code, 2);
  workspace.write("config.yaml", `${after.replace("other: {}", "other: { concurrency: 7 }")}`);
  assertEquals((await workspace.run(args, "a\nb\nc\n")).code, 0, "the other queue is not used");
  const headers = workspace.read("report.jsonl").split("\n").filter((line) => line.startsWith('{"workqueue":'));
  assertEquals(headers.length, 2, "one for each config that was in force");
});

Deno.test("resume: an item may have the maximum length, even if JSON needs more for it", async () => {
  await using workspace = new Workspace();
  workspace.write("items", '"'.repeat(9_000_000));
  const args = ["run", ...RESUME, "--no-append", "--input", "items", ...sh("echo ran")];
  assertEquals((await workspace.run(args)).stdout, "ran\n");
  assertEquals(await workspace.run(args).then(({ code, stdout }) => [code, stdout]), [0, ""]);
});

const NO_REPORTS: Record<string, [string, string]> = {
  "a list": ["a\nb\n", "it is not a report"],
  "a list of one line that does not end": ["https://example.com/", "it is not a report"],
  "another JSON": ['{"workqueue":1}\n', "it is not a report"],
  "a report with a line that is none": ["", "line 2 is not a line of a report"],
};

for (const [name, [text, reason]] of Object.entries(NO_REPORTS)) {
  Deno.test(`resume: ${name} is refused, and not changed`, async () => {
    await using workspace = new Workspace();
    await workspace.run(["run", ...RESUME, "--", "true"], "a\n");
    const header = workspace.read("report.jsonl").split("\n")[0]!;
    const content = text === "" ? `${header}\n{"item":1}\n` : text;
    workspace.write("report.jsonl", content);
    const { code, stderr } = await workspace.run(["run", ...RESUME, "--", "true"], "a\n");
    assertEquals([code, stderr], [2, `workqueue: Cannot resume 'report.jsonl': ${reason}\n`]);
    assertEquals(workspace.read("report.jsonl"), content);
  });
}

Deno.test("resume: --report and --resume exclude each other", async () => {
  await using workspace = new Workspace();
  const { code, stderr } = await workspace.run(["run", "--report", "a", "--resume", "b", "--", "true"], "a\n");
  assertEquals([code, workspace.files()], [2, []]);
  assertStringIncludes(stderr, "leave out --report");
});
