import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { isRunning, quickConfig, until, Workspace } from "./cli.ts";

/** Returns arguments that run a shell script. The argument after the script is only the value of the script's `$0`. */
const sh = (script: string, ...args: string[]) => ["--", "sh", "-c", script, "sh", ...args];

/** Returns a shell command that exits with `code` in the first `attempts` attempts, and with 0 in later ones. */
const failing = (attempts: number, code = 1) => `[ $WORKQUEUE_ATTEMPT -gt ${attempts} ] || exit ${code}`;

Deno.test("run: the command runs once for each item of standard input", async () => {
  await using workspace = new Workspace();
  const { code, stdout, stderr } = await workspace.run(
    ["run", "--concurrency", "1", "--", "echo", "did", "{}"],
    "a\nb\n",
  );
  assertEquals({ code, stdout }, { code: 0, stdout: "did a\ndid b\n" });
  assertMatch(stderr, /^Distinct items +2$/m);
  assertMatch(stderr, /^Succeeded +2$/m);
  assertMatch(stderr, /^Queue wait +\S+ m?s median, \S+ m?s 99th percentile$/m);
});

Deno.test("run: --input names a file, and - is standard input", async () => {
  await using workspace = new Workspace();
  workspace.write("items", "from the file\n");
  const run = async (input: string) =>
    (await workspace.run(["run", "--input", input, "--", "echo", "{}"], "from the pipe\n")).stdout;
  assertEquals(await run("items"), "from the file\n");
  assertEquals(await run("-"), "from the pipe\n");
});

Deno.test("run: an empty input is not an error", async () => {
  await using workspace = new Workspace();
  const { code, stdout, stderr } = await workspace.run(["run", "--", "echo", "{}"], "");
  assertEquals({ code, stdout }, { code: 0, stdout: "" });
  assertMatch(stderr, /^Distinct items +0$/m);
});

Deno.test("run: BOM, CR LF, blank lines and a missing last line feed are handled, and other white space is kept", async () => {
  await using workspace = new Workspace();
  const input = "\uFEFFfirst\r\n\n\r\n  \t\n  kept \r\nnaïve\u2028line\n\uFEFFlast";
  await workspace.run(["run", "--report", "report.jsonl", "--", "true"], input);
  const items = ["  kept ", "first", "naïve\u2028line", "\uFEFFlast"];
  assertEquals(workspace.report().map(({ item }) => item), items);
});

Deno.test("run: repeated lines are folded, whatever happened to the first ones", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig({ concurrency: 1, maxRetries: 0 }));
  const { code, stderr } = await workspace.run(
    ["run", "--config", "config.json", ...sh('echo "$1" >> done; [ "$1" != bad ]', "{}")],
    "good\nbad\ngood\nother\nbad\ngood\n",
  );
  assertEquals(code, 1);
  assertEquals(workspace.read("done"), "good\nbad\nother\n");
  assertMatch(stderr, /^Duplicates folded +3$/m);
});

Deno.test("run: a hundred thousand lines with few distinct ones are folded", async () => {
  await using workspace = new Workspace();
  workspace.write("items", Array.from({ length: 100_000 }, (_, i) => `item ${i % 7}\n`).join(""));
  const { code, stderr } = await workspace.run(["run", "--input", "items", "--", "true"]);
  assertEquals(code, 0);
  assertMatch(stderr, /^Distinct items +7$/m);
  assertMatch(stderr, /^Duplicates folded +99993$/m);
});

Deno.test("run: a list that is longer than the maximum queue length is processed", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig({ maxRetries: 1 }));
  // No process can be started with an argument that contains a NUL. Items with a NUL are given up immediately, so
  // thousands of them take little time.
  const items = Array.from({ length: 5000 }, (_, i) => `${i}\0\n`).join("");
  const { code, stderr } = await workspace.run([
    "run",
    "--config",
    "config.json",
    "--report",
    "report.jsonl",
    "--",
    "true",
    "{}",
  ], items);
  assertEquals(code, 1);
  assertMatch(stderr, /^Given up +5000$/m);
  assertEquals(new Set(workspace.report().map(({ item, attempts }) => attempts === 1 && item)).size, 5000);
});

Deno.test("run: {} is replaced at every place, without a shell", async () => {
  await using workspace = new Workspace();
  const items = ["a b", "; touch pwned", "$(touch pwned)", `'"`, "{}", "$& $1", "*"];
  const { code, stdout } = await workspace.run(
    ["run", "--concurrency", "1", "--", "printf", "%s|", "{}", "<{}-{}>", "none"],
    items.join("\n"),
  );
  assertEquals(code, 0);
  assertEquals(stdout, items.map((item) => `${item}|<${item}-${item}>|none|`).join(""));
  assertEquals(workspace.files(), []);
});

