/** Tests of the plan that `workqueue run` makes before it opens any file. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import type { RunEnvironment } from "../../packages/cli/commands/run_environment.ts";
import {
  type FlagDeclaration,
  type FlagName,
  RUN_FLAGS,
  type RunFlags,
} from "../../packages/cli/commands/run_flags.ts";
import { addRunFlags, givenFlags } from "../../packages/cli/commands/run_parser.ts";
import { planRun, type RunPlan } from "../../packages/cli/commands/run_plan.ts";
import { UsageError } from "../../packages/cli/system/usage_error.ts";

const COMMANDS = "packages/cli/commands";
const ENVIRONMENT: RunEnvironment = {
  isInputTerminal: false,
  canShowRows: false,
  isErrorTerminal: false,
  processors: 8,
};
const EXPONENTIAL = { type: "exponential", baseDelay: 100, maxDelay: 30_000 } as const;

/** Plan of `workqueue run -- echo`. */
const PLAN: RunPlan = {
  command: ["echo"],
  items: undefined,
  input: "-",
  separator: "line feed",
  isJson: false,
  columnSeparator: undefined,
  isDistinct: true,
  replaces: undefined,
  appends: true,
  jitter: undefined,
  giveUpOn: [],
  retryAfterOn: [],
  retryAfterScope: "item",
  halt: undefined,
  report: undefined,
  record: undefined,
  isTagged: false,
  output: "line",
  stderr: "hide",
  results: undefined,
  progress: "lines",
  dashboardPort: undefined,
  isDryRun: false,
  config: undefined,
  queue: undefined,
  plugins: [],
  reading: [],
  readsTerminal: false,
  queueOptions: {},
  queueDefaults: { concurrency: 8, maxRetries: 5, limiter: EXPONENTIAL },
};

/** Plans `workqueue run` with flags and a command. */
function plan(args: readonly string[], command = ["echo"], environment: Partial<RunEnvironment> = {}): RunPlan {
  const parsed = addRunFlags().exitOverride().parse([...args, "--", ...command], { from: "user" });
  assertEquals(parsed.args, command);
  return planRun(command, givenFlags(parsed), { ...ENVIRONMENT, ...environment });
}

