/** Tests of report locks, which ensure that only one run at a time writes a report. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Cli, isRunning, someRuntimes, until, Workspace } from "./cli.ts";

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

/** Kills a run so that its lock remains, and changes the content of the lock. */
async function leaveLock(workspace: Workspace, changes: Record<string, unknown> = {}): Promise<void> {
  const cli = await start(workspace);
  const lock = JSON.parse(workspace.read(LOCK));
  cli.kill("SIGKILL");
  await cli.ended;
  workspace.write("go", "");
  workspace.write(LOCK, JSON.stringify({ ...lock, ...changes }) + "\n");
}

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`report lock, ${runtime}: two runs can't add to one report, and a killed run does not keep it locked`, async () => {
    await using workspace = new Workspace(runtime);
    const first = await start(workspace);
    const before = workspace.read("report.jsonl");
    const second = await workspace.run(ARGS, "b\n");
    const { pid, host } = JSON.parse(workspace.read(LOCK));
    const message = `workqueue: Cannot write report 'report.jsonl': process ${pid} on ${host} is writing it\n`;
    assertEquals(second, { code: 2, stdout: "", stderr: message });
    assertEquals(workspace.read("report.jsonl"), before);
    first.kill("SIGKILL");
    await first.ended;
    workspace.write("go", "");
    assertEquals((await workspace.run(ARGS, "a\n")).code, 0);
    assertEquals(workspace.files(), ["began", "go", "report.jsonl"]);
  });
}

Deno.test("report lock: a report with two names has one lock", async () => {
  await using workspace = new Workspace();
  await workspace.run(["run", "--resume", "real.jsonl", "--", ...ARGS.slice(4)], "");
  Deno.removeSync(`${workspace.directory}/real.jsonl`); // a run can lock a report that doesn't exist yet
  Deno.symlinkSync("real.jsonl", `${workspace.directory}/report.jsonl`);
  const first = await start(workspace);
  const { code, stderr } = await workspace.run(["run", "--resume", "real.jsonl", "--", ...ARGS.slice(4)], "b\n");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "Cannot write report 'real.jsonl': process ");
  workspace.write("go", "");
  assertEquals((await first.ended).code, 0);
});

Deno.test({
  name: "report lock: the process ID of a killed process may belong to another process now",
  ignore: Deno.build.os !== "linux", // only Linux reports the start time of a process
  async fn() {
    await using workspace = new Workspace();
    await leaveLock(workspace, { pid: Deno.pid });
    assertEquals((await workspace.run(ARGS, "a\n")).stdout, "ran\n");
  },
});

Deno.test("report lock: a process on another machine, or in another container, is judged by whether it touches the lock", async () => {
  await using workspace = new Workspace();
  await leaveLock(workspace, { host: "elsewhere", space: "another" });
  const timer = setInterval(() => Deno.utimeSync(`${workspace.directory}/${LOCK}`, new Date(), new Date()), 200);
  const refused = await workspace.run(ARGS, "a\n");
  clearInterval(timer);
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertStringIncludes(refused.stderr, " on elsewhere is writing it\n");
  assertEquals(await workspace.run(ARGS, "a\n").then(({ code, stdout }) => [code, stdout]), [0, "ran\n"]);
});

Deno.test("report lock: an incomplete lock has no effect, and a file that is not a lock is left as it is", async () => {
  await using workspace = new Workspace();
  workspace.write("go", "");
  workspace.write(LOCK, "");
  assertEquals((await workspace.run(ARGS, "a\n")).code, 0);
  assert(!workspace.has(LOCK));

  const refuse = async () => {
    const { code, stdout, stderr } = await workspace.run(ARGS, "b\n");
    assertEquals([code, stdout], [2, ""]);
    assertMatch(
      stderr,
      /^workqueue: Cannot write report 'report\.jsonl': '.*report\.jsonl\.lock' is not the lock of a report, or cannot be read\n$/,
    );
  };
  for (const text of ["precious\n", '{"pid":1}\n', "\n"]) {
    workspace.write(LOCK, text);
    await refuse();
    assertEquals(workspace.read(LOCK), text);
  }
  Deno.removeSync(`${workspace.directory}/${LOCK}`);
  Deno.mkdirSync(`${workspace.directory}/${LOCK}`);
  await refuse();
});