Deno.test("run: without a placeholder, the item is appended, unless --no-append is given", async () => {
  await using workspace = new Workspace();
  const run = async (...args: string[]) =>
    (await workspace.run(["run", ...args, "echo", "it is", "--help"], "a b\n")).stdout;
  assertEquals(await run("--"), "it is --help a b\n");
  assertEquals(await run("--no-append", "--"), "it is --help\n");
});

Deno.test("run: the child gets the item and the attempt, and its input is empty", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig());
  const script = 'echo "$WORKQUEUE_ITEM $WORKQUEUE_ATTEMPT $(cat)"; [ $WORKQUEUE_ATTEMPT = 3 ]';
  const { code, stdout } = await workspace.run(["run", "--config", "config.json", ...sh(script)], "my item\n");
  assertEquals({ code, stdout }, { code: 0, stdout: "my item 1 \nmy item 2 \nmy item 3 \n" });
});

Deno.test("run: lines that children print at the same time do not mix", async () => {
  await using workspace = new Workspace();
  const script = "for i in 1 2 3; do printf $1; sleep 0.02; printf $1; sleep 0.02; echo $1; done";
  const { stdout } = await workspace.run(["run", "--concurrency", "4", ...sh(script, "{}")], "a\nb\nc\nd\n");
  assertEquals(stdout.split("\n").sort().join(" "), " aaa aaa aaa bbb bbb bbb ccc ccc ccc ddd ddd ddd");
});

Deno.test("run: large output is passed on to the last byte", async () => {
  await using workspace = new Workspace();
  const { stdout } = await workspace.run(["run", "--concurrency", "1", ...sh("seq 200000; printf end")], "a\n");
  assertEquals(stdout.length, 1_288_895 + 3);
  assert(stdout.endsWith("\n200000\nend"));
});

Deno.test("run: failed items are retried, and the report has the outcomes", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig());
  const script = `echo "attempt $WORKQUEUE_ATTEMPT" >&2; ${failing(2, 3)}`;
  const { code, stderr } = await workspace.run([
    "run",
    "--config",
    "config.json",
    "--report",
    "report.jsonl",
    ...sh(script),
  ], "a\n");
  assertEquals(code, 0);
  assertMatch(stderr, /^Retries +2$/m);
  assert(!stderr.includes("attempt"), "the standard error of attempts that are retried is not shown");

  const [item] = workspace.report();
  const { startedAt, finishedAt, queueSeconds, workSeconds, ...rest } = item!;
  assertEquals(rest, {
    item: "a",
    outcome: "succeeded",
    reason: null,
    attempts: 3,
    exitCode: 0,
    signal: null,
    timedOut: false,
    stderr: "attempt 3\n",
  });
  assert(Date.parse(startedAt!) <= Date.parse(finishedAt!));
  assert(queueSeconds >= 0 && workSeconds > 0);
  assertEquals(
    Object.keys(item!).join(" "),
    "item outcome reason attempts exitCode signal timedOut startedAt finishedAt queueSeconds workSeconds stderr",
  );
});

Deno.test("run: an item that fails too often is given up, with exit code 1", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig({ maxRetries: 2 }));
  const script = '[ "$1" != bad ] || { echo first >&2; echo "no such thing" >&2; exit 4; }';
  const { code, stderr } = await workspace.run(
    ["run", "--config", "config.json", "--report", "report.jsonl", ...sh(script, "{}")],
    "bad\ngood\n",
  );
  assertEquals(code, 1);
  assertMatch(stderr, /^Given up +1$/m);
  assertStringIncludes(stderr, "Given up:\n  bad: exit code 4 after 3 attempts: no such thing\n");
  const outcomes = workspace.report().map((
    { item, outcome, reason, attempts, exitCode },
  ) => [item, outcome, reason, attempts, exitCode]);
  assertEquals(outcomes, [["bad", "given-up", "maxRetries", 3, 4], ["good", "succeeded", null, 1, 0]]);
});

Deno.test("run: the summary lists ten items that were given up, and counts the rest", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig({ maxRetries: 0 }));
  const items = Array.from({ length: 13 }, (_, i) => `item ${i}\n`).join("");
  const { stderr } = await workspace.run(["run", "--config", "config.json", "--", "false"], items);
  assertEquals(stderr.split("\n").filter((line) => line.startsWith("  item ")).length, 10);
  assertStringIncludes(stderr, "\n  … and 3 more\n");
});

