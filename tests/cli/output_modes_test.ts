/** Tests of `--output`, `--keep-order` and `--stderr pass`. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { someRuntimes, TELL_CODE, until, WITH_PID, Workspace } from "./cli.ts";
import { hasGnuParallel } from "../program.ts";

const sh = (script: string) => ["--", "sh", "-c", script, "sh", "{}"];

/** Shell command that waits until a file exists. */
const await_ = (file: string) => `until [ -e "${file}" ]; do sleep 0.02; done`;

const outcomes = (workspace: Workspace) => workspace.report().map(({ item, outcome }) => `${item} ${outcome}`);

/** Environment in which temporary files are in a directory of the workspace. */
const WITH_TEMP = 'mkdir -p temp; TMPDIR="$PWD/temp" ';

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`output modes, ${runtime}: by group, the output of an item is whole, and comes from its last attempt`, async () => {
    await using workspace = new Workspace(runtime);
    // `a` and `b` run at once; each prints a line, waits for the other, and prints the rest.
    const script = [
      'echo "$1 begins $WORKQUEUE_ATTEMPT"; touch "$1"',
      `${await_("a")}; ${await_("b")}`,
      '[ "$1" != b ] || [ $WORKQUEUE_ATTEMPT = 3 ] || exit 1',
      'printf "%s ends" "$1"; [ "$1" != c ]',
    ].join("; ");
    for (const args of [["--output", "group"], ["--group"]]) {
      const { code, stdout } = await workspace.run(
        ["run", ...args, "--concurrency", "2", "--retries", "2", "--backoff", "1ms..1ms", ...sh(script)],
        "a\nb\nc\n",
      );
      assertEquals(code, 1);
      const wholes = ["a begins 1\na ends", "b begins 3\nb ends", "c begins 3\nc ends"];
      for (const whole of wholes) assertStringIncludes(stdout, whole);
      assertEquals(stdout.length, wholes.join("").length);
    }
  });

  Deno.test(`output modes, ${runtime}: by line, each line is printed as soon as it is complete`, async () => {
    for (const args of [[], ["--output", "line"], ["--line-buffer"]]) {
      await using workspace = new Workspace(runtime);
      const cli = await workspace.start(["run", ...args, ...sh(`echo "$1 begins"; ${await_("go")}`)], "a\n");
      await until(() => cli.stdout === "a begins\n", "the line is printed");
      workspace.write("go", "");
      assertEquals((await cli.ended).stdout, "a begins\n");
    }
  });

  Deno.test(`output modes, ${runtime}: -k prints in the order of the input, in spite of retries`, async () => {
    await using workspace = new Workspace(runtime);
    // Each item ends after the next item; the first two fail first.
    const script = [
      `[ "$1" = 6 ] || ${await_("ended $(($1 + 1))")}`,
      'case "$1 $WORKQUEUE_ATTEMPT" in 1\\ 1 | 2\\ [12]) echo "wrong $1"; exit 1;; esac',
      'echo "out $1 $WORKQUEUE_ATTEMPT"; touch "ended $1"; [ "$1" != 4 ]',
    ].join("; ");
    const args = ["-k", "--concurrency", "6", "--retries", "2", "--backoff", "1ms..1ms", "--report", "report.jsonl"];
    const { code, stdout } = await workspace.run(["run", ...args, ...sh(script)], "1\n2\n3\n4\n2\n5\n6\n");
    assertEquals([code, stdout], [1, "out 1 2\nout 2 3\nout 3 1\nout 4 3\nout 5 1\nout 6 1\n"]);
    const items = workspace.read("report.jsonl").trim().split("\n").slice(1)
      .map((line) => JSON.parse(line).item);
    assertEquals(items, ["1", "2", "3", "4", "5", "6"], "the report has an item once its output is printed");
  });

  Deno.test(`output modes, ${runtime}: -k keeps long output in a file without a name, so nothing is left after kill -9`, async () => {
    await using workspace = new Workspace(runtime);
    const script = `[ "$1" != 1 ] || ${await_("go")}; seq "$1" 60000; touch "ended $1"`;
    const args = ["run", "-k", "--tag", "--concurrency", "3", ...sh(script)];
    const cli = await workspace.start(args, "1\n2\n3\n", WITH_TEMP + WITH_PID);
    await until(() => workspace.has("ended 2") && workspace.has("ended 3"), "the others have ended");
    const pid = workspace.read("pid").trim();
    if (Deno.build.os === "linux") {
      const files = () => [...Deno.readDirSync(`/proc/${pid}/fd`)].map(({ name }) => linkOf(`/proc/${pid}/fd/${name}`));
      await until(
        () => files().some((file) => /temp\/workqueue-.*\/output \(deleted\)/.test(file)),
        "the file is open",
      );
    }
    assertEquals([...Deno.readDirSync(`${workspace.directory}/temp`)], []);
    assertEquals(cli.stdout, "");
    workspace.write("go", "");
    const { code, stdout } = await cli.ended;
    assertEquals(code, 0);
    const lines = [1, 2, 3].flatMap((item) =>
      Array.from({ length: 60_001 - item }, (_, index) => `${item}\t${item + index}\n`)
    );
    assert(stdout === lines.join(""), "all lines are printed in order");

    for (const file of ["go", "ended 1", "ended 2", "ended 3"]) {
      await Deno.remove(`${workspace.directory}/${file}`);
    }
    const killed = await workspace.start(args, "1\n2\n3\n", WITH_TEMP + WITH_PID);
    await until(() => workspace.has("ended 2") && workspace.has("ended 3"), "the others have ended");
    Deno.kill(Number(workspace.read("pid")), "SIGKILL");
    await killed.ended.catch(() => {});
    assertEquals([...Deno.readDirSync(`${workspace.directory}/temp`)], []);
    workspace.write("go", "");
    await until(() => workspace.has("ended 1"), "the command that `kill -9` left running has ended");
  });

  Deno.test(`output modes, ${runtime}: an interrupted run prints finished output in order, and the rest when resumed`, async () => {
    await using workspace = new Workspace(runtime);
    const script = `case "$1" in 2 | 5) ${await_("go")};; esac; echo "out $1"`;
    const args = ["run", "-k", "--concurrency", "3", "--resume", "report.jsonl", ...sh(script)];
    const items = "1\n2\n3\n4\n5\n6\n";
    const cli = await workspace.start(args, items, `{ ${WITH_PID}; ${TELL_CODE}; }`);
    await until(() => /^4 of 6 done, 2 running/m.test(cli.stderr), "the others have ended");
    assertEquals(cli.stdout, "out 1\n");
    const pid = Number(workspace.read("pid"));
    Deno.kill(pid, "SIGTERM");
    await until(() => cli.stderr.includes("Interrupted"), "it says so");
    Deno.kill(pid, "SIGTERM"); // kills 2 and 5
    await cli.ended;
    assertEquals([cli.stdout, workspace.read("code")], ["out 1\nout 3\nout 4\nout 6\n", "143\n"]);
    assertStringIncludes(cli.stderr, "Succeeded          4\n");
    workspace.write("go", "");
    const resumed = await workspace.run(args, items);
    assertEquals([resumed.code, resumed.stdout], [0, "out 2\nout 5\n"]);
  });

  Deno.test(`output modes, ${runtime}: --halt now does not wait until output can be printed in order`, async () => {
    await using workspace = new Workspace(runtime);
    const script = `case "$1" in 1) sleep 300;; 3) ${await_("go")}; exit 3;; esac; echo "out $1"`;
    const args = ["-k", "--halt", "now,fail=1", "--retries", "0", "--concurrency", "3", "--report", "report.jsonl"];
    const cli = await workspace.start(["run", ...args, ...sh(script)], "1\n2\n3\n");
    await until(() => /^1 of 3 done, 2 running/m.test(cli.stderr), "2 has ended");
    workspace.write("go", "");
    const { code, stdout, stderr } = await cli.ended;
    assertEquals([code, stdout], [1, "out 2\n"]);
    assertEquals(outcomes(workspace), ["1 unfinished", "2 succeeded", "3 given-up"]);
    assertStringIncludes(stderr, "Given up           1\n");
  });

  Deno.test(`output modes, ${runtime}: while the reader is slow, a group can still be killed`, async () => {
    await using workspace = new Workspace(runtime);
    const cli = await workspace.start(
      ["run", "--group", "--concurrency", "2", "--report", "report.jsonl", "--no-append", "--", "seq", "100000"],
      "a\nb\nc\nd\ne\nf\n",
      `{ ${WITH_PID}; ${TELL_CODE}; } | { until [ -e go ]; do sleep 0.05; done; }`,
    );
    await until(() => /^\d+ of 6 done, \d queued, /m.test(cli.stderr), "no more commands begin");
    const pid = Number(workspace.read("pid"));
    Deno.kill(pid, "SIGTERM");
    await until(() => cli.stderr.includes("Interrupted"), "it says so");
    Deno.kill(pid, "SIGTERM");
    await until(() => workspace.has("code"), "it has ended");
    assertEquals(workspace.read("code"), "143\n");
    assertEquals(outcomes(workspace).map((line) => line.slice(2)), Array(6).fill("unfinished"));
    workspace.write("go", "");
    await cli.ended;
  });

  Deno.test({
    name: `output modes, ${runtime}: if the disk is full, items whose output was not printed have not succeeded`,
    ignore: Deno.build.os !== "linux",
    fn: async () => {
      for (const mode of ["--group", "-k"]) {
        await using workspace = new Workspace(runtime);
        const script = 'case "$1" in quiet) ;; *) echo "$1";; esac';
        const args = [mode, "--concurrency", "1", "--report", "report.jsonl"];
        const { code, stderr } = await workspace.run(
          ["run", ...args, ...sh(script)],
          "quiet\nloud\nother\n",
          '"$@" > /dev/full',
        );
        assertEquals(code, 2);
        assertStringIncludes(stderr, "\nworkqueue: Cannot write standard output: no space is left on the device\n");
        assertStringIncludes(stderr, "Succeeded          1\n");
        assertEquals(outcomes(workspace), ["loud unfinished", "other unfinished", "quiet succeeded"]);
      }
    },
  });

  Deno.test(`output modes, ${runtime}: a temporary file that can't be written ends the run with the reason`, async () => {
    await using workspace = new Workspace(runtime);
    const args = ["--group", "--concurrency", "1", "--report", "report.jsonl"];
    const { code, stdout, stderr } = await workspace.run(
      ["run", ...args, "--", "seq"],
      "10\n100000\n20\n",
      'TMPDIR="$PWD/gone" "$@"',
    );
    assertEquals([code, stdout.split("\n").length], [2, 11]);
    assertStringIncludes(stderr, "\nworkqueue: Cannot write temporary file for output in '");
    assertStringIncludes(stderr, "/gone': there is no such directory; set TMPDIR to use another directory\n");
    assertEquals(outcomes(workspace), ["10 succeeded", "100000 unfinished", "20 unfinished"]);
  });

  Deno.test(`output modes, ${runtime}: --stderr pass prints standard error in whole lines, each with its item`, async () => {
    await using workspace = new Workspace(runtime);
    const script =
      'printf "one\\ntwo " >&2; sleep 0.05; printf "three\\nend" >&2; echo "out"; [ $WORKQUEUE_ATTEMPT = 2 ]';
    const args = ["--stderr", "pass", "--quiet", "--concurrency", "2", "--backoff", "1ms..1ms"];
    const { code, stdout, stderr } = await workspace.run(["run", ...args, ...sh(script)], "a\nb\n");
    assertEquals([code, stdout], [0, "out\nout\nout\nout\n"]);
    const attempt = ["one", "two three", "end"];
    for (const item of ["a", "b"]) {
      const lines = stderr.split("\n").filter((line) => line.startsWith(`${item}\t`)).map((line) => line.slice(2));
      assertEquals(lines, [...attempt, ...attempt]);
    }
    assertEquals(stderr.split("\n").length, 13);
  });

  Deno.test(`output modes, ${runtime}: with -k, --stderr pass prints standard error of the last attempt after its output`, async () => {
    await using workspace = new Workspace(runtime);
    const script = 'echo "error $WORKQUEUE_ATTEMPT" >&2; echo "out $1"; [ $WORKQUEUE_ATTEMPT = 2 ]';
    const args = ["-k", "--stderr", "pass", "--quiet", "--concurrency", "3", "--backoff", "1ms..1ms"];
    const { stdout } = await workspace.run(["run", ...args, ...sh(script)], "1\n2\n3\n", '"$@" 2>&1');
    assertEquals(stdout, "out 1\n1\terror 2\nout 2\n2\terror 2\nout 3\n3\terror 2\n");
  });
}

