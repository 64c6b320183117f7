/** Tests of `workqueue run --queue FILE`, which keeps its items in a file. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { type Cli, someRuntimes, until, Workspace } from "./cli.ts";
import { FileQueue } from "./queue_tests.ts";
import { hasPseudoTerminals, PseudoTerminal } from "./pseudo_terminal.ts";

const QUICK = ["--backoff", "1ms..1ms", "-j1"];

/** Returns the items that a script has written to a file, one per line. */
function itemsIn(workspace: Workspace, file: string): string[] {
  return workspace.has(file) ? workspace.read(file).split("\n").slice(0, -1) : [];
}

async function statusOf(workspace: Workspace, queue: string): Promise<Record<string, number>> {
  const { stdout } = await workspace.run(["status", "--queue", queue, "--json"]);
  const { ready, delayed, processing, givenUp } = JSON.parse(stdout);
  return { ready, delayed, processing, givenUp };
}

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`run on a file, ${runtime}: adds the list, works until the queue is empty, and reports`, async () => {
    await using workspace = new Workspace(runtime);
    const script =
      'echo "$1 $WORKQUEUE_ATTEMPT"; case $1 in bad) echo broken >&2; exit 7;; late) [ $WORKQUEUE_ATTEMPT = 2 ];; esac';
    const args = [
      "run",
      "--queue",
      "jobs.db",
      ...QUICK,
      "--retries",
      "1",
      "--report",
      "report.jsonl",
      "--",
      "sh",
      "-c",
    ];
    const { code, stdout, stderr } = await workspace.run([...args, script, "sh"], "good\nbad\nlate\n\ngood\n");
    assertEquals([code, stdout.trim().split("\n").sort()], [1, ["bad 1", "bad 2", "good 1", "late 1", "late 2"]]);
    assertStringIncludes(stderr, "Added 3 lines to jobs.db.\n");
    assertMatch(stderr, /^Items +3\nDuplicates folded +1\nSucceeded +2\nGiven up +1\nRetries +2\n/m);
    assertStringIncludes(stderr, "Given up:\n  bad: exit code 7 after 2 attempts: broken\n");
    assertEquals(workspace.report().map(({ item, outcome, reason, attempts }) => [item, outcome, reason, attempts]), [
      ["bad", "given-up", "maxRetries", 2],
      ["good", "succeeded", null, 1],
      ["late", "succeeded", null, 2],
    ]);
    assertEquals(await statusOf(workspace, "jobs.db"), { ready: 0, delayed: 0, processing: 0, givenUp: 1 });

    // Without a list, a run works on what is in the queue.
    await workspace.run(["push", "--queue", "jobs.db"], "pushed\n");
    for (const [input, items] of [["", []], ["more\n", ["more"]]] as const) {
      await workspace.run(["push", "--queue", "jobs.db"], "pushed\n");
      const next = await workspace.run(["run", "--queue", "jobs.db", "-j1", "--", "echo"], input);
      assertEquals([next.code, next.stdout], [0, ["pushed", ...items, ""].join("\n")]);
    }
    const none = await workspace.run(["run", "--queue", "jobs.db", "--quiet", "echo", ":::"], "not read\n");
    assertEquals(none, { code: 0, stdout: "", stderr: "" });
  });

  Deno.test(`run on a file, ${runtime}: after kill -9, another run finishes the rest`, async () => {
    await using workspace = new Workspace(runtime);
    using queue = new FileQueue();
    const lines = Array.from({ length: 40 }, (_, i) => `${i}`);
    // The commands of the killed run go on, as after any kill -9, so they end only when the test says so.
    const script = 'echo "$1" >> began; while [ -e stop ] && [ "$1" -ge 20 ]; do sleep 0.05; done; echo "$1" >> ended';
    const run = ["run", ...queue.args, "-j2", "--", "sh", "-c", script, "sh"];
    workspace.write("stop", "");
    const killed = await workspace.start(run, lines.join("\n"));
    await until(() => itemsIn(workspace, "began").length === 22, "two commands hang");
    const open = queue.open();
    await until(async () => (await open.counts()).ready === 18, "what has ended is stored");
    killed.kill("SIGKILL");
    await killed.ended;
    assertEquals((await open.counts()).processing, 2);
    await open.shutDownWithDrain();
    Deno.removeSync(`${workspace.directory}/stop`);
    await until(() => itemsIn(workspace, "ended").length === 22, "the commands that were left have ended");
    const next = await workspace.start(run);
    await until(() => next.stderr.includes("Waiting for 2 items that other processes have."), "the run says why");
    assertEquals(itemsIn(workspace, "ended").length, 40);
    await queue.expireLeases();
    const { code, stderr } = await next.ended;
    assertEquals(code, 0, stderr);
    assertMatch(stderr, /^Items +20\nSucceeded +20\n/m);
    const began = itemsIn(workspace, "began");
    assertEquals(began.toSorted(), [...lines, "20", "21"].sort(), "only what was running is run again");
  });

  Deno.test(`run on a file, ${runtime}: several runs share the items, and each item runs once`, async () => {
    await using workspace = new Workspace(runtime);
    await using other = new Workspace();
    using queue = new FileQueue();
    const lines = Array.from({ length: 60 }, (_, i) => `${i}`);
    const { directory } = workspace;
    // No command ends before both runs have begun one.
    const script = `touch "$0"; until [ -e '${directory}/one' ] && [ -e '${directory}/two' ]; do sleep 0.01; done; ` +
      `echo "$1" >> "$0"`;
    const run = (name: string) => ["run", ...queue.args, "-j4", "--", "sh", "-c", script, `${directory}/${name}`];
    const one = workspace.run(run("one"), lines.join("\n"));
    await until(() => workspace.has("one"), "a run has items"); // a run that finds an empty queue ends
    const ends = await Promise.all([one, other.run(run("two"))]);
    assertEquals(ends.map(({ code }) => code), [0, 0]);
    const done = ["one", "two"].map((name) => itemsIn(workspace, name));
    assert(done.every(({ length }) => length >= 4), "both take part");
    assertEquals(done.flat().sort(), lines.sort());
  });

  Deno.test(`run on a file, ${runtime}: an endless list can be interrupted`, async () => {
    await using workspace = new Workspace(runtime);
    const script = `{ echo a; echo b; exec sleep 60; } | { sh -c 'echo $$ > pid; exec "$@"' sh "$@"; }`;
    const cli = await workspace.start(["run", "--queue", "jobs.db", "--", "touch"], "", script);
    await until(() => workspace.has("a") && workspace.has("b"), "the lines are worked on");
    Deno.kill(Number(workspace.read("pid")), "SIGTERM");
    await until(() => cli.stderr.includes("Added 2 lines to jobs.db.\n"), "the run ends");
  });
}

