import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isRunning, isStopped, quickConfig, runtimes, until, WITH_PID, Workspace } from "./cli.ts";

/** Script that writes its own process id and the process id of its child, and runs until it is killed. */
const LINGER = 'sleep 300 & echo "$$ $!" > "$1.new"; mv "$1.new" "$1"; wait';

for (const runtime of Object.keys(runtimes)) {
  Deno.test(`signals, ${runtime}: a timeout kills the child and its descendants`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("config.json", quickConfig({ timeout: "300ms", maxRetries: 1 }));
    const { code, stderr } = await workspace.run(
      ["run", "--config", "config.json", "--report", "report.jsonl", "--", "sh", "-c", LINGER, "sh", "pids"],
      "a\n",
    );
    assertEquals(code, 1);
    assertStringIncludes(stderr, "a: timed out after 2 attempts");
    const [item] = workspace.report();
    assertEquals([item!.outcome, item!.timedOut, item!.attempts], ["given-up", true, 2]);
    for (const pid of workspace.read("pids").split(" ")) {
      await until(async () => !await isRunning(pid), `${pid} is gone`);
    }
  });

  const stubborn = {
    "a child that ignores SIGTERM is killed": [`trap "" TERM; ${LINGER}`, "SIGKILL"],
    "what ignores SIGTERM is killed when the child has ended": [
      '(trap "" TERM; exec sleep 300) > out 2>&1 & echo "$$ $!" > "$1"; wait',
      "SIGTERM",
    ],
  };
  for (const [name, [script, signal]] of Object.entries(stubborn)) {
    Deno.test(`signals, ${runtime}: at a timeout, ${name}`, async () => {
      await using workspace = new Workspace(runtime);
      workspace.write("config.json", quickConfig({ timeout: "300ms", maxRetries: 0 }));
      const { code } = await workspace.run(
        ["run", "--config", "config.json", "--report", "report.jsonl", "--", "sh", "-c", script!, "sh", "pids"],
        "a\n",
      );
      const [item] = workspace.report();
      assertEquals([code, item!.signal], [1, signal]);
      for (const pid of workspace.read("pids").split(" ")) {
        await until(async () => !await isRunning(pid), `${pid} is gone`);
      }
    });
  }

  Deno.test(`signals, ${runtime}: no other child is started while one that timed out is being killed`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("config.json", quickConfig({ timeout: "200ms", maxRetries: 0, concurrency: 1 }));
    const script = 'trap "" TERM; mkdir lock || echo "$1" >> overlaps; sleep 0.6 & wait; sleep 0.1; rmdir lock';
    await workspace.run(["run", "--config", "config.json", "--", "sh", "-c", script, "sh", "{}"], "a\nb\nc\n");
    assertEquals(workspace.files().includes("overlaps"), false);
  });

  Deno.test(`signals, ${runtime}: a child that exits successfully after its timeout has failed`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("config.json", quickConfig({ timeout: "300ms", maxRetries: 1 }));
    const script = 'trap "exit 0" TERM; while :; do sleep 0.02; done';
    const { code } = await workspace.run(
      ["run", "--config", "config.json", "--report", "report.jsonl", "--", "sh", "-c", script],
      "a\n",
    );
    const [item] = workspace.report();
    assertEquals(
      [code, item!.outcome, item!.attempts, item!.exitCode, item!.timedOut],
      [1, "given-up", 2, 0, true],
    );
  });

  const asking = [
    ["SIGINT", 130, "Press Ctrl-C again to kill them."],
    ["SIGTERM", 143, "Another SIGTERM kills them."],
    ["SIGHUP", 129, "Another SIGHUP kills them."],
  ] as const;
  for (const [signal, exitCode, next] of asking) {
    Deno.test(`signals, ${runtime}: after one ${signal}, running commands finish and no more start`, async () => {
      await using workspace = new Workspace(runtime);
      const script = 'touch "began $1"; until [ -e go ]; do sleep 0.02; done; touch "ended $1"';
      const cli = await workspace.start(
        ["run", "--concurrency", "2", "--report", "report.jsonl", "--", "sh", "-c", script, "sh", "{}"],
        "a\nb\nc\nd\na\n",
      );
      await until(() => workspace.has("began a") && workspace.has("began b"), "two run");
      cli.kill(signal);
      const note = `Interrupted: waiting for 2 running commands. ${next}\n`;
      await until(() => cli.stderr.includes(note), "it says so");
      workspace.write("go", "");
      const result = await cli.ended;
      assertEquals(result.code, exitCode);
      assertMatch(result.stderr, /^Unfinished +2$/m);
      assertEquals(workspace.files(), ["began a", "began b", "ended a", "ended b", "go", "report.jsonl"]);
      assertEquals(
        workspace.report().map(({ item, outcome, attempts }) => [item, outcome, attempts]),
        [["a", "succeeded", 1], ["b", "succeeded", 1], ["c", "unfinished", 0], ["d", "unfinished", 0]],
      );
    });
  }

  Deno.test(`signals, ${runtime}: a Ctrl-C that launchers pass on as further signals interrupts once`, async () => {
    await using workspace = new Workspace(runtime);
    const script = "touch began; until [ -e go ]; do sleep 0.02; done";
    const cli = await workspace.start(["run", "--", "sh", "-c", script], "a\n", WITH_PID);
    await until(() => workspace.has("began"), "it runs");
    for (const signal of ["SIGINT", "SIGINT", "SIGTERM"] as const) Deno.kill(Number(workspace.read("pid")), signal);
    await until(() => cli.stderr.includes("Interrupted"), "it says so");
    workspace.write("go", "");
    const { code, stderr } = await cli.ended;
    assert(code === 130 || code === 143, `${code}`); // either signal may be received first
    assertMatch(stderr, /^Succeeded +1$/m);
  });

  Deno.test(`signals, ${runtime}: after two SIGINT, running commands are killed`, async () => {
    await using workspace = new Workspace(runtime);
    const cli = await workspace.start(
      ["run", "--concurrency", "2", "--report", "report.jsonl", "--", "sh", "-c", LINGER, "sh", "{}"],
      "a\nb\nc\n",
    );
    await until(() => workspace.has("a") && workspace.has("b"), "two run");
    cli.kill("SIGINT");
    await until(() => cli.stderr.includes("Interrupted"), "it says so"); // simultaneous signals are treated as one
    cli.kill("SIGINT");
    const { code, stderr } = await cli.ended;
    assertEquals(code, 130);
    assertMatch(stderr, /^Unfinished +3$/m);
    const unfinished = workspace.report().map((
      { item, outcome, attempts, signal },
    ) => [item, outcome, attempts, signal]);
    assertEquals(unfinished, [
      ["a", "unfinished", 1, "SIGTERM"],
      ["b", "unfinished", 1, "SIGTERM"],
      ["c", "unfinished", 0, null],
    ]);
    for (const pid of `${workspace.read("a")} ${workspace.read("b")}`.split(" ")) {
      await until(async () => !await isRunning(pid), `${pid} is gone`);
    }
  });

  for (const [signal, exitCode] of [["SIGQUIT", 131], ["SIGALRM", 142], ["SIGUSR2", 140]] as const) {
    Deno.test(`signals, ${runtime}: after one ${signal}, running commands are killed`, async () => {
      await using workspace = new Workspace(runtime);
      const cli = await workspace.start(
        ["run", "--concurrency", "1", "--report", "report.jsonl", "--", "sh", "-c", LINGER, "sh", "{}"],
        "a\nb\n",
      );
      await until(() => workspace.has("a"), "one runs");
      cli.kill(signal);
      assertEquals((await cli.ended).code, exitCode);
      const unfinished = workspace.report().map(({ item, outcome, attempts }) => [item, outcome, attempts]);
      assertEquals(unfinished, [["a", "unfinished", 1], ["b", "unfinished", 0]]);
      for (const pid of workspace.read("a").split(" ")) {
        await until(async () => !await isRunning(pid), `${pid} is gone`);
      }
    });
  }

  /** Script like `LINGER` that succeeds when its child has been killed. */
  const WAIT = `${LINGER} || exit 0`;

  Deno.test(`signals, ${runtime}: SIGTSTP stops the command, its children and their descendants, until SIGCONT`, async () => {
    await using workspace = new Workspace(runtime);
    const args = ["run", "--concurrency", "2", "--", "sh", "-c", WAIT, "sh", "{}"];
    const cli = await workspace.start(args, "a\nb\n", WITH_PID);
    await until(() => workspace.has("a") && workspace.has("b"), "two run");
    const [pid, a, b] = ["pid", "a", "b"].map((file) => workspace.read(file)) as [string, string, string];
    const pids = [pid, ...`${a} ${b}`.split(" ")];
    for (let times = 0; times < 2; times++) {
      Deno.kill(Number(pid), "SIGTSTP");
      for (const each of pids) await until(() => isStopped(each), `${each} is stopped`);
      Deno.kill(Number(pid), "SIGCONT");
      for (const each of pids) await until(async () => !await isStopped(each), `${each} continues`);
    }
    for (const each of [a, b]) Deno.kill(Number(each.split(" ")[1]), "SIGKILL");
    const { code, stderr } = await cli.ended;
    assertEquals(code, 0);
    assertMatch(stderr, /^Succeeded +2$/m);
  });

  Deno.test(`signals, ${runtime}: a stopped run ends by SIGTERM and SIGCONT, as sent by a shell's kill, and leaves no child stopped`, async () => {
    await using workspace = new Workspace(runtime);
    const args = ["run", "--concurrency", "2", "--", "sh", "-c", LINGER, "sh", "{}"];
    const cli = await workspace.start(args, "a\nb\nc\n", WITH_PID);
    await until(() => workspace.has("a") && workspace.has("b"), "two run");
    const pid = workspace.read("pid");
    const pids = `${workspace.read("a")} ${workspace.read("b")}`.split(" ");
    Deno.kill(Number(pid), "SIGTSTP");
    for (const each of [pid, ...pids]) await until(() => isStopped(each), `${each} is stopped`);
    for (const signal of ["SIGTERM", "SIGCONT"] as const) Deno.kill(Number(pid), signal);
    await until(() => cli.stderr.includes("Another SIGTERM kills them."), "it says so");
    for (const each of pids) await until(async () => !await isStopped(each), `${each} continues`);
    Deno.kill(Number(pid), "SIGTERM");
    assertEquals((await cli.ended).code, 143);
    for (const each of pids) await until(async () => !await isRunning(each), `${each} is gone`);
  });

  Deno.test(`signals, ${runtime}: an item that is delayed at the interrupt is reported as unfinished`, async () => {
    await using workspace = new Workspace(runtime);
    const limiter = { type: "exponential", baseDelay: "1h", maxDelay: "1h" };
    workspace.write("config.json", JSON.stringify({ queues: { slow: { limiter } } }));
    const cli = await workspace.start(
      ["run", "--config", "config.json", "--report", "report.jsonl", "--", "sh", "-c", "touch began; exit 7"],
      "a\n",
    );
    await until(() => workspace.has("began"), "it has begun");
    cli.kill("SIGINT");
    const { code } = await cli.ended;
    const [item] = workspace.report();
    assertEquals([code, item!.outcome, item!.attempts, item!.exitCode], [130, "unfinished", 1, 7]);
  });
}