Deno.test(`output modes, Bun: -k runs at most 10,000 items ahead of the output`, async () => {
  await using workspace = new Workspace("Bun");
  // Each item is a command. Most commands don't exist, so they are given up at once, which takes little time.
  const names = Array.from({ length: 10_100 }, (_, index) => `./${index + 1}\n`);
  const printing = names.filter((_, index) => [0, 1, 4999, 9998, 9999, 10_000, 10_099].includes(index));
  for (const name of printing) {
    const script = `#!/bin/sh\n${name === names[0] ? await_("go") : ":"}\necho "$0"\n`;
    Deno.writeTextFileSync(`${workspace.directory}/${name.trim()}`, script, { mode: 0o755 });
  }
  const args = ["run", "-k", "--concurrency", "4", "--retries", "0", "--", "{}"];
  const cli = await workspace.start(args, names.join(""));
  await until(() => /^9999 of 10100 done, 1 running, 100 queued/m.test(cli.stderr), "no more commands begin");
  assertEquals(cli.stdout, "");
  workspace.write("go", "");
  const { code, stdout } = await cli.ended;
  assertEquals([code, stdout], [1, printing.join("")]);
});

/** Returns the target of a symbolic link; `""` if the link is gone. */
function linkOf(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}

Deno.test("output modes: by default, standard error is not passed on to a log", async () => {
  await using workspace = new Workspace();
  for (const args of [[], ["--stderr", "auto"], ["--group"]]) {
    const { stderr } = await workspace.run(["run", ...args, "--quiet", ...sh("echo error >&2")], "a\n");
    assertEquals(stderr, "");
  }
});