Deno.test("run on a file: lines are in the file as soon as they are read, independent of the commands", async () => {
  await using workspace = new Workspace();
  using queue = new FileQueue();
  const lines = Array.from({ length: 5000 }, (_, i) => `${i}`);
  const hanging = 'while [ -d "$PWD" ]; do sleep 0.05; done'; // ends with the workspace, because the run is killed
  const run = await workspace.start(["run", ...queue.args, "-j1", "--", "sh", "-c", hanging], lines.join("\n"));
  await until(() => run.stderr.includes(`Added 5000 lines to ${queue.path}.\n`), "all lines are added");
  run.kill("SIGKILL");
  await run.ended;
  const { ready, processing } = await statusOf(workspace, queue.path);
  assertEquals(ready! + processing!, 5000);
});

/** Starts a run whose commands wait for the file `go`, and waits until one is running. */
async function startHanging(workspace: Workspace, args: string[], input?: string): Promise<Cli> {
  const script = "touch begun; until [ -e go ]; do sleep 0.01; done; touch ended";
  const run = await workspace.start([...args, "-j1", "--", "sh", "-c", script], input);
  await until(() => workspace.has("begun"), "a command runs");
  return run;
}

Deno.test("run on a file: a run that is interrupted says how to continue", async () => {
  await using workspace = new Workspace();
  workspace.write("list", "a\nb\n");
  const options = ["--queue", "jobs.db#q", "--input", "list", "--report", "report.jsonl"];
  const run = await startHanging(workspace, ["run", ...options]);
  run.kill("SIGTERM");
  await until(() => run.stderr.includes("waiting for 1 running command"), "the run waits");
  workspace.write("go", "");
  const { code, stderr } = await run.ended;
  assertEquals(code, 143);
  const [, line] = /^Unfinished items are in jobs\.db#q\. To go on with them: (workqueue .*)$/m.exec(stderr)!;
  assertMatch(line!, /^workqueue run --queue 'jobs\.db#q' --resume report\.jsonl -j1 -- sh -c 'touch begun; /);
  assertEquals(await statusOf(workspace, "jobs.db#q"), { ready: 1, delayed: 0, processing: 0, givenUp: 0 });
  const next = await workspace.run([], "", line!.replace(/^workqueue/, '"$@"'));
  assertEquals(next.code, 0, next.stderr);
  assertEquals(workspace.report().map(({ item, outcome }) => [item, outcome]), [["a", "succeeded"], [
    "b",
    "succeeded",
  ]]);
});

Deno.test("run on a file: the second signal hands running items back", async () => {
  await using workspace = new Workspace();
  const run = await startHanging(workspace, ["run", "--queue", "jobs.db"], "a\nb\n");
  run.kill("SIGINT");
  await until(() => run.stderr.includes("Press Ctrl-C again to kill it"), "the run waits");
  run.kill("SIGINT");
  assertEquals((await run.ended).code, 130);
  const { ready, delayed, processing } = await statusOf(workspace, "jobs.db");
  assertEquals([ready! + delayed!, processing], [2, 0]);
});

for (const command of ["run", "work"]) {
  Deno.test(`${command} on a file: a command that can't be started does not count as a failure of an item`, async () => {
    await using workspace = new Workspace();
    await workspace.run(["push", "--queue", "jobs.db", "--quiet"], "a\nb\n");
    for (let start = 0; start < 2; start++) {
      const { code, stderr } = await workspace.run([
        command,
        "--queue",
        "jobs.db",
        "--retries",
        "0",
        "no-such-command",
      ]);
      assertEquals(code, 2);
      assertStringIncludes(stderr, "workqueue: Cannot run 'no-such-command': there is no such command\n");
      assert(!stderr.includes("Cannot store the result"), stderr);
    }
    const { stdout } = await workspace.run(["status", "--queue", "jobs.db", "--json"]);
    const { ready, delayed, givenUp, totals } = JSON.parse(stdout);
    assertEquals([ready + delayed, givenUp, totals.failed], [2, 0, 0]);
  });
}

Deno.test("run on a file: if the file is removed, the run ends with an error that says so", async () => {
  await using workspace = new Workspace();
  const run = await startHanging(workspace, ["run", "--queue", "jobs.db"], "a\nb\n");
  for (const file of ["jobs.db", "jobs.db-wal"]) Deno.removeSync(`${workspace.directory}/${file}`);
  await until(() => run.stderr.includes("jobs.db was removed or replaced while it was open"), "the run has noticed");
  workspace.write("go", "");
  const { code, stderr } = await run.ended;
  assertEquals(code, 2);
  assertMatch(
    stderr,
    /\nworkqueue: Cannot write to .*jobs\.db: .*was removed or replaced while it was open\.[^\n]*\n$/,
  );
});

Deno.test("run on a file: a run waits while another program has locked the file", async () => {
  await using workspace = new Workspace();
  const run = await startHanging(workspace, ["run", "--queue", "jobs.db"], "a\nb\n");
  const database = new DatabaseSync(`${workspace.directory}/jobs.db`, { timeout: 5000 });
  database.exec("BEGIN IMMEDIATE");
  workspace.write("go", "");
  await until(() => workspace.has("ended"), "the command has ended");
  database.exec("ROLLBACK");
  database.close();
  const { code, stderr } = await run.ended;
  assertEquals(code, 0, stderr);
  assertMatch(stderr, /^Succeeded +2$/m);
});

Deno.test("run on a file: a resumed report leaves out items that have succeeded", async () => {
  await using workspace = new Workspace();
  const script = 'echo "$1"; [ -e fixed ] || [ "$1" != b ]';
  const run = [
    "run",
    "--queue",
    "jobs.db",
    "--resume",
    "report.jsonl",
    "--retries",
    "0",
    "-j1",
    "--",
    "sh",
    "-c",
    script,
    "sh",
  ];
  assertEquals(await workspace.run(run, "a\nb\n").then(({ code, stdout }) => [code, stdout]), [1, "a\nb\n"]);
  workspace.write("fixed", "");
  const { code, stdout, stderr } = await workspace.run(run, "a\nb\nc\n");
  assertEquals([code, stdout], [0, "b\nc\n"]);
  assertMatch(stderr, /^Items +3\nAlready done +1\nSucceeded +2\n/m);
  assertEquals(await statusOf(workspace, "jobs.db"), { ready: 0, delayed: 0, processing: 0, givenUp: 0 });
});

Deno.test("run on a file: lines that can't be items are refused, and are not added", async () => {
  await using workspace = new Workspace();
  const args = ["run", "--queue", "jobs.db", "-j1", "--json", "--", "echo", "{id}"];
  const { code, stdout, stderr } = await workspace.run(args, '{"id":1}\nnot JSON\n{"name":"x"}\n');
  assertEquals([code, stdout], [1, "1\n"]);
  assertStringIncludes(stderr, "Refused (not a JSON object): line 2\nRefused (no member 'id'): line 3\n");
  assertEquals(await statusOf(workspace, "jobs.db"), { ready: 0, delayed: 0, processing: 0, givenUp: 0 });
});

Deno.test("run on a file: --halt ends the run, and the other items stay in the file", async () => {
  await using workspace = new Workspace();
  const halt = ["--retries", "0", "--halt", "soon,fail=2", ...QUICK];
  const { code, stderr } = await workspace.run(["run", "--queue", "jobs.db", ...halt, "--", "false"], "a\nb\nc\nd\n");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "Halted: 2 items were given up.\n");
  assertEquals(await statusOf(workspace, "jobs.db"), { ready: 2, delayed: 0, processing: 0, givenUp: 2 });
});