/** Arguments that use each flag, and the resulting changes to the plan. */
const CHANGES: Record<FlagName, [args: string[], change: Partial<RunPlan>][]> = {
  input: [[["--input", "urls.txt"], { input: "urls.txt" }], [["--input", "a", "--input", "b"], { input: "b" }]],
  null: [[["-0"], { separator: "NUL", reading: ["--null"] }], [["--null"], { separator: "NUL", reading: ["--null"] }]],
  json: [
    [["--json"], { isJson: true, reading: ["--json"] }],
    [["--null", "--json"], { isJson: true, separator: "NUL", reading: ["--json", "--null"] }],
  ],
  colsep: [
    [["--colsep", ","], { command: ["echo", "{1}"], columnSeparator: ",", reading: ["--colsep=,"] }],
    [["--colsep", "\\t", "--null"], {
      command: ["{2.}"],
      columnSeparator: "\\t",
      separator: "NUL",
      reading: ["--null", "--colsep=\\t"],
    }],
  ],
  "no-dedupe": [[["--no-dedupe"], { isDistinct: false, reading: ["--no-dedupe"] }]],
  replace: [
    [["-I", ",,"], { replaces: ",,", reading: ["--replace=,,"] }],
    [["--no-append", "--replace", "{}"], { replaces: "{}", appends: false, reading: ["--replace={}", "--no-append"] }],
  ],
  "no-append": [
    [["--no-append"], { appends: false, reading: ["--no-append"] }],
    [["--no-append", "--no-dedupe"], {
      appends: false,
      isDistinct: false,
      reading: ["--no-dedupe", "--no-append"],
    }],
  ],
  concurrency: [
    [["--concurrency", "3"], { queueOptions: { concurrency: 3 } }],
    [["-j3"], { queueOptions: { concurrency: 3 } }],
    [["-P", "3"], { queueOptions: { concurrency: 3 } }],
    [["-j2", "--concurrency=4", "-P3"], { queueOptions: { concurrency: 3 } }],
    [["-P3", "-j2"], { queueOptions: { concurrency: 2 } }],
    [["-j50%"], { queueOptions: { concurrency: 4 } }],
    [["--concurrency", "49%"], { queueOptions: { concurrency: 3 } }],
    [["-P1%"], { queueOptions: { concurrency: 1 } }],
    [["-j", "200%"], { queueOptions: { concurrency: 16 } }],
  ],
  retries: [
    [["--retries", "0"], { queueOptions: { maxRetries: 0 } }],
    [["--retries", "5"], { queueOptions: { maxRetries: 5 } }], // a flag overrides the config; a flag's default doesn't
  ],
  timeout: [[["--timeout", "1m30s"], { queueOptions: { timeout: 90_000 } }]],
  backoff: [
    [["--backoff", "1s..1m"], { queueOptions: { limiter: { ...EXPONENTIAL, baseDelay: 1000, maxDelay: 60_000 } } }],
  ],
  jitter: [
    [["--jitter", "0"], { jitter: 0 }],
    [["--jitter", "0.5", "--backoff", "100ms..30s"], { jitter: 0.5, queueOptions: { limiter: EXPONENTIAL } }],
  ],
  "give-up-on": [
    [["--give-up-on", "65"], { giveUpOn: [65] }],
    [["--give-up-on", "1,65,255", "--retry-after-on", "75"], { giveUpOn: [1, 65, 255], retryAfterOn: [75] }],
  ],
  "retry-after-scope": [
    [["--retry-after-scope", "run"], { retryAfterScope: "queue" }],
    [["--retry-after-scope", "group"], { retryAfterScope: "group" }],
    [["--retry-after-scope", "item"], { retryAfterScope: "item" }],
  ],
  "retry-after-on": [[["--retry-after-on", "75,69"], { retryAfterOn: [75, 69] }]],
  rate: [
    [["--rate", "5/s"], { queueOptions: { throttle: { rate: 5, burst: 1 } } }],
    [["--rate", "1/ms"], { queueOptions: { throttle: { rate: 1000, burst: 100 } } }],
  ],
  "group-by": [
    [["--group-by", "/"], { queueOptions: { discipline: { type: "fair", separator: "/" } } }],
    [["--group-by", "\\t"], { queueOptions: { discipline: { type: "fair", separator: "\t" } } }],
  ],
  halt: [
    [["--halt", "soon,fail=3"], { halt: { when: "soon", limit: { count: 3 } } }],
    [["--halt", "now,fail=10%"], { halt: { when: "now", limit: { part: 0.1 } } }],
  ],
  report: [[["--report", "r.jsonl"], { report: { path: "r.jsonl", resumes: false } }]],
  resume: [[["--resume", "r.jsonl"], { report: { path: "r.jsonl", resumes: true } }]],
  record: [[["--record", "trace.jsonl"], { record: "trace.jsonl" }]],
  tag: [[["--tag"], { isTagged: true }]],
  output: [[["--output", "group"], { output: "group" }], [["--output", "line"], { output: "line" }]],
  group: [[["--group"], { output: "group" }], [["--group", "--output", "group"], { output: "group" }]],
  "line-buffer": [[["--line-buffer"], { output: "line" }], [["--output=line", "--line-buffer"], { output: "line" }]],
  "keep-order": [
    [["--keep-order"], { output: "input order" }],
    [["-k", "--keep-order"], { output: "input order" }],
    [["--keep-order", "--group", "--output", "group"], { output: "input order" }],
  ],
  stderr: [[["--stderr", "pass"], { stderr: "pass" }], [["--stderr", "auto"], { stderr: "hide" }]],
  results: [[["--results", "out"], { results: "out" }]],
  quiet: [[["--quiet"], { progress: "quiet" }]],
  serve: [[["--serve"], { dashboardPort: 0 }], [["--serve", "8080"], { dashboardPort: 8080 }]],
  "dry-run": [[["--dry-run"], { isDryRun: true }]],
  config: [[["--config", "queues.yaml"], { config: "queues.yaml" }]],
  queue: [[["--queue", "mails"], { queue: "mails" }]],
  plugin: [[["--plugin", "a.mjs", "--plugin", "b.mjs"], { plugins: ["a.mjs", "b.mjs"] }]],
};

