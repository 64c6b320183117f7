import { assertEquals, assertStringIncludes } from "@std/assert";
import { describeStartError } from "../../packages/cli/children/start_error.ts";
import { describeSystemError } from "../../packages/cli/system/usage_error.ts";
import { runtimes, Workspace } from "./cli.ts";
import { outputOf } from "../program.ts";

/** Options that name a file, and how the messages about the file begin. */
const STARTS: Record<string, string> = {
  "--input": "Cannot read input",
  "--report": "Cannot write report",
  "--resume": "Cannot resume",
  "--results": "Cannot write results in",
};

for (const runtime of Object.keys(runtimes)) {
  Deno.test(`system errors, ${runtime}: a path that can't exist is explained, for each file`, async () => {
    await using workspace = new Workspace(runtime);
    const name = "x".repeat(300);
    Deno.symlinkSync("loop", `${workspace.directory}/loop`);
    const reasons: [path: string, reason: string][] = [
      [name, "its name is too long"],
      ["loop/x", "its path has too many symbolic links"],
    ];
    for (const [path, reason] of reasons) {
      for (const [option, start] of Object.entries(STARTS)) {
        const { code, stderr } = await workspace.run(["run", option, path, "--", "echo"], "a\n");
        assertEquals([code, stderr], [2, `workqueue: ${start} '${path}': ${reason}\n`]);
      }
    }
    const busy = await workspace.run(["run", "--results", "out", "--", "echo"], "a\n", 'mkdir out; echo > out/1; "$@"');
    assertEquals(busy.stderr, "workqueue: Cannot write results in 'out': a file of that name already exists\n");
    const started = await workspace.run(["run", "--", `./${name}`], "a\n");
    assertEquals([started.code, started.stderr], [2, `workqueue: Cannot run './${name}': its name is too long\n`]);
  });
}

Deno.test("system errors: unwritable disks are explained, with a code or only its number", () => {
  const reasons = {
    EROFS: "the file system is read-only",
    EDQUOT: "the disk quota is used up",
    EIO: "the device reported an input/output error",
    ENOSPC: "no space is left on the device",
  };
  for (const [code, reason] of Object.entries(reasons)) {
    assertEquals(describeSystemError(Object.assign(new Error("raw"), { code }), "file"), reason);
  }
  const fromDeno = new Error("File too large (os error 27)");
  assertEquals(describeSystemError(fromDeno, "file"), "it would exceed the maximum file size");
  assertEquals(describeSystemError(new Error("strange"), "file"), "strange");
  assertEquals(describeSystemError("stranger", "file"), "stranger");
});

/** Starts the command in a mount namespace of its own in which the folder `disk` is read-only. */
const READ_ONLY = `mkdir disk; exec unshare -rm sh -c 'mount -t tmpfs -o ro none disk && exec "$@"' sh "$@"`;

const hasReadOnly = await outputOf("unshare", "-rm", "mount", "-t", "tmpfs", "-o", "ro", "none", "/mnt") !== undefined;
if (!hasReadOnly) console.log("Mounting is not allowed: leaving out the tests on a read-only file system.");
const isLinux = Deno.build.os === "linux";

for (const runtime of Object.keys(runtimes)) {
  Deno.test({
    name: `system errors, ${runtime}: a report on a read-only file system is refused with this reason`,
    ignore: !hasReadOnly,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const args = ["run", "--report", "disk/report.jsonl", "--", "echo"];
      assertEquals(await workspace.run(args, "a\n", READ_ONLY), {
        code: 2,
        stdout: "",
        stderr: "workqueue: Cannot write report 'disk/report.jsonl': the file system is read-only\n",
      });
    },
  });

  Deno.test({
    name: `system errors, ${runtime}: an output or a report that fails with EIO is explained`,
    ignore: !isLinux,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const onOutput = await workspace.run(["run", "--", "echo"], "a\n", '"$@" > /proc/self/mem');
      assertStringIncludes(
        onOutput.stderr,
        "workqueue: Cannot write standard output: the device reported an input/output error\n",
      );
      const args = ["run", "--report", "/proc/self/mem", "--", "echo"];
      const { code, stderr } = await workspace.run(args, "a\n");
      assertEquals(
        [code, stderr],
        [2, "workqueue: Cannot write report '/proc/self/mem': the device reported an input/output error\n"],
      );
    },
  });

  Deno.test(`system errors, ${runtime}: a command that is not found without PATH is explained`, async () => {
    await using workspace = new Workspace(runtime);
    const { code, stderr } = await workspace.run(["run", "--", "no-such-command"], "a\n", 'exec env -u PATH "$@"');
    assertEquals(
      [code, stderr],
      [2, "workqueue: Cannot run 'no-such-command': the command was not found, because PATH is not set\n"],
    );
  });
}

Deno.test("system errors: with PATH, the message for a missing command says that there is no such command", () => {
  const error = Object.assign(new Error(), { code: "ENOENT" });
  assertEquals(describeStartError(error, "no-such-command"), "there is no such command");
  assertEquals(describeStartError(error, "./no-such-command"), "there is no such command");
});