Deno.test("run on a file: a config and a discipline apply", async () => {
  await using workspace = new Workspace();
  workspace.write("queues.yaml", "queues: { images: { concurrency: 1, maxRetries: 0 }, others: {} }");
  const config = ["run", "--queue", "jobs.db#images", "--config", "queues.yaml"];
  const lines = "big/1\nbig/2\nbig/3\nbig/4\nsmall/1\nsmall/2\n";
  const script = 'until [ -e go ]; do sleep 0.01; done; echo "$1"'; // the first command ends when all lines are added
  const fair = await workspace.start([...config, "--group-by", "/", "--", "sh", "-c", script, "sh"], lines);
  await until(() => fair.stderr.includes("Added 6 lines to jobs.db.\n"), "all lines are added");
  workspace.write("go", "");
  const { stdout } = await fair.ended;
  assertEquals(stdout.split("\n").slice(0, 4), ["big/1", "small/1", "big/2", "small/2"]);
  const { code, stderr } = await workspace.run([...config, "--", "false"], "a\n");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "a: exit code 1 after 1 attempt\n");
  const unknown = await workspace.run(["run", "--queue", "new.db", "--config", "queues.yaml", "--", "true"], "a\n");
  assertEquals([unknown.code, workspace.has("new.db")], [2, false]);
  assertStringIncludes(unknown.stderr, '"default"');
});

