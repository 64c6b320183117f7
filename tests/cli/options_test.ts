/** Tests of the options that replace a config, and of the options that control how lines are handled. */

import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { quickConfig, someRuntimes, until, Workspace } from "./cli.ts";

const sh = (script: string, ...args: string[]) => ["--", "sh", "-c", script, "sh", ...args];

/** Command that prints members of each JSON line, in the order of the lines. */
const ECHO_JSON = ["run", "--json", "--concurrency", "1", "--", "echo"];

const sorted = (text: string) => text.trimEnd().split("\n").sort();

Deno.test("options: --retries sets how often a failed item is retried, and overrides the config", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig({ maxRetries: 5 }));
  for (const [number, retries] of ["0", "2"].entries()) {
    const report = `report ${number}`;
    const args = ["--config", "config.json", "--retries", retries, "--report", report, "--", "false"];
    assertEquals((await workspace.run(["run", ...args], "a\n")).code, 1);
    assertEquals(workspace.report(report)[0]!.attempts, Number(retries) + 1);
  }
});

Deno.test("options: --backoff sets how long failed items are delayed, up to the maximum", async () => {
  await using workspace = new Workspace();
  const script = "date +%s%N >> times; [ $WORKQUEUE_ATTEMPT = 4 ]";
  const args = ["--backoff", "100ms..200ms", "--no-append"];
  assertEquals((await workspace.run(["run", ...args, ...sh(script)], "a\n")).code, 0);
  const times = workspace.read("times").trim().split("\n").map((time) => Number(BigInt(time) / 1_000_000n));
  const waits = times.slice(1).map((time, index) => time - times[index]!);
  for (const [index, least] of [100, 200, 200].entries()) assert(waits[index]! >= least, `waited ${waits}`);
});

Deno.test("options: --timeout kills commands that take longer", async () => {
  await using workspace = new Workspace();
  const args = ["--timeout", "200ms", "--retries", "0", "--report", "report.jsonl", "--no-append", "--", "sleep", "60"];
  const { code, stderr } = await workspace.run(["run", ...args], "a\n");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "a: timed out after 1 attempt\n");
  assertEquals(workspace.report()[0]!.timedOut, true);
});

Deno.test("options: --rate sets how many attempts begin, including retries", async () => {
  await using workspace = new Workspace();
  const args = ["--rate", "5/s", "--concurrency", "10", "--backoff", "1ms..1ms", "--no-append"];
  const started = Date.now();
  const { code } = await workspace.run(["run", ...args, ...sh("[ $WORKQUEUE_ATTEMPT = 2 ]")], "a\nb\nc\n");
  assertEquals(code, 0);
  assert(Date.now() - started >= 1000, "the first of six at once, and five more a second");
});

Deno.test("options: --jitter subtracts a random part from the delays", async () => {
  await using workspace = new Workspace();
  const items = Array.from({ length: 30 }, (_, i) => `${i}`);
  /** Runs a command that fails once per item. Returns the items in the order of their retries. */
  const retried = async (...options: string[]) => {
    const args = ["--backoff", "1s..1s", ...options, "--concurrency", "1", "--no-append"];
    const script = '[ $WORKQUEUE_ATTEMPT = 2 ] && echo "$WORKQUEUE_ITEM"';
    const { code, stdout } = await workspace.run(["run", ...args, ...sh(script)], items.join("\n"));
    assertEquals(code, 0);
    return stdout.trimEnd().split("\n");
  };
  assertEquals(await retried(), items, "with equal delays, retries are in the order of the failures");
  const order = await retried("--jitter", "1");
  assertNotEquals(order, items, "with random delays, retries are in another order");
  assertEquals(order.toSorted(), items.toSorted());
});