Deno.test("plan: without flags, it has the defaults", () => {
  assertEquals(plan([]), PLAN);
});

for (const [flag, rows] of Object.entries(CHANGES)) {
  Deno.test(`plan: --${flag} changes its own field or option and nothing else`, () => {
    const { short, alias }: FlagDeclaration = RUN_FLAGS[flag as FlagName];
    const names = [`--${flag}`, short, alias].filter((name) => name !== undefined);
    for (const [args, change] of rows) {
      assert(args.some((arg) => names.some((name) => arg.startsWith(name))));
      assertEquals(plan(args, [...change.command ?? ["echo"]]), { ...PLAN, ...change }, args.join(" "));
    }
  });
}

Deno.test("plan: its options of the queue are valid in a config", () => {
  for (const [args] of Object.values(CHANGES).flat()) {
    const { queueOptions, queueDefaults } = plan(args, ["echo", "{1}"]);
    for (const queue of [queueOptions, { ...queueDefaults, ...queueOptions }]) loadConfig({ queues: { queue } });
  }
});

Deno.test("plan: the first ::: ends the command, and the items follow", () => {
  const whole = planRun(["echo", "{}", ":::", "a", "--json", "{1}"], {}, { ...ENVIRONMENT, isInputTerminal: true });
  assertEquals(whole, { ...PLAN, command: ["echo", "{}"], items: ["a", "--json", "{1}"], separator: "NUL" });
  assertEquals(planRun(["echo", ":::"], {}, ENVIRONMENT).items, []);
});

Deno.test("plan: flags after the command are the command's", () => {
  assertEquals(plan([], ["curl", "--json", "{}", "--retries", "x"]), {
    ...PLAN,
    command: ["curl", "--json", "{}", "--retries", "x"],
  });
});

Deno.test("plan: it is plain data, which can be printed and compared", () => {
  const whole = plan(["--json", "--halt", "now,fail=1", "--resume", "r", "--serve", "--jitter", "1", "--rate", "1/m"]);
  assertEquals(structuredClone(whole), whole);
  const withoutAbsent = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
  assertEquals(JSON.parse(JSON.stringify(whole)), withoutAbsent);
});

Deno.test("plan: it also depends on the terminal and the number of processors", () => {
  const terminal = { isInputTerminal: true };
  assertEquals(plan([], ["echo"], terminal), { ...PLAN, readsTerminal: true });
  assertEquals(plan(["--input", "-"], ["echo"], terminal).readsTerminal, true);
  assertEquals(plan(["--input", "urls.txt"], ["echo"], terminal).readsTerminal, false);
  assertEquals(plan([], ["echo"], { canShowRows: true }), { ...PLAN, progress: "rows" });
  assertEquals(plan(["--quiet"], ["echo"], { canShowRows: true }).progress, "quiet");
  assertEquals(plan([], ["echo"], { processors: 2 }).queueDefaults, { ...PLAN.queueDefaults, concurrency: 2 });
});

const NO_REPORT = "Cannot use --report with --resume, which appends to its own report; leave out --report";
const NO_GROUPS = "Cannot group JSON lines by a separator; leave out --json or --group-by";
const NO_MODE =
  "Cannot print output both by line and by group; leave out --output line and --line-buffer, or --output group, " +
  "--group and --keep-order";
const NO_PATH = "Cannot fill {/.}: a JSON line is not a path; use the name of a member, such as {name}";

const TWO_LISTS = "Cannot use --input with ':::', after which the items follow; leave out one of them";
const SECOND = "Cannot use a second ':::': lists can't be combined; write all items after the first ':::'";
const LINKED = "lists can't be linked; write the values of an item in one line, and use --colsep";
const NO_COLUMN = "Cannot use --colsep: the command has no placeholder for a column, such as {1}";

