/** Tests of `workqueue simulate`, which shows what a config does under a load. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { ROOT, someRuntimes, Workspace } from "./cli.ts";

const CONFIG = (concurrency: number) => ({
  queues: {
    jobs: { concurrency, maxRetries: 5, limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1m" } },
  },
});
const LOAD = {
  duration: "3m",
  arrivals: [{ type: "poisson", rate: 15 }],
  work: { type: "exponential", mean: "120ms" },
  failures: [{ type: "outage", from: "2m", for: "10s" }],
};

function open(runtime?: string): Workspace {
  const workspace = new Workspace(runtime);
  workspace.write("two.json", JSON.stringify(CONFIG(2)));
  workspace.write("four.json", JSON.stringify(CONFIG(4)));
  workspace.write("load.json", JSON.stringify(LOAD));
  return workspace;
}

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`simulate, ${runtime}: prints the report of a config, the same each time`, async () => {
    await using workspace = open(runtime);
    const { code, stdout, stderr } = await workspace.run(["simulate", "four.json", "--load", "load.json"]);
    assertEquals([code, stderr], [0, ""]);
    assertMatch(stdout, /^Queue jobs, \S+ simulated, seed 1\n {2}arrivals {3}\d,\d{3}\n/);
    assertMatch(stdout, /\n• The backlog of the outage at 2m is gone at /);
    assertEquals((await workspace.run(["simulate", "four.json", "--load", "load.json"])).stdout, stdout);
    const other = await workspace.run(["simulate", "four.json", "--load", "load.json", "--seed", "2"]);
    assertStringIncludes(other.stdout, "seed 2\n");
  });
}

Deno.test("simulate: --json prints the report as data, and --svg writes a picture", async () => {
  await using workspace = open();
  const args = ["simulate", "four.json", "--load", "load.json", "--json", "--svg", "report.svg"];
  const { code, stdout, stderr } = await workspace.run(args);
  assertEquals([code, stderr], [0, ""]);
  const report = JSON.parse(stdout);
  assertEquals([report.queue, report.seed, report.succeeded + report.givenUp], ["jobs", 1, report.arrivals]);
  const svg = workspace.read("report.svg");
  assertMatch(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*prefers-color-scheme: dark[^]*<\/svg>\n$/);
});

Deno.test("simulate: several configs are compared, and the verdict names the better one and the reason", async () => {
  await using workspace = open();
  const args = ["simulate", "two.json", "four.json", "--load", "load.json", "--by", "p99 wait", "--runs", "3"];
  const { code, stdout, stderr } = await workspace.run(args);
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^ +two\.json +four\.json\n {2}mean wait /);
  assertMatch(stdout, /\n\nfour\.json is better: its p99 wait is \S+, compared to \S+ with two\.json\.\n$/);
  const { better } = JSON.parse((await workspace.run([...args, "--json"])).stdout);
  assertEquals(better, 1);
});

Deno.test("simulate: --fail-if makes the exit code 1 for a config for which the condition is true", async () => {
  await using workspace = open();
  const given = ["--load", "load.json", "--fail-if", "p99 wait > 1ms", "--fail-if", "lost > 0"];
  const one = await workspace.run(["simulate", "two.json", ...given]);
  assertEquals([one.code, one.stderr], [1, ""]);
  assertMatch(one.stdout, /\nfailed: p99 wait > 1ms: it is \S+\n$/);
  const both = await workspace.run(["simulate", "two.json", "four.json", "--runs", "2", ...given]);
  assertMatch(both.stdout, /\nfailed: two\.json: p99 wait > 1ms: it is \S+\nfailed: four\.json: p99 wait > 1ms: /);
  const none = await workspace.run(["simulate", "four.json", "--load", "load.json", "--fail-if", "p99 wait > 1h"]);
  assertEquals([none.code, none.stdout.includes("failed")], [0, false]);
});

Deno.test("simulate: --vary finds the smallest number that keeps a bound", async () => {
  await using workspace = open();
  const given = ["simulate", "two.json", "--load", "load.json", "--fail-if", "p99 wait > 5s"];
  const found = await workspace.run([...given, "--vary", "queues.jobs.concurrency=1..64"]);
  assertEquals([found.code, found.stderr], [0, ""]);
  assertMatch(found.stdout, /^queues\.jobs\.concurrency must be at least \d+\. With \d+, p99 wait > 5s\.\n$/);
  const none = await workspace.run([...given, "--vary", "queues.jobs.concurrency=1..1"]);
  assertEquals([none.code, none.stdout], [1, "With queues.jobs.concurrency = 1, p99 wait > 5s.\n"]);
});

Deno.test("simulate: a reload's config and a trace are found in the folder of the load", async () => {
  await using workspace = open();
  Deno.mkdirSync(`${workspace.directory}/loads`);
  workspace.write("loads/new.json", JSON.stringify(CONFIG(8)));
  const changes = [{ type: "reload", at: "1m", config: "new.json" }];
  workspace.write("loads/reload.json", JSON.stringify({ ...LOAD, changes }));
  const reload = await workspace.run(["simulate", "two.json", "--load", "loads/reload.json"]);
  assertEquals([reload.code, reload.stderr], [0, ""]);
  workspace.write(
    "loads/trace.jsonl",
    '{"workqueue":"trace","version":1}\n{"at":1,"add":"a"}\n{"at":1,"attempt":"a","ms":7}\n',
  );
  workspace.write("loads/trace.json", JSON.stringify({ trace: "trace.jsonl" }));
  const trace = await workspace.run(["simulate", "two.json", "--load", "loads/trace.json", "--json"]);
  assertEquals([trace.stderr, JSON.parse(trace.stdout).totals.max], ["", 7]);
  const alone = await workspace.run(["simulate", "two.json", "--load", "loads/trace.jsonl", "--json"]);
  assertEquals([alone.stderr, alone.stdout], ["", trace.stdout]);
  workspace.write("no.jsonl", '{"at":1,"add":"a"}\n');
  const no = await workspace.run(["simulate", "two.json", "--load", "no.jsonl"]);
  assertEquals(no.stderr, "workqueue: Cannot read load 'no.jsonl': it is not a trace, although it ends in .jsonl\n");
  const none = await workspace.run(["simulate", "two.json", "--load", "none.jsonl"]);
  assertEquals([none.code, none.stderr], [2, "workqueue: Cannot read load 'none.jsonl': there is no such file\n"]);
});

Deno.test("simulate: a plugin's types are known", async () => {
  await using workspace = open();
  workspace.write("q.json", JSON.stringify({ queues: { jobs: { limiter: { type: "linear", step: "1s" } } } }));
  const args = ["simulate", "q.json", "--load", "load.json", "--plugin", `${ROOT}examples/linear_plugin.mjs`];
  const { code, stderr } = await workspace.run(args);
  assertEquals([code, stderr], [0, ""]);
  const bounds = ["--vary", "queues.jobs.concurrency=1..64", "--fail-if", "p99 wait > 5s"];
  const found = await workspace.run([...args, ...bounds]);
  assertEquals([found.code, found.stderr], [0, ""]);
});

Deno.test("simulate: with --json, standard output is JSON even if a condition of --fail-if is true", async () => {
  await using workspace = open();
  const given = ["--load", "load.json", "--json", "--fail-if", "p99 wait > 1ms"];
  for (const configs of [["two.json"], ["two.json", "four.json", "--runs", "2"]]) {
    const { code, stdout, stderr } = await workspace.run(["simulate", ...configs, ...given]);
    assertEquals([code, typeof JSON.parse(stdout)], [1, "object"]);
    assertMatch(stderr, /^failed: .*p99 wait > 1ms: it is \S+\n/);
  }
});

Deno.test("simulate: an image that can't be written is an error that names the file", async () => {
  await using workspace = open();
  const { code, stderr } = await workspace.run(["simulate", "two.json", "--load", "load.json", "--svg", "no/x.svg"]);
  assertEquals([code, stderr], [2, "workqueue: Cannot write image 'no/x.svg': there is no such directory\n"]);
});

const WRONG: [name: string, args: string[], message: string][] = [
  ["no load", ["four.json"], "error: required option '--load <file>' not specified\n"],
  [
    "a load that isn't there",
    ["four.json", "--load", "no.json"],
    "Cannot read load document 'no.json': there is no such file\n",
  ],
  ["a load with a mistake", ["four.json", "--load", "bad.yaml"], "Cannot read load document 'bad.yaml'"],
  [
    "a queue that isn't there",
    ["four.json", "--load", "load.json", "--queue", "x"],
    "the config has no queue 'x', only 'jobs'\n",
  ],
  [
    "a figure that isn't there",
    ["four.json", "--load", "load.json", "--fail-if", "p99 wiat > 1s"],
    'did you mean "p99 wait"?\n',
  ],
  [
    "no bound",
    ["four.json", "--load", "load.json", "--vary", "queues.jobs.concurrency=1..4"],
    "--vary needs a bound, given with --fail-if\n",
  ],
  [
    "an image of a search",
    [
      ...["four.json", "--load", "load.json", "--vary", "queues.jobs.concurrency=1..4"],
      ...["--fail-if", "p99 wait > 1s", "--svg", "x.svg"],
    ],
    "--vary has no report; leave out --json and --svg\n",
  ],
  ["a config twice", ["four.json", "four.json", "--load", "load.json"], "config 'four.json' is given twice\n"],
  [
    "no range",
    ["four.json", "--load", "load.json", "--fail-if", "p99 wait > 1s", "--vary", "x"],
    "must be a path and a range",
  ],
];
for (const [name, args, message] of WRONG) {
  Deno.test(`simulate: ${name} is refused, with exit code 2`, async () => {
    await using workspace = open();
    workspace.write(
      "bad.yaml",
      "duration: 10m\narrivals:\n  - { type: poison, rate: 1 }\nwork: { type: constant, time: 1s }\n",
    );
    const { code, stdout, stderr } = await workspace.run(["simulate", ...args]);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, message);
    if (name === "a load with a mistake") assertMatch(stderr, /line 3, column \d+/);
  });
}

Deno.test("schema: with --load, it prints the schema of load documents", async () => {
  await using workspace = open();
  const { code, stdout } = await workspace.run(["schema", "--load"]);
  assertEquals([code, stdout], [0, Deno.readTextFileSync(`${ROOT}schema/load.schema.json`)]);
  const isValid = new Ajv2020({ strict: true }).compile(JSON.parse(stdout));
  assert(isValid(LOAD));
  assert(!isValid({ ...LOAD, arivals: [] }));
});

Deno.test("in a clone, 'deno task run' runs the command that the first argument names, or else 'run'", async () => {
  const task = async (...args: string[]) => {
    const command = new Deno.Command(Deno.execPath(), { args: ["task", "run", ...args], cwd: ROOT, stdin: "null" });
    const { code, stdout } = await command.output();
    return [code, new TextDecoder().decode(stdout)];
  };
  const [code, report] = await task("simulate", "examples/workqueue.yaml", "--load", "examples/outage.yaml");
  assertEquals(code, 0);
  assertMatch(String(report), /^Queue downloads, 1h simulated, seed 1\n/);
  assertEquals(await task("--quiet", "--", "echo"), [0, ""]); // without items
});