for (const runtime of Object.keys(runtimes)) {
  Deno.test(`signals, ${runtime}: a run notices the end of children, even if it was started with SIGCHLD ignored`, async () => {
    await using workspace = new Workspace(runtime);
    const args = ["run", "--concurrency", "1", "--", "echo"];
    const { code, stdout } = await workspace.run(args, "a\nb\n", 'trap "" CHLD; exec "$@"');
    assertEquals([code, stdout], [0, "a\nb\n"]);
  });
}

/** Command that runs until it is killed, and the same command as a shell reads it. */
const LINGERING = ["sh", "-c", LINGER, "sh", "{}"];
const QUOTED = `sh -c '${LINGER}' sh '{}'`;

/** Options and commands of interrupted runs, and the hints that these runs print. */
const HINTS: { name: string; args: string[]; hint: string }[] = [
  {
    name: "with a report, by the same command line with --resume",
    args: ["--report", "my report.jsonl", "--input", "list", "--", ...LINGERING],
    hint: `To resume the run: workqueue run --resume 'my report.jsonl' --input list -- ${QUOTED}`,
  },
  {
    name: "with a report in one word, and with the list again if it was standard input",
    args: ["--report=r", ...LINGERING],
    hint: `To resume the run with the same standard input: workqueue run --resume=r ${QUOTED}`,
  },
  {
    name: "a resumed run, as it was started",
    args: ["--resume", "r", ...LINGERING, ":::", "a", "b"],
    hint: `To resume the run: workqueue run --resume r ${QUOTED} ::: a b`,
  },
  {
    name: "a recorded run, without its trace",
    args: ["--record", "trace", "--resume", "r", "--record=t", ...LINGERING, ":::", "a"],
    hint: `To resume the run: workqueue run --resume r ${QUOTED} ::: a`,
  },
  {
    name: "without a report, not at all",
    args: ["--input", "list", "--", ...LINGERING],
    hint: "This run cannot be resumed, because it has no report. Next time, start it with --resume FILE.",
  },
];