const CONFLICTS: { args: string[]; command?: string[]; message: string }[] = [
  { args: ["--report", "a", "--resume", "b"], message: NO_REPORT },
  { args: ["--resume", "a", "--report", "a", "--dry-run"], message: NO_REPORT },
  { args: ["--json", "--group-by", "/"], message: NO_GROUPS },
  { args: ["--output", "line", "--keep-order"], message: NO_MODE },
  { args: ["--line-buffer", "-k"], message: NO_MODE },
  { args: ["--group", "--line-buffer"], message: NO_MODE },
  { args: ["--output", "group", "--line-buffer"], message: NO_MODE },
  { args: ["--json"], command: ["echo", "{url}", "<{/.}>", "{.}"], message: NO_PATH },
  { args: ["--input", "-"], command: ["echo", ":::"], message: TWO_LISTS },
  { args: [], command: [":::", "a"], message: "Cannot run: there is no command before ':::'" },
  { args: [], command: ["echo", ":::", "a", ":::", "b"], message: SECOND },
  { args: [], command: ["echo", ":::", "a", ":::+", "b"], message: `Cannot use ':::+': ${LINKED}` },
  { args: [], command: ["echo", "::::", "list"], message: "Cannot use '::::': name a file of items with --input" },
  { args: [], command: ["echo", "::::+", "list"], message: `Cannot use '::::+': ${LINKED}` },
  { args: ["--colsep", ","], command: ["echo", "{}", "{.}", ":::", "{1}"], message: NO_COLUMN },
  {
    args: ["--colsep", ",", "--json"],
    command: ["echo", "{1}"],
    message: "Cannot split JSON lines into columns; leave out --json or --colsep",
  },
  {
    args: ["--give-up-on", "64,65,66", "--retry-after-on", "66,75,64"],
    message: "Cannot both give up and retry on exit code 64, 66; remove it from --give-up-on or --retry-after-on",
  },
  {
    args: ["--json", "--group-by", "/", "--report", "a", "--resume", "b"],
    command: ["{/.}"],
    message: `Cannot run: the command line has 3 problems:\n  ${NO_REPORT}\n  ${NO_GROUPS}\n  ${NO_PATH}`,
  },
];

for (const { args, command, message } of CONFLICTS) {
  Deno.test(`plan: ${[...args, "--", ...command ?? ["echo"]].join(" ")} contradicts itself`, () => {
    assertThrows(() => plan(args, command), UsageError, message);
  });
}

Deno.test("plan: parts of a path and groups are for lines that are not JSON", () => {
  assertEquals(plan(["--group-by", "/", "--report", "a"], ["echo", "{/.}"]).command, ["echo", "{/.}"]);
});

Deno.test("plan: each flag sets the field or option of its declaration", () => {
  for (const [flag, { field, queueOption }] of Object.entries<{ field?: string; queueOption?: string }>(RUN_FLAGS)) {
    const changed = CHANGES[flag as FlagName].map(([, change]) => change as Record<string, unknown>);
    const has = (change: Record<string, unknown>) =>
      field !== undefined ? field in change : queueOption! in (change["queueOptions"] as object);
    assert(changed.length > 0 && changed.every(has), `--${flag} sets ${field ?? queueOption}`);
  }
});

Deno.test("plan: each of its fields is used", async () => {
  const sources: [file: string, text: string][] = [];
  const folder = new URL(`../../${COMMANDS}/`, import.meta.url);
  for await (const { name } of Deno.readDir(folder)) {
    sources.push([name, await Deno.readTextFile(new URL(name, folder))]);
  }
  assert(sources.length > 10);
  const flags = Object.entries<{ field?: string; queueOption?: string }>(RUN_FLAGS);
  for (const field of Object.keys(PLAN)) {
    const setBy = flags.filter(([, flag]) => flag.field === field).map(([flag]) => `--${flag}`).join(" and ");
    const users = sources.filter(([, text]) => new RegExp(`\\bplan\\.${field}\\b`).test(text));
    assert(
      users.length > 0,
      `${COMMANDS}/run_flags.ts: ${setBy || "the environment"} sets '${field}' of the plan, but no file there uses it`,
    );
  }
});

// A flag that is used but not declared, or has a value of another type, doesn't compile.
const _flags: RunFlags = { retries: 3, "no-dedupe": false, serve: 0, report: { path: "r", resumes: false } };
// @ts-expect-error -- this flag doesn't exist
const _unknown: RunFlags = { "no-such-flag": true };
// @ts-expect-error -- the value must be a number
const _text: RunFlags = { retries: "3" };
// @ts-expect-error -- no flag sets such a field
const _field: keyof RunPlan = "nothing";
