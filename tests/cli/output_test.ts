/** Tests of output that can't be written or has no reader. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isRunning, runtimes, TELL_CODE, until, WITH_PID, Workspace } from "./cli.ts";

/** Whether the system has a device that acts like a file on a full disk. Only Linux has one. */
const hasFullDevice = Deno.build.os === "linux";

const outcomes = (workspace: Workspace) => workspace.report().map(({ item, outcome }) => `${item} ${outcome}`);

for (const runtime of Object.keys(runtimes)) {
  for (const [name, script] of Object.entries({ gone: "|", full: "> /dev/full" })) {
    Deno.test({
      name: `output, ${runtime}: a standard error that is ${name} does not stop the run`,
      ignore: name === "full" && !hasFullDevice,
      fn: async () => {
        await using workspace = new Workspace(runtime);
        const redirected = name === "gone"
          ? `{ { "$@"; ${TELL_CODE}; } 2>&1 >&3 | :; } 3>&1`
          : `"$@" 2${script}; ${TELL_CODE}`;
        const { stdout } = await workspace.run(
          // The command is still running when the first progress line is written.
          ["run", "--concurrency", "1", "--report", "report.jsonl", "--", "sh", "-c", "sleep 1.3; echo $1", "sh", "{}"],
          "a\nb\n",
          redirected,
        );
        assertEquals([stdout, workspace.read("code")], ["a\nb\n", "0\n"]);
        assertEquals(outcomes(workspace), ["a succeeded", "b succeeded"]);
      },
    });
  }

  Deno.test({
    name:
      `output, ${runtime}: if the disk is full, the run ends, and items whose output was not written have not succeeded`,
    ignore: !hasFullDevice,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const script = 'case "$1" in quiet) ;; *) echo $$ > pid; echo "$1"; exec sleep 300;; esac';
      const { code, stderr } = await workspace.run(
        ["run", "--concurrency", "1", "--report", "report.jsonl", "--", "sh", "-c", script, "sh", "{}"],
        "quiet\nloud\nother\n",
        '"$@" > /dev/full',
      );
      assertEquals(code, 2);
      assertMatch(stderr, /^Succeeded +1\n(.*\n)*Unfinished +2$/m);
      assertStringIncludes(
        stderr,
        "\nworkqueue: Cannot write standard output: no space is left on the device\n",
      );
      assertEquals(outcomes(workspace), ["loud unfinished", "other unfinished", "quiet succeeded"]);
      await until(async () => !await isRunning(workspace.read("pid")), "the child is gone");
    },
  });

  Deno.test({
    name: `output, ${runtime}: a last line that can't be written is reported`,
    ignore: !hasFullDevice,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const args = ["run", "--report", "report.jsonl", "--", "printf", "%s", "{}"];
      const { code, stderr } = await workspace.run(args, "a\n", '"$@" > /dev/full');
      assertEquals(code, 2);
      assertStringIncludes(stderr, "Cannot write standard output: no space is left on the device\n");
      assertEquals(outcomes(workspace), ["a unfinished"]);
    },
  });

  Deno.test({
    name: `output, ${runtime}: output after the end of a child that can't be written is reported`,
    ignore: !hasFullDevice,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const args = ["run", "--report", "report.jsonl", "--", "sh", "-c", "(sleep 0.2; echo late) & :"];
      const { code } = await workspace.run(args, "a\n", '"$@" > /dev/full');
      assertEquals(code, 2);
      assertEquals(outcomes(workspace), ["a unfinished"]);
    },
  });

  Deno.test({
    name: `output, ${runtime}: a report without more space contains only whole lines`,
    // Deno's runtime itself writes a file that exceeds the size limit, so this error can't be tested on Deno.
    ignore: Deno.build.os === "windows" || runtime === "Deno",
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const items = Array.from({ length: 100 }, (_, i) => `${i}\n`).join("");
      const args = ["run", "--report", "report.jsonl", "--", "true"];
      const { code, stderr } = await workspace.run(args, items, 'ulimit -f 4; exec "$@"');
      assertEquals(code, 2);
      assertStringIncludes(stderr, "Cannot write report 'report.jsonl': it would exceed the maximum file size\n");
      const { length } = workspace.report();
      assert(length > 5 && length < 100, `there are ${length} lines`);
    },
  });

  Deno.test({
    name: `output, ${runtime}: if the report can't be written, no command is started`,
    ignore: !hasFullDevice,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const { code, stdout, stderr } = await workspace.run(
        ["run", "--concurrency", "1", "--report", "/dev/full", "--", "echo", "{}"],
        "a\nb\nc\n",
      );
      assertEquals([code, stdout], [2, ""], "nothing is run that could not be reported");
      assertEquals(stderr, "workqueue: Cannot write report '/dev/full': no space is left on the device\n");
    },
  });

  Deno.test(`output, ${runtime}: when standard output is closed, running commands are ended soon`, async () => {
    await using workspace = new Workspace(runtime);
    // The CLI doesn't detect that the reader has ended until the CLI writes the next line. The CLI may have written the
    // first output before the reader ended.
    const script = 'echo $$ > "pid $1"; while echo "$1"; do sleep 0.1; done';
    const { stdout } = await workspace.run(
      ["run", "--concurrency", "3", "--report", "report.jsonl", "--", "sh", "-c", script, "sh", "{}"],
      "a\nb\nc\nd\n",
      `{ "$@"; ${TELL_CODE}; } | head -n 1`,
    );
    assertMatch(stdout, /^[abc]\n$/);
    await until(() => workspace.has("code"), "the command has ended");
    assertEquals(workspace.read("code"), "130\n");
    assertEquals(outcomes(workspace), ["a unfinished", "b unfinished", "c unfinished", "d unfinished"]);
    for (const file of workspace.files().filter((file) => file.startsWith("pid"))) {
      await until(async () => !await isRunning(workspace.read(file)), `${file} is gone`);
    }
  });

  Deno.test(`output, ${runtime}: while the reader is slow, the command can still be interrupted`, async () => {
    await using workspace = new Workspace(runtime);
    const cli = await workspace.start(
      ["run", "--concurrency", "2", "--report", "report.jsonl", "--no-append", "--", "seq", "100000"],
      "a\nb\nc\n",
      `{ ${WITH_PID}; ${TELL_CODE}; } | { until [ -e go ]; do sleep 0.05; done; }`,
    );
    await until(() => cli.stderr.includes("2 running"), "two run");
    const pid = Number(workspace.read("pid"));
    Deno.kill(pid, "SIGTERM");
    await until(() => cli.stderr.includes("Interrupted"), "it says so"); // simultaneous signals are treated as one
    Deno.kill(pid, "SIGTERM");
    await until(() => workspace.has("code"), "it has ended");
    assertEquals(workspace.read("code"), "143\n");
    assertEquals(outcomes(workspace), ["a unfinished", "b unfinished", "c unfinished"]);
    workspace.write("go", "");
    await cli.ended;
  });
}
