/** Tests of the files that the command reads and writes. */

import { assert, assertEquals } from "@std/assert";
import { runtimes, Workspace } from "./cli.ts";

const INPUT = "a\nb\n";
const CONFIG = '{ "queues": { "q": {} } }';

/** Ways to pass the same file twice. `what` is the name of the file in the error message. */
const SAME: { name: string; args: string[]; what: string; script?: string }[] = [
  { name: "the input", args: ["--input", "list", "--report", "./list"], what: "the input" },
  { name: "a symbolic link to the input", args: ["--input", "list", "--report", "link"], what: "the input" },
  { name: "a hard link to the input", args: ["--input", "list", "--report", "twin"], what: "the input" },
  { name: "what the input is a link to", args: ["--input", "link", "--report", "list"], what: "the input" },
  { name: "the standard input", args: ["--report", "list"], what: "the input", script: '"$@" < list' },
  {
    name: "a link to the standard input, by name",
    args: ["--input", "/dev/stdin", "--report", "twin"],
    what: "the input",
    script: '"$@" < list',
  },
  { name: "the config", args: ["--config", "config.json", "--report", "./config.json"], what: "the config" },
  { name: "a link to the config", args: ["--config", "config.json", "--report", "config-link"], what: "the config" },
  {
    name: "the standard output",
    args: ["--input", "list", "--report", "out"],
    what: "standard output",
    script: '"$@" >> out',
  },
];

for (const runtime of Object.keys(runtimes)) {
  for (const { name, args, what, script } of SAME) {
    Deno.test(`files, ${runtime}: a report that is ${name} is refused, and not changed`, async () => {
      await using workspace = new Workspace(runtime);
      workspace.write("list", INPUT);
      workspace.write("config.json", CONFIG);
      workspace.write("out", "of before\n");
      Deno.symlinkSync("list", `${workspace.directory}/link`);
      Deno.symlinkSync("config.json", `${workspace.directory}/config-link`);
      Deno.linkSync(`${workspace.directory}/list`, `${workspace.directory}/twin`);
      const { code, stdout, stderr } = await workspace.run(["run", ...args, "--", "echo", "{}"], "c\n", script);
      const report = args.at(-1);
      assertEquals(stderr, `workqueue: Cannot write report '${report}': it is ${what}\n`);
      assertEquals([code, stdout], [2, ""]);
      assertEquals([workspace.read("list"), workspace.read("config.json")], [INPUT, CONFIG]);
      assertEquals(workspace.read("out"), "of before\n");
    });
  }

  Deno.test(`files, ${runtime}: a report that is the same file as the command is refused, and not changed`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("command", "#!/bin/sh\necho hello\n");
    Deno.chmodSync(`${workspace.directory}/command`, 0o755);
    const { code, stderr } = await workspace.run(["run", "--report", "command", "--", "./command"], INPUT);
    assertEquals([code, stderr], [2, "workqueue: Cannot write report 'command': it is the command\n"]);
    assert(workspace.read("command").includes("hello"));
  });

  Deno.test(`files, ${runtime}: one device may have several roles`, async () => {
    await using workspace = new Workspace(runtime);
    const args = ["run", "--input", "/dev/null", "--report", "/dev/null", "--", "true"];
    assertEquals((await workspace.run(args, "", '"$@" > /dev/null')).code, 0);
  });

  Deno.test(`files, ${runtime}: a report that is not empty is refused, and not changed`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("report.jsonl", "of before\n");
    const { code, stderr } = await workspace.run(["run", "--report", "report.jsonl", "--", "true"], INPUT);
    const message = "it is not empty; continue it with --resume, or choose another file";
    assertEquals([code, stderr], [2, `workqueue: Cannot write report 'report.jsonl': ${message}\n`]);
    assertEquals(workspace.read("report.jsonl"), "of before\n");
  });

  Deno.test(`files, ${runtime}: an empty file is accepted as the report`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("report.jsonl", "");
    assertEquals((await workspace.run(["run", "--report", "report.jsonl", "--", "true"], INPUT)).code, 0);
    assertEquals(workspace.report().map(({ item }) => item), ["a", "b"]);
  });
}