Deno.test("options: with --group-by, groups take turns, however many lines of one group come first", async () => {
  await using workspace = new Workspace();
  const items = [...Array.from({ length: 50 }, (_, i) => `big/${i}`), "small/1", "small/2"];
  const args = ["--group-by", "/", "--concurrency", "1", "--", "echo"];
  const { stdout } = await workspace.run(["run", ...args], items.join("\n"));
  const order = stdout.trimEnd().split("\n");
  assertEquals(order.length, 52);
  assert(order.indexOf("small/2") < 10, `it came after ${order.indexOf("small/2")} others`);

  const tabbed = items.join("\n").replaceAll("/", "\t"); // the option is either the two characters `\t` or a tab
  for (const tab of ["\\t", "\t"]) {
    const { stdout } = await workspace.run(["run", "--group-by", tab, "--concurrency", "1", "--", "echo"], tabbed);
    assert(stdout.split("\n").indexOf("small\t2") < 10);
  }
});

Deno.test("options: placeholders stand for parts of the item, and for its number", async () => {
  await using workspace = new Workspace();
  const run = async (...args: string[]) => {
    const items = "a/b.tar.gz\nplain\n/top\n.hidden\ndir.d/file\na/b.tar.gz\n";
    return (await workspace.run(["run", "--concurrency", "1", "--", "echo", ...args], items)).stdout.split("\n");
  };
  assertEquals(await run("{.}"), ["a/b.tar", "plain", "/top", ".hidden", "dir.d/file", ""]);
  assertEquals(await run("{/}"), ["b.tar.gz", "plain", "top", ".hidden", "file", ""]);
  assertEquals(await run("{//}"), ["a", ".", "/", ".", "dir.d", ""]);
  assertEquals(await run("{/.}"), ["b.tar", "plain", "top", ".hidden", "file", ""]);
  assertEquals(await run("{#}:{}"), ["1:a/b.tar.gz", "2:plain", "3:/top", "4:.hidden", "5:dir.d/file", ""]);
  assertEquals((await run("{x}", "${}", "{{}}"))[1], "{x} $plain {plain}");
});

Deno.test("options: a placeholder may be the command itself; an item that can't be run is given up, and the others continue", async () => {
  await using workspace = new Workspace();
  const args = ["--retries", "0", "--report", "report.jsonl", "--", "{}"];
  const { code, stderr } = await workspace.run(["run", ...args], "true\nno-such-command\nfalse\n");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "no-such-command: not started after 1 attempt: Cannot run 'no-such-command': ");
  assertEquals(workspace.report().map(({ item, outcome }) => [item, outcome]), [
    ["false", "given-up"],
    ["no-such-command", "given-up"],
    ["true", "succeeded"],
  ]);
});

Deno.test("options: --null allows items that contain line feeds", async () => {
  await using workspace = new Workspace();
  const items = "one\ntwo\0  \0\0\r\n\0last";
  const { code } = await workspace.run(
    ["run", "-0", "--report", "report.jsonl", ...sh('printf "%s" "$1"', "{}")],
    items,
  );
  assertEquals([code, workspace.report().map(({ item }) => item)], [0, ["\r\n", "  ", "last", "one\ntwo"]]);
});

Deno.test("options: with --json, a line is an object, and placeholders stand for its members", async () => {
  await using workspace = new Workspace();
  const lines = [
    '{"url":"http://a","n":1,"tags":["x"],"none":null,"ok":true}',
    "not json",
    '{"url":"http://b"}',
    "[1]",
    '{ "url": "$& it\'s", "n": 0.5, "tags": {}, "none": "", "ok": false }',
  ];
  const { code, stdout, stderr } = await workspace.run(
    [
      ...ECHO_JSON,
      "{url}",
      "{n}",
      "{tags}",
      "<{none}>",
      "{ok}",
      "{#}",
      "{print $1}",
    ],
    lines.join("\n"),
  );
  assertEquals(stdout, `http://a 1 ["x"] <null> true 1 {print $1}\n$& it's 0.5 {} <> false 2 {print $1}\n`);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "Refused (not a JSON object): lines 2, 4\n");
  assertStringIncludes(stderr, "Refused (no member 'n'): line 3\n");

  const whole = await workspace.run(ECHO_JSON, lines[0]! + "\n");
  assertEquals(whole.stdout, lines[0]! + "\n");
});