Deno.test("report lock: a run touches its lock, because other machines rely on it, and restores the lock if it is removed", async () => {
  await using workspace = new Workspace();
  const cli = await start(workspace);
  const lock = `${workspace.directory}/${LOCK}`;
  const modified = () => Deno.statSync(lock).mtime!.getTime();
  const before = modified();
  await until(() => modified() > before, "it was touched");
  Deno.removeSync(lock);
  await until(() => workspace.has(LOCK), "it is there again");
  workspace.write("go", "");
  assertEquals((await cli.ended).code, 0);
  assertEquals(workspace.files(), ["began", "go", "report.jsonl"]);
});

Deno.test("report lock: a run that was stopped ends if another run has taken its report in the meantime", async () => {
  await using workspace = new Workspace();
  const cli = await start(workspace);
  const other = JSON.stringify({ pid: 1, host: "elsewhere", space: "another" });
  workspace.write(LOCK, other);
  const { code, stderr } = await cli.ended;
  assertEquals([code, workspace.read(LOCK)], [2, other]);
  assertStringIncludes(
    stderr,
    "Cannot write report 'report.jsonl': another process took it over while this one was suspended",
  );
});

Deno.test("report lock: if another run takes a report while this run loads its plugins, this run writes nothing", async () => {
  await using workspace = new Workspace();
  const other = JSON.stringify({ pid: 1, host: "elsewhere", space: "another" });
  // The plugin acts as another process that takes over the report. It then delays the run until the run has detected
  // the takeover.
  workspace.write(
    "slow.mjs",
    `import { appendFileSync, writeFileSync } from "node:fs";
    import { setTimeout } from "node:timers/promises";
    export default async ({ limiters, core }) => {
      limiters.register({ ...core.limiters.get("exponential"), type: "mine" });
      writeFileSync("${LOCK}", ${JSON.stringify(other)});
      appendFileSync("report.jsonl", '{"item":');
      await setTimeout(1500);
    };`,
  );
  workspace.write("go", "");
  await workspace.run(ARGS, "a\n");
  const before = workspace.read("report.jsonl");
  const { code, stdout, stderr } = await workspace.run([ARGS[0]!, "--plugin", "slow.mjs", ...ARGS.slice(1)], "b\n");
  assertStringIncludes(
    stderr,
    "Cannot write report 'report.jsonl': another process took it over while this one was suspended",
  );
  assertEquals([code, stdout, workspace.read(LOCK)], [2, "", other]);
  assertEquals(workspace.read("report.jsonl"), before + '{"item":', "not truncated");
});

Deno.test({
  name: "report lock: a zombie process holds no report",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using workspace = new Workspace();
    const script = [
      'exec 3<&0; "$@" <&3 & until [ -e began ]; do sleep 0.02; done',
      "kill -9 $!; echo $! > pid; touch killed; exec sleep 300",
    ].join("; ");
    await workspace.start(ARGS, "a\n", script);
    await until(() => workspace.has("killed"), "it is killed");
    await until(async () => !await isRunning(workspace.read("pid")), "it has ended");
    workspace.write("go", "");
    assertEquals((await workspace.run(ARGS, "a\n")).code, 0);
  },
});

Deno.test("report lock: many runs that find the lock of a dead process do not run at once", async () => {
  await using workspace = new Workspace();
  await leaveLock(workspace, Deno.build.os === "linux" ? {} : { space: "another" });
  Deno.removeSync(`${workspace.directory}/go`);
  const args = ["run", "--resume", "report.jsonl", "--", ...ARGS.slice(4)];
  const runs = await Promise.all(Array.from({ length: 4 }, () => workspace.start(args, "a\n")));
  let refused = 0;
  const ends = runs.map((run) => run.ended.then(({ code }) => code === 2 && refused++));
  await until(() => refused === 3, "all but one are refused");
  workspace.write("go", "");
  await Promise.all(ends);
  assertEquals(refused, 3);
});
