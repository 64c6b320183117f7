/** Tests of `workqueue run --record`, which writes a trace that `workqueue simulate` replays. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { someRuntimes, until, Workspace } from "./cli.ts";

const CONFIG = JSON.stringify({
  queues: {
    jobs: { concurrency: 2, maxRetries: 1, limiter: { type: "exponential", baseDelay: "1ms", maxDelay: "1ms" } },
  },
});
const LOAD = '{ "duration": "1h", "trace": "trace.jsonl" }';
const hasFullDevice = Deno.build.os === "linux";

/** Returns the events of a trace. Throws if one of its lines is not complete. */
function eventsOf(workspace: Workspace): Record<string, unknown>[] {
  const text = workspace.read("trace.jsonl");
  assert(text.endsWith("\n"));
  const [header, ...events] = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals([header.workqueue, header.version], ["trace", 1]);
  return events;
}

async function simulate(workspace: Workspace): Promise<Record<string, unknown>> {
  workspace.write("load.json", LOAD);
  const { code, stdout, stderr } = await workspace.run(["simulate", "jobs.json", "--load", "load.json", "--json"]);
  assertEquals([code, stderr], [0, ""]);
  return JSON.parse(stdout);
}

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`record, ${runtime}: a run with retries can be simulated`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("jobs.json", CONFIG);
    // "once" fails once, and "never" is given up.
    const script = '[ "$1" != never ] && { [ "$1" != once ] || [ "$WORKQUEUE_ATTEMPT" = 2 ]; }';
    const args = ["--config", "jobs.json", "--record", "trace.jsonl", "--report", "report.jsonl"];
    const { code, stderr } = await workspace.run(
      ["run", ...args, "--", "sh", "-c", script, "sh", "{}"],
      "one\nonce\nnever\ntwo\n",
    );
    assertEquals(code, 1);
    assert(!stderr.includes("Trace"), stderr);
    assertEquals(workspace.report().map(({ attempts }) => attempts), [2, 2, 1, 1]);
    const events = eventsOf(workspace);
    assertEquals([events.filter(({ add }) => add).length, events.filter(({ attempt }) => attempt).length], [4, 6]);
    assert(!/one|once|never|two/.test(workspace.read("trace.jsonl")), "keys are hashed");
    const report = await simulate(workspace);
    const { arrivals, attempts, retries, succeeded, givenUp, failures } = report;
    assertEquals({ arrivals, attempts, retries, succeeded, givenUp, failures }, {
      arrivals: 4,
      attempts: 6,
      retries: 2,
      succeeded: 3,
      givenUp: 1,
      failures: { trace: 3 },
    });
  });

  Deno.test(`record, ${runtime}: the trace is complete after Ctrl-C`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("jobs.json", CONFIG);
    const script = '[ "$1" = quick ] || { touch started; exec sleep 300; }';
    const args = ["--config", "jobs.json", "--concurrency", "1", "--record", "trace.jsonl", "--resume", "report.jsonl"];
    const cli = await workspace.start(["run", ...args, "--", "sh", "-c", script, "sh", "{}"], "quick\nslow\n");
    await until(() => workspace.has("started"), "the second runs");
    cli.kill("SIGINT");
    await until(() => cli.stderr.includes("Interrupted"), "it says so");
    cli.kill("SIGINT");
    const { code, stderr } = await cli.ended;
    assertEquals(code, 130);
    const events = eventsOf(workspace);
    // The item that was interrupted was handed back to the queue.
    assertEquals([events.filter(({ add }) => add).length, events.filter(({ attempt }) => attempt).length], [3, 2]);
    assert(!/To resume .*(--record|trace\.jsonl)/.test(stderr), "a trace can't be continued");
  });

  Deno.test({
    name: `record, ${runtime}: a full disk ends the trace but not the run, and is reported`,
    ignore: !hasFullDevice,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const args = ["run", "--record", "/dev/full", "--report", "report.jsonl", "--", "true"];
      const { code, stderr } = await workspace.run(args, "a\nb\n");
      assertEquals([code, workspace.report().length], [2, 2]);
      assert(stderr.endsWith("workqueue: Cannot write trace '/dev/full': no space is left on the device\n"), stderr);
    },
  });
}

Deno.test("record: groups of a fair queue stay groups", async () => {
  await using workspace = new Workspace();
  workspace.write("jobs.json", '{ "queues": { "jobs": { "discipline": { "type": "fair", "separator": "/" } } } }');
  const args = ["--config", "jobs.json", "--concurrency", "1", "--record", "trace.jsonl"];
  const { code } = await workspace.run(["run", ...args, "--", "true"], "shop/1\nshop/2\nblog/1\nshop/3\n");
  assertEquals(code, 0);
  const { byGroup } = await simulate(workspace);
  const counts = Object.values(byGroup as Record<string, { waits: { count: number } }>).map(({ waits }) => waits.count);
  assertEquals(counts, [3, 1]);
});

/** Traces that are refused before the run begins. */
const REFUSED: { name: string; args: string[]; message: string }[] = [
  { name: "in no directory", args: ["--record", "nope/trace"], message: "'nope/trace': there is no such directory" },
  { name: "that is not empty", args: ["--record", "old"], message: "'old': it is not empty; choose another file" },
  { name: "that is the input", args: ["--record", "./list"], message: "'./list': it is the input" },
  { name: "that is the config", args: ["--record", "jobs.json"], message: "'jobs.json': it is the config" },
];

for (const { name, args, message } of REFUSED) {
  Deno.test(`record: a trace ${name} is refused, and no command is started`, async () => {
    await using workspace = new Workspace();
    workspace.write("list", "a\n");
    workspace.write("old", "of before\n");
    workspace.write("jobs.json", CONFIG);
    const before = workspace.files();
    const all = [
      "run",
      "--input",
      "list",
      "--config",
      "jobs.json",
      "--report",
      "report.jsonl",
      ...args,
      "--",
      "touch",
      "begun",
    ];
    const { code, stdout, stderr } = await workspace.run(all);
    assertEquals([code, stdout, stderr], [2, "", `workqueue: Cannot write trace ${message}\n`]);
    assertEquals(workspace.files(), before);
    assertEquals(workspace.read("old"), "of before\n");
  });
}

Deno.test("record: a report and a trace in the same file are refused", async () => {
  await using workspace = new Workspace();
  const { code, stderr } = await workspace.run(["run", "--record", "a", "--report", "./a", "--", "true"], "a\n");
  assertEquals([code, stderr], [2, "workqueue: Cannot write report './a': it is the trace\n"]);
  assertEquals(workspace.read("a"), "", "the file can be used again");
});

Deno.test("record: standard output is reserved for the commands", async () => {
  await using workspace = new Workspace();
  const { code, stderr } = await workspace.run(["run", "--record", "-", "--", "true"], "a\n");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "argument '-' is invalid. It must be a file, because standard output is for");
});