Deno.test("options: with --json, a placeholder without a value is an error, and is not left in the command", async () => {
  await using workspace = new Workspace();
  const run = (...args: string[]) =>
    workspace.run(["run", "--json", "--", "echo", ...args], '{"user.name":"n","url":"u"}\n');
  assertEquals((await run("{user.name}")).stdout, "n\n");
  for (const placeholder of ["{.}", "{/}", "{//}", "{/.}"]) {
    const { code, stdout, stderr } = await run("{url}", `<${placeholder}>`);
    assertEquals([code, stdout], [2, ""]);
    assertEquals(
      stderr,
      `workqueue: Cannot fill ${placeholder}: a JSON line is not a path; use the name of a member, such as {name}\n`,
    );
  }
});

Deno.test("options: --quiet prints nothing for a successful run, and everything for a failed one", async () => {
  await using workspace = new Workspace();
  const run = (script: string) => workspace.run(["run", "--quiet", "--retries", "0", ...sh(script, "{}")], "a\nb\n");
  assertEquals(await run("sleep 1.2"), { code: 0, stdout: "", stderr: "" });
  const { code, stderr } = await run('sleep 1.2; echo "disk full" >&2; [ "$1" = b ]');
  assertEquals(code, 1);
  assertMatch(stderr, /^Distinct items {5}2\n/);
  assertStringIncludes(stderr, "Given up:\n  a: exit code 1 after 1 attempt: disk full\n");
});

Deno.test("options: --tag prints the item before each line", async () => {
  await using workspace = new Workspace();
  const script = 'printf "one\\ntwo "; sleep 0.05; printf "three\\nend"';
  const { stdout } = await workspace.run(
    ["run", "--tag", "--concurrency", "2", "--no-append", ...sh(script)],
    "a\nb\n",
  );
  assertEquals(sorted(stdout).filter((line) => line !== ""), [
    "a\tend",
    "a\tone",
    "a\ttwo three",
    "b\tend",
    "b\tone",
    "b\ttwo three",
  ]);
});

Deno.test("options: --dry-run prints commands that a shell accepts, runs nothing and writes nothing", async () => {
  await using workspace = new Workspace();
  const { code, stdout, stderr } = await workspace.run(
    ["run", "--dry-run", "--report", "report.jsonl", "--", "touch", "it's", "{}"],
    "a b\n$(date)\nplain\na b\n\xff",
  );
  assertEquals(
    stdout,
    `touch 'it'\\''s' 'a b'\ntouch 'it'\\''s' '$(date)'\ntouch 'it'\\''s' plain\ntouch 'it'\\''s' 'ÿ'\n`,
  );
  assertEquals([code, stderr, workspace.files()], [0, "", []]);
  const variable = await workspace.run(["run", "--dry-run", "--", "{}", "A=1"], "A=1\n");
  assertEquals(variable.stdout, "'A=1' A=1\n");
  const directory = await workspace.run(["run", "--dry-run", "--input", ".", "--", "echo"]);
  assertEquals(
    [directory.code, directory.stderr],
    [2, "workqueue: Cannot read input '.': it is a directory\n"],
  );
});

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`options, ${runtime}: --halt soon lets running commands finish, and starts no more`, async () => {
    await using workspace = new Workspace(runtime);
    const script = 'case "$1" in bad*) exit 3;; *) touch "began $1"; until [ -e go ]; do sleep 0.02; done;; esac';
    const args = ["--halt", "soon,fail=2", "--retries", "0", "--concurrency", "2", "--report", "report.jsonl"];
    const cli = await workspace.start(["run", ...args, ...sh(script, "{}")], "slow\nbad 1\nbad 2\nnever\n");
    await until(() => cli.stderr.includes("Halted: 2 items were given up."), "it says so");
    workspace.write("go", "");
    const { code, stderr } = await cli.ended;
    assertEquals(code, 1);
    assertMatch(stderr, /^Unfinished +1$/m);
    assertEquals(workspace.report().map(({ item, outcome }) => [item, outcome]), [
      ["bad 1", "given-up"],
      ["bad 2", "given-up"],
      ["never", "unfinished"],
      ["slow", "succeeded"],
    ]);
  });

  Deno.test(`options, ${runtime}: --halt now kills running commands`, async () => {
    await using workspace = new Workspace(runtime);
    const script =
      'case "$1" in bad*) until [ -e began ]; do sleep 0.02; done; exit 3;; *) touch began; sleep 300;; esac';
    const args = ["--halt", "now,fail=1", "--retries", "0", "--concurrency", "2", "--report", "report.jsonl"];
    const { code } = await workspace.run(["run", ...args, ...sh(script, "{}")], "slow\nbad\nnever\n");
    assertEquals(code, 1);
    assertEquals(workspace.report().map(({ item, outcome, signal }) => [item, outcome, signal]), [
      ["bad", "given-up", null],
      ["never", "unfinished", null],
      ["slow", "unfinished", "SIGTERM"],
    ]);
  });
}