Deno.test("run: without a config, failures are retried with backoff and given up after five retries", async () => {
  await using workspace = new Workspace();
  const start = Date.now();
  const { code } = await workspace.run(["run", "--report", "report.jsonl", "--", "false"], "a\nb\n");
  assertEquals(code, 1);
  assertEquals(workspace.report().map(({ attempts }) => attempts), [6, 6]);
  assert(Date.now() - start > 100 + 200 + 400 + 800 + 1600);
});

Deno.test("run: the report has the last 4 KiB of standard error, whole characters only", async () => {
  await using workspace = new Workspace();
  await workspace.run([
    "run",
    "--report",
    "report.jsonl",
    ...sh("i=0; while [ $i -lt 2000 ]; do printf € >&2; i=$((i+1)); done"),
  ], "a\n");
  const [item] = workspace.report();
  assertEquals(item!.stderr, "€".repeat(Math.floor(4096 / 3)));
});

Deno.test("run: a child that is ended by a signal has failed", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig({ maxRetries: 0 }));
  const { code } = await workspace.run(
    ["run", "--config", "config.json", "--report", "report.jsonl", ...sh("kill -9 $$")],
    "a\n",
  );
  const [item] = workspace.report();
  assertEquals([code, item!.exitCode, item!.signal], [1, null, "SIGKILL"]);
});

Deno.test("run: an item for which no process can be started is given up, and the others continue", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig({ maxRetries: 0 }));
  const tooLong = "x".repeat(3_000_000);
  const { code, stderr } = await workspace.run(
    ["run", "--config", "config.json", "--report", "report.jsonl", "--", "true", "{}"],
    `a\n${tooLong}\nn\0ul\nz\n`,
  );
  assertEquals(code, 1);
  assertStringIncludes(stderr, "  n\u{FFFD}ul: not started after 1 attempt: Cannot run 'true': ");
  assertEquals(workspace.report().map(({ outcome }) => outcome), ["succeeded", "given-up", "given-up", "succeeded"]);
});

Deno.test("run: processes that a child leaves behind are not waited for", async () => {
  await using workspace = new Workspace();
  const { code, stdout } = await workspace.run(["run", ...sh("sleep 60 & echo $!")], "a\n");
  assertEquals(code, 0);
  assert(await isRunning(stdout), "it must not be killed either");
  Deno.kill(Number(stdout));
});

Deno.test("run: a report that is interrupted by SIGKILL is valid", async () => {
  await using workspace = new Workspace();
  const items = Array.from({ length: 1000 }, (_, i) => `${i}\n`).join("");
  const cli = await workspace.start(["run", "--report", "report.jsonl", ...sh("echo some text >&2")], items);
  const lines = () => workspace.read("report.jsonl").split("\n"); // the last line may be half written
  await until(() => workspace.has("report.jsonl") && lines().length > 10, "some items are reported");
  cli.kill("SIGKILL");
  await cli.ended;
  const report = workspace.report();
  assertLess(report.length, 1000);
  for (const { outcome, stderr } of report) assertEquals([outcome, stderr], ["succeeded", "some text\n"]);
});

Deno.test("run: a discipline limits how many items of a group run at once, and other groups continue", async () => {
  await using workspace = new Workspace();
  const discipline = { type: "fair", separator: "/", maxPerGroup: 1 };
  workspace.write("config.json", quickConfig({ concurrency: 4, maxRetries: 0, discipline }));
  const items = Array.from({ length: 30 }, (_, i) => `${i % 3 === 0 ? "a" : "b"}/${i}\n`).join("");
  // `mkdir` fails if another item of the same group is running.
  const script = 'mkdir "${1%%/*}" && ls > "seen-${1##*/}" && rmdir "${1%%/*}"';
  for (const flags of [[], ["--no-dedupe"]]) {
    const { code, stderr } = await workspace.run(
      ["run", "--config", "config.json", ...flags, ...sh(script, "{}")],
      items + (flags.length > 0 ? items : ""),
    );
    assertEquals(code, 0, stderr);
    assertMatch(stderr, flags.length > 0 ? /^Succeeded +60$/m : /^Succeeded +30$/m);
  }
});

Deno.test("run: a per-group limiter finds the groups in the lines", async () => {
  await using workspace = new Workspace();
  const limiter = {
    type: "per-group",
    separator: "/",
    limiter: { type: "exponential", baseDelay: "1ms", maxDelay: "1ms" },
  };
  workspace.write("config.json", JSON.stringify({ queues: { default: { limiter } } }));
  const { code, stdout } = await workspace.run(
    ["run", "--config", "config.json", ...sh(`${failing(1)}; echo "$1"`, "{}")],
    "a/1\nb/1\n",
  );
  assertEquals([code, stdout.split("\n").sort()], [0, ["", "a/1", "b/1"]]);
});
