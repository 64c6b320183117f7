/** A report is one run's at a time. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Cli, runtimes, until, Workspace } from "./cli.ts";

const LOCK = "report.jsonl.lock";
const ARGS = [
  ...["run", "--resume", "report.jsonl", "--", "sh", "-c"],
  ...["echo ran; touch began; until [ -e go ]; do sleep 0.02; done", "sh", "{}"],
];

async function start(workspace: Workspace): Promise<Cli> {
  const cli = await workspace.start(ARGS, "a\n");
  await until(() => workspace.has("began"), "it has begun");
  return cli;
}

/** Kills a run, so that its lock stays behind, and changes what that says. */
async function leaveLock(workspace: Workspace, changes: Record<string, unknown> = {}): Promise<void> {
  const cli = await start(workspace);
  const lock = JSON.parse(workspace.read(LOCK));
  cli.kill("SIGKILL");
  await cli.ended;
  workspace.write("go", "");
  workspace.write(LOCK, JSON.stringify({ ...lock, ...changes }) + "\n");
}

for (const runtime of Object.keys(runtimes)) {
  Deno.test(`report lock, ${runtime}: two runs cannot add to one report; one that was killed is no hindrance`, async () => {
    await using workspace = new Workspace(runtime);
    const first = await start(workspace);
    const before = workspace.read("report.jsonl");
    const second = await workspace.run(ARGS, "b\n");
    const { pid, host } = JSON.parse(workspace.read(LOCK));
    const message = `workqueue: Cannot write report 'report.jsonl' as process ${pid} on ${host} writes it\n`;
    assertEquals(second, { code: 2, stdout: "", stderr: message });
    assertEquals(workspace.read("report.jsonl"), before);
    first.kill("SIGKILL");
    await first.ended;
    workspace.write("go", "");
    assertEquals((await workspace.run(ARGS, "a\n")).code, 0);
    assertEquals(workspace.files(), ["began", "go", "report.jsonl"]);
  });
}

Deno.test("report lock: a report is the same under another name", async () => {
  await using workspace = new Workspace();
  await workspace.run(["run", "--resume", "real.jsonl", "--", ...ARGS.slice(4)], "");
  Deno.symlinkSync("real.jsonl", `${workspace.directory}/report.jsonl`);
  const first = await start(workspace);
  const { code, stderr } = await workspace.run(["run", "--resume", "real.jsonl", "--", ...ARGS.slice(4)], "b\n");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "Cannot write report 'real.jsonl' as process ");
  workspace.write("go", "");
  assertEquals((await first.ended).code, 0);
});

Deno.test({
  name: "report lock: the number of a process that was killed may be that of another one now",
  ignore: Deno.build.os !== "linux", // elsewhere nobody tells when a process began
  async fn() {
    await using workspace = new Workspace();
    await leaveLock(workspace, { pid: Deno.pid });
    assertEquals((await workspace.run(ARGS, "a\n")).stdout, "ran\n");
  },
});

Deno.test("report lock: of a process on another machine, or in another container, it counts whether it touches the lock", async () => {
  await using workspace = new Workspace();
  await leaveLock(workspace, { host: "elsewhere", space: "another" });
  const timer = setInterval(() => Deno.utimeSync(`${workspace.directory}/${LOCK}`, new Date(), new Date()), 200);
  const refused = await workspace.run(ARGS, "a\n");
  clearInterval(timer);
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertStringIncludes(refused.stderr, " on elsewhere writes it\n");
  assertEquals(await workspace.run(ARGS, "a\n").then(({ code, stdout }) => [code, stdout]), [0, "ran\n"]);
});

Deno.test("report lock: what is no lock is of no effect, and one that cannot be removed is told", async () => {
  await using workspace = new Workspace();
  workspace.write("go", "");
  workspace.write(LOCK, "123");
  assertEquals((await workspace.run(ARGS, "a\n")).code, 0);
  assert(!workspace.has(LOCK));
  Deno.mkdirSync(`${workspace.directory}/${LOCK}`);
  const { code, stderr } = await workspace.run(ARGS, "b\n");
  assertEquals(code, 2);
  assertMatch(stderr, /^workqueue: Cannot write report 'report\.jsonl' as '.*report\.jsonl\.lock' cannot be removed: /);
});