Deno.test("options: --halt with a percentage counts among finished items, once three were given up", async () => {
  await using workspace = new Workspace();
  const items = Array.from({ length: 40 }, (_, i) => `${i}\n`).join("");
  const args = ["--halt", "now,fail=25%", "--retries", "0", "--concurrency", "1", "--report", "report.jsonl"];
  const { code } = await workspace.run(["run", ...args, ...sh("[ $1 -lt 9 ]", "{}")], items);
  const report = workspace.report();
  const count = (outcome: string) => report.filter((item) => item.outcome === outcome).length;
  assertEquals([code, count("succeeded"), count("given-up"), count("unfinished")], [1, 9, 3, 28]);
});

const WRONG: Record<string, [string, string]> = {
  "--retries": ["-1", "It must be an integer from 0 to 1000000."],
  "--timeout": ["30", "It must be a duration with a unit, such as 250ms, 30s or 1h30m."],
  "--backoff": ["1s", "It must be two durations, such as 100ms..30s."],
  "--jitter": ["1.5", "It must be a number from 0 to 1."],
  "--rate": ["10", "It must be a number per unit of time, such as 10/s, 100/m or 5/h."],
  "--group-by": ["", "It must not be empty."],
  "--colsep": [
    "|",
    "It must be a regular expression that matches at least one character, such as '\\t', ', *' or '\\|'.",
  ],
  "--give-up-on": ["0,65", "It must be exit codes from 1 to 255, such as 65 or 64,65."],
  "--retry-after-on": ["75,", "It must be exit codes from 1 to 255, such as 65 or 64,65."],
  "--retry-after-scope": ["queue", "It must be item, group or run."],
  "--halt": ["later,fail=1", "It must have the form soon,fail=1 or now,fail=10%."],
  "--output": ["lines", "It must be line or group."],
  "--stderr": ["hide", "It must be pass or auto."],
  "--results": ["out/{}", "It must be a directory, without a placeholder, and not ending in .csv, .tsv or .json."],
  "--report": ["-", "It must be a file, because standard output is for the output of the commands."],
  "--resume": ["-", "It must be a file, because standard output is for the output of the commands."],
  "--serve": ["echo", "It must be an integer from 1 to 65535; if it is the command, write -- before it."],
};

for (const [option, [value, reason]] of Object.entries(WRONG)) {
  Deno.test(`options: ${option} ${value} is refused`, async () => {
    await using workspace = new Workspace();
    const { code, stdout, stderr } = await workspace.run(["run", `${option}=${value}`, "--", "true"], "a\n");
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, `argument '${value}' is invalid. ${reason}\n`);
  });
}