for (const { name, args, hint } of HINTS) {
  Deno.test(`signals: an interrupted run tells how to resume: ${name}`, async () => {
    await using workspace = new Workspace();
    workspace.write("list", "a\nb\n");
    const cli = await workspace.start(["run", "--concurrency", "1", ...args], "a\nb\n");
    await until(() => workspace.has("a"), "one runs");
    cli.kill("SIGINT");
    await until(() => cli.stderr.includes("Interrupted"), "it says so");
    cli.kill("SIGINT");
    const { code, stderr } = await cli.ended;
    assertEquals(code, 130);
    const concurrency = "--concurrency 1 ";
    assert(stderr.replace(concurrency, "").endsWith(`\n${hint}\n`), stderr);
  });
}

Deno.test("signals: a run that had nothing left to do when it was interrupted does not mention resuming", async () => {
  await using workspace = new Workspace();
  const script = "touch began; until [ -e go ]; do sleep 0.02; done";
  const cli = await workspace.start(["run", "--", "sh", "-c", script], "a\n");
  await until(() => workspace.has("began"), "it runs");
  cli.kill("SIGINT");
  await until(() => cli.stderr.includes("Interrupted"), "it says so");
  workspace.write("go", "");
  const { code, stderr } = await cli.ended;
  assertEquals([code, /resume/.test(stderr)], [130, false]);
});