Deno.test("output modes: a run that passes on standard error continues when standard error is closed", async () => {
  await using workspace = new Workspace();
  const { stdout } = await workspace.run(
    ["run", "--stderr", "pass", "--concurrency", "1", ...sh("sleep 0.2; echo error >&2; echo $1")],
    "a\nb\n",
    `{ { "$@"; ${TELL_CODE}; } 2>&1 >&3 | :; } 3>&1`,
  );
  assertEquals([stdout, workspace.read("code")], ["a\nb\n", "0\n"]);
});

Deno.test("output modes: the help of --output and --group says that --group-by is a different option", async () => {
  await using workspace = new Workspace();
  const { stdout } = await workspace.run(["run", "--help"]);
  const help = stdout.split(/^ {2}(?=-)/m).map((text) => text.replace(/\s+/g, " "));
  for (const option of ["--output <mode>", "--group ", "--group-by"]) {
    const text = help.find((text) => text.startsWith(option));
    assertStringIncludes(text!, option === "--group-by" ? "--group" : "--group-by");
  }
});

Deno.test("output modes: with --tag, output that doesn't end in a line feed gets one", async () => {
  for (const mode of [[], ["--group"], ["-k"]]) {
    await using workspace = new Workspace();
    const script = sh('printf "one $1"; [ "$1" = b ] && printf "\\ntwo $1"; exit 0');
    const { stdout } = await workspace.run(["run", ...mode, "--tag", "--concurrency", "1", ...script], "a\nb\nc\n");
    assertEquals(stdout, "a\tone a\nb\tone b\nb\ttwo b\nc\tone c\n");
    const bare = await workspace.run(["run", ...mode, "--concurrency", "1", ...script], "a\nc\n");
    assertEquals(bare.stdout, "one aone c"); // without tags, output is as it is
  }
});

Deno.test("output modes: output is the same as that of GNU parallel", async (test) => {
  await test.step({
    name: "-k and --tag",
    ignore: !await hasGnuParallel(), // the tests above have the same outputs
    fn: async () => {
      await using workspace = new Workspace();
      const begin = 'sleep 0.0$((9 - $1)); echo "out $1"; echo "error" >&2';
      const items = "1\n2\n3\n4\n5\n6\n7\n8\n";
      // With --tag, GNU parallel glues the next line to output that doesn't end in a line feed.
      for (const [args, end] of [[["-k"], ""], [["-k", "--tag"], "\\n"]] as const) {
        const script = `${begin}; printf "end $1${end}"`;
        const theirs = await workspace.run(
          [],
          items,
          `parallel -j4 ${args.join(" ")} '${script.replaceAll("$1", "{}")}'`,
        );
        const ours = await workspace.run(["run", ...args, "--concurrency", "4", ...sh(script)], items);
        assertEquals(ours.stdout, theirs.stdout);
      }
    },
  });
});