Deno.test("options: --plugin adds limiter types for the config", async () => {
  await using workspace = new Workspace();
  workspace.write(
    "plugin.mjs",
    `export default ({ limiters }) => limiters.register({
      type: "fixed",
      description: "Always the same delay.",
      options: { delay: { kind: "duration", description: "The delay." } },
      create: ({ delay }) => ({ when: () => delay, forget() {}, numRequeues: () => 0 }),
    });`,
  );
  workspace.write("config.yaml", "queues: { q: { limiter: { type: fixed, delay: 1ms }, maxRetries: 3 } }");
  const args = ["--config", "config.yaml", "--report", "report.jsonl", "--", "false"];
  assertEquals((await workspace.run(["run", ...args], "a\n")).code, 2);
  assertEquals((await workspace.run(["run", "--plugin", "plugin.mjs", ...args], "a\n")).code, 1);
  assertEquals(workspace.report()[0]!.attempts, 4);
});

Deno.test("options: --dry-run ends when its output is closed, even if the input continues", async () => {
  await using workspace = new Workspace();
  const script = 'yes | "$@" | head -n 1';
  const { stdout } = await workspace.run(["run", "--dry-run", "--no-dedupe", "--", "echo"], "", script);
  assertEquals(stdout, "echo y\n");
});

Deno.test("options: with --json, numbers are passed as written, and values that can't be arguments are refused", async () => {
  await using workspace = new Workspace();
  const line =
    '{"id":12345678901234567890,"p":1.10,"x":1e400,"o":{"k": 9007199254740993},"__proto__":"p","id2":1,"id2":2}';
  const args = [
    ...ECHO_JSON,
    "{id}",
    "{p}",
    "{x}",
    "{o}",
    "{__proto__}",
    "{id2}",
  ];
  const { stdout, stderr } = await workspace.run(args, `${line}\n${line.replace(':"p"', ':"\\ud800"')}\n`);
  assertEquals(stdout, '12345678901234567890 1.10 1e400 {"k": 9007199254740993} p 2\n');
  assertStringIncludes(stderr, "Refused (unpaired surrogate in member '__proto__'): line 2\n");
});

Deno.test("options: an item too long for the environment is run without the environment variable", async () => {
  await using workspace = new Workspace();
  const line = JSON.stringify({ id: 1, blob: "x".repeat(140_000) });
  const { code, stdout } = await workspace.run(["run", "--json", "--", "echo", "{id}"], line);
  assertEquals([code, stdout], [0, "1\n"]);
});

Deno.test("options: a plugin's limiter that fails ends the run with the reason", async () => {
  await using workspace = new Workspace();
  const plugin = (when: string) =>
    `export default ({ limiters }) => limiters.register({
    type: "own", description: "Fails.", options: {}, create: () => ({ when() { ${when} }, forget() {}, numRequeues: () => 0 }),
  });`;
  workspace.write("throws.mjs", plugin('throw new Error("no idea")'));
  workspace.write("late.mjs", plugin('setTimeout(() => { throw new Error("too late"); }, 1); return 60_000;'));
  workspace.write("config.json", '{ "queues": { "q": { "limiter": { "type": "own" } } } }');
  const reasons = { "throws.mjs": "Cannot retry an item: its limiter failed: no idea", "late.mjs": "too late" };
  for (const [file, reason] of Object.entries(reasons)) {
    const args = ["--config", "config.json", "--plugin", file, "--report", `${file}.report`, "--", "false"];
    const { code, stderr } = await workspace.run(["run", ...args], "a\n");
    assertEquals(code, 2);
    assertStringIncludes(stderr, reason);
    assertEquals(workspace.report(`${file}.report`).map(({ outcome }) => outcome), ["unfinished"]);
  }
});

Deno.test("options: a config without a limiter has the same delays as no config", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", '{ "queues": { "q": { "maxRetries": 2 } } }');
  const started = Date.now();
  assertEquals((await workspace.run(["run", "--config", "config.json", "--", "false"], "a\n")).code, 1);
  assert(Date.now() - started >= 100 + 200);
});