Deno.test("run on a file: an input that can't be read ends the run", async () => {
  await using workspace = new Workspace();
  const missing = await workspace.run(["run", "--queue", "jobs.db", "--input", "nope", "--", "true"]);
  assertEquals([missing.code, workspace.has("jobs.db")], [2, false]);
  assertStringIncludes(missing.stderr, "Cannot read input 'nope': there is no such file");
  const folder = await workspace.run(["run", "--queue", "jobs.db", "--input", ".", "--", "true"]);
  assertEquals(folder.code, 2);
  assertStringIncludes(folder.stderr, "Cannot read input '.': it is a directory");
});

Deno.test("run on a file: options that need a queue in memory are refused", async () => {
  await using workspace = new Workspace();
  const refused = [["--no-dedupe"], ["--keep-order"], ["-k"], ["--record", "trace"], ["--serve"], ["--dry-run"]];
  for (const [option, ...value] of refused) {
    const args = ["run", "--queue", "jobs.db", option!, ...value, "--", "true"];
    const { code, stdout, stderr } = await workspace.run(args, "a\n");
    assertEquals([code, stdout], [2, ""], option);
    const name = option === "-k" ? "--keep-order" : option;
    assert(stderr.startsWith(`workqueue: Cannot use ${name} with a queue in a file: `), stderr);
  }
  assertEquals(workspace.files(), []);
});

Deno.test("run on a file: closed standard input is an empty list", async () => {
  for (const runtime of Object.keys(someRuntimes)) {
    await using workspace = new Workspace(runtime);
    await workspace.run(["push", "--queue", "jobs.db"], "a\n");
    const args = ["run", "--queue", "jobs.db", "--", "echo"];
    const { code, stdout } = await workspace.run(args, "", '"$@" <&-');
    assertEquals([code, stdout], [0, "a\n"], runtime);
  }
});

Deno.test({
  name: "run on a file: on a terminal, a run without a list continues with the file, and doesn't wait for input",
  ignore: !hasPseudoTerminals,
  async fn() {
    await using workspace = new Workspace();
    await workspace.run(["push", "--queue", "jobs.db"], "a\nb\n");
    const run = ["run", "--queue", "jobs.db", "-j1", "--", "echo", "did"];
    await using terminal = await PseudoTerminal.start(workspace, run);
    assertEquals(await terminal.ended, 0);
    assertEquals(terminal.screen.lines.filter((line) => line.startsWith("did")), ["did a", "did b"]);
    assert(!terminal.output.includes("Reading the list"));

    run.splice(1, 0, "--input", "-");
    await using typed = await PseudoTerminal.start(workspace, run);
    await typed.until((rows) => rows.some((row) => row.startsWith("Reading the list from the terminal.")), "it reads");
    await typed.type("c\n");
    await typed.until((rows) => rows.includes("did c"), "the line is worked on");
    await typed.type("\x04");
    assertEquals(await typed.ended, 0);
  },
});
