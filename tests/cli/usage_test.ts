import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ROOT, Workspace } from "./cli.ts";

/**
 * Runs the CLI with invalid arguments or files. Asserts that the exit code is 2 and that there is no stack trace.
 * Returns standard error.
 */
async function fail(workspace: Workspace, args: string[], input = "a\n"): Promise<string> {
  const { code, stdout, stderr } = await workspace.run(args, input);
  assertEquals({ code, stdout }, { code: 2, stdout: "" });
  assert(!/^ +at /m.test(stderr), `there must be no stack trace in ${stderr}`);
  return stderr;
}

const NO_SUCH_FILE = "workqueue: Cannot use queue 'jobs.txt': a file with queues ends in .db, .sqlite or .sqlite3; " +
  "for a queue of this name on a server, give --redis\n";
const NO_COMMAND = `error: missing required argument 'command'

Usage: workqueue run [options] -- COMMAND [ARG with {} …] [::: ITEM …]

List all options with workqueue run --help.
`;

/** Invalid command lines, with their files and the expected messages. */
const WRONG: { name: string; args: string[]; files?: Record<string, string>; message: string }[] = [
  {
    name: "an input that is not there",
    args: ["run", "--input", "nope.txt", "--", "true"],
    message: "workqueue: Cannot read input 'nope.txt': there is no such file\n",
  },
  {
    name: "an input that is a directory",
    args: ["run", "--input", ".", "--", "true"],
    message: "workqueue: Cannot read input '.': it is a directory\n",
  },
  {
    name: "a report that cannot be written",
    args: ["run", "--report", "nope/report.jsonl", "--", "true"],
    message: "workqueue: Cannot write report 'nope/report.jsonl': there is no such directory\n",
  },
  {
    name: "a report that is the input",
    args: ["run", "--input", "list", "--report", "./list", "--", "true"],
    files: { list: "a\nb\n" },
    message: "workqueue: Cannot write report './list': it is the input\n",
  },
  {
    name: "a command that is not there",
    args: ["run", "--", "no-such-command", "{}"],
    message: "workqueue: Cannot run 'no-such-command': there is no such command\n",
  },
  {
    name: "a command line as one word",
    args: ["run", "echo hi", ":::", "a"],
    message:
      `workqueue: Cannot run 'echo hi': there is no such command; no shell splits it into words: leave out the ` +
      `quotes, or write sh -c '… "$1"' sh {}\n`,
  },
  {
    name: "a command that may not be run",
    args: ["run", "--", "./plain", "{}"],
    files: { plain: "text" },
    message: "workqueue: Cannot run './plain': permission denied\n",
  },
  { name: "no command", args: ["run", "--"], message: NO_COMMAND },
  { name: "no command and no --", args: ["run"], message: NO_COMMAND },
  {
    name: "an unknown option",
    args: ["run", "--confg", "x", "--", "true"],
    message: "error: unknown option '--confg'\n(Did you mean --config?)\n",
  },
  {
    name: "a concurrency that is no number",
    args: ["run", "--concurrency", "two", "--", "true"],
    message:
      "error: option '-j, -P, --concurrency <n>' argument 'two' is invalid. It must be an integer from 1 to 10000, or a percentage of the processors, such as 50%.\n",
  },
  {
    name: "a concurrency of zero",
    args: ["run", "--concurrency", "0", "--", "true"],
    message:
      "error: option '-j, -P, --concurrency <n>' argument '0' is invalid. It must be an integer from 1 to 10000, or a percentage of the processors, such as 50%.\n",
  },
  { name: "an unknown command of ours", args: ["fly"], message: "error: unknown command 'fly'\n" },
  {
    name: "a config that is not there",
    args: ["run", "--config", "x.yaml", "--", "true"],
    message: "workqueue: Cannot read config 'x.yaml': there is no such file\n",
  },
  {
    name: "a config of an unknown kind",
    args: ["run", "--config", "x.ini", "--", "true"],
    files: { "x.ini": "" },
    message: "workqueue: Cannot read config 'x.ini': its extension is none of .json, .jsonc, .yaml, .yml, .toml\n",
  },
  {
    name: "a queue that the config does not have",
    args: ["run", "--config", "x.json", "--queue", "imagse", "--", "true"],
    files: { "x.json": '{ "queues": { "images": {}, "mails": {} } }' },
    message: `workqueue: Cannot get queue: the config has none named "imagse"; did you mean "images"?\n`,
  },
  {
    name: "a queue without a config",
    args: ["run", "--queue", "images", "--", "true"],
    message:
      `workqueue: Cannot use queue "images": there is no config; name one with --config, or a file that ends in ` +
      `.db, .sqlite or .sqlite3\n`,
  },
  {
    name: "a file of queues whose name has another ending",
    args: ["run", "--queue", "jobs.txt", "--", "true"],
    message:
      `workqueue: Cannot use queue "jobs.txt": there is no config; name one with --config, or a file that ends in ` +
      `.db, .sqlite or .sqlite3\n`,
  },
  {
    name: "a queue whose name is like none of the config",
    args: ["run", "--config", "x.json", "--queue", "jobs", "--", "true"],
    files: { "x.json": '{ "queues": { "images": {}, "mails": {} } }' },
    message: `workqueue: Cannot get queue: the config has none named "jobs"; it has "images", "mails"\n`,
  },
  {
    name: "a queue of a config without queues",
    args: ["run", "--config", "x.json", "--queue", "jobs", "--", "true"],
    files: { "x.json": "{}" },
    message: `workqueue: Cannot get queue: the config has none named "jobs"; it has no queues\n`,
  },
  {
    name: "a file of queues on a server, with another ending",
    args: ["push", "--queue", "jobs.txt"],
    message: NO_SUCH_FILE,
  },
  {
    name: "a file of queues on a server, which is there",
    args: ["status", "--queue", "jobs"],
    files: { jobs: "" },
    message: NO_SUCH_FILE.replace("jobs.txt", "jobs"),
  },
  {
    name: "a choice of queues",
    args: ["run", "--config", "x.json", "--", "true"],
    files: { "x.json": '{ "queues": { "images": {}, "mails": {} } }' },
    message: `workqueue: Cannot choose a queue: the config has "images", "mails"; name one with --queue\n`,
  },
  {
    name: "more than one contradiction",
    args: ["run", "--report", "a", "--resume", "b", "--json", "--group-by", "/", "--", "true"],
    message: "workqueue: Cannot run: the command line has 2 problems:\n" +
      "  Cannot use --report with --resume, which appends to its own report; leave out --report\n" +
      "  Cannot group JSON lines by a separator; leave out --json or --group-by\n",
  },
  {
    name: "a config without a queue",
    args: ["run", "--config", "x.json", "--", "true"],
    files: { "x.json": "{}" },
    message: "workqueue: Cannot choose a queue: the config has no queues\n",
  },
];

for (const { name, args, files = {}, message } of WRONG) {
  Deno.test(`usage: ${name} is reported in a sentence, with exit code 2`, async () => {
    await using workspace = new Workspace();
    for (const [file, text] of Object.entries(files)) workspace.write(file, text);
    assertEquals(await fail(workspace, args), message);
  });
}

Deno.test("usage: a report is not emptied by a run that can't begin", async () => {
  await using workspace = new Workspace();
  workspace.write("report.jsonl", "of yesterday");
  await fail(workspace, ["run", "--input", "nope.txt", "--report", "report.jsonl", "--", "true"]);
  assertEquals(workspace.read("report.jsonl"), "of yesterday");
});

Deno.test("usage: help and version are not errors", async () => {
  await using workspace = new Workspace();
  const help = await workspace.run(["--help"]);
  assertEquals(help.code, 0);
  assertStringIncludes(help.stdout, "run ");
  const runHelp = await workspace.run(["run", "--help"]);
  assertEquals(runHelp.code, 0);
  for (const option of ["--config", "--queue", "--input", "--no-dedupe", "--concurrency", "--report"]) {
    assertStringIncludes(runHelp.stdout, option);
  }
  assertMatch(runHelp.stdout, /^each distinct line, or nothing with --no-dedupe\.$/m);
  const version = await workspace.run(["--version"]);
  assertEquals(version.code, 0);
  assertMatch(version.stdout, /^\d+\.\d+\.\d+\n$/);
});

const CONFIGS: Record<string, string> = {
  "config.json": `{
    "limiters": { "quick": { "type": "exponential", "baseDelay": "1ms", "maxDelay": "10ms" } },
    "queues": { "other": {}, "default": { "limiter": "quick", "maxRetries": 1 } }
  }`,
  "config.jsonc": `\uFEFF{
    // how long a failed item is delayed
    "limiters": { "quick": { "type": "exponential", "baseDelay": "1ms", "maxDelay": "10ms" } },
    "queues": { "other": {}, "default": { "limiter": "quick", "maxRetries": 1, }, },
  }`,
  "config.yaml": `
limiters:
  quick: { type: exponential, baseDelay: 1ms, maxDelay: 10ms }
queues:
  other: {}
  default:
    limiter: quick
    maxRetries: 1
`,
  "config.toml": `
[limiters.quick]
type = "exponential"
baseDelay = "1ms"
maxDelay = "10ms"

[queues.other]

[queues.default]
limiter = "quick"
maxRetries = 1
`,
};
CONFIGS["CONFIG.YML"] = CONFIGS["config.yaml"]!;

for (const [file, text] of Object.entries(CONFIGS)) {
  Deno.test(`config: ${file} is understood, and its errors are reported`, async () => {
    await using workspace = new Workspace();
    workspace.write(file, text);
    const { code } = await workspace.run(["run", "--config", file, "--report", "report.jsonl", "--", "false"], "a\n");
    assertEquals(code, 1);
    assertEquals(workspace.report().map(({ outcome, attempts }) => [outcome, attempts]), [["given-up", 2]]);

    workspace.write(
      file,
      text.replace("exponential", "exponentail").replace(/maxRetries("?[:=]?) ?(=?) ?1/, "maxRetries$1 $2 -1"),
    );
    const message = await fail(workspace, ["run", "--config", file, "--", "true"]);
    assertStringIncludes(message, `workqueue: Cannot load config '${file}': it has 2 problems:\n`);
    assertMatch(
      message,
      /"exponentail".*did you mean "exponential"\? \(at \/limiters\/quick\/type(, line \d+, column \d+)?\)$/m,
    );
    assertMatch(
      message,
      /'maxRetries' must .*, got -1 \(at \/queues\/default\/maxRetries(, line \d+, column \d+)?\)$/m,
    );

    workspace.write(file, text.replace("quick", '"'));
    assertStringIncludes(await fail(workspace, ["run", "--config", file, "--", "true"]), `config '${file}': `);
  });
}

Deno.test("config: a syntax error is reported in a sentence, with its place", async () => {
  await using workspace = new Workspace();
  const broken = [
    ["x.json", '{ "queues": }', "read config 'x.json': it is not valid JSON: expected a value at line 1, column 13"],
    [
      "x.jsonc",
      '{\n  "a": /* none */\n}',
      "read config 'x.jsonc': it is not valid JSONC: expected a value at line 3, column 1",
    ],
    [
      "x.yaml",
      "a: 1\na: 2",
      "read config 'x.yaml': it is not valid YAML: Map keys must be unique at line 2, column 1",
    ],
    [
      "x.toml",
      "a = 1\na = 2",
      "read config 'x.toml': it is not valid TOML: trying to redefine an already defined table or value at line 2, column 1",
    ],
    ["y.yaml", "text", "load config 'y.yaml': it must be an object, got a text"],
    ["z.yaml", "", "load config 'z.yaml': it is empty"],
  ] as const;
  for (const [file, text, problem] of broken) {
    workspace.write(file, text);
    const message = await fail(workspace, ["run", "--config", file, "--", "true"]);
    assertEquals(message, `workqueue: Cannot ${problem}\n`);
  }
});

Deno.test("config: a file can't change a prototype", async () => {
  await using workspace = new Workspace();
  const hostile = {
    "x.json": '{ "queues": { "__proto__": { "maxRetries": 1 } } }',
    "x.jsonc": '{ "queues": { "__proto__": { "maxRetries": 1 } } }',
    "x.yaml": "queues: { __proto__: { maxRetries: 1 } }",
    "x.toml": "[queues.__proto__]\nmaxRetries = 1",
  };
  for (const [file, text] of Object.entries(hostile)) {
    workspace.write(file, text);
    assertStringIncludes(await fail(workspace, ["run", "--config", file, "--", "true"]), "__proto__");
  }
});

Deno.test("config: a flag overrides the config, and the config overrides the defaults", async () => {
  await using workspace = new Workspace();
  const limiter = { type: "exponential", baseDelay: "1ms", maxDelay: "1ms" };
  workspace.write("x.json", JSON.stringify({ queues: { a: { limiter, concurrency: 1 }, b: { limiter } } }));
  // Each child waits until two children are running.
  const together =
    'touch "began $1"; i=0; until [ $(ls | grep -c began) = 2 ]; do sleep 0.02; i=$((i+1)); [ $i -lt 20 ] || exit 9; done';
  const run = async (args: string[]) => {
    for (const file of workspace.files()) {
      if (file !== "x.json") Deno.removeSync(`${workspace.directory}/${file}`);
    }
    const args2 = [
      "run",
      "--config",
      "x.json",
      "--report",
      "report.jsonl",
      ...args,
      "--",
      "sh",
      "-c",
      together,
      "sh",
      "{}",
    ];
    await workspace.run(args2, "1\n2\n");
    return workspace.report()[0]!.attempts;
  };
  assertEquals(await run(["--queue", "a"]), 2, "one at a time: the first gives up waiting for the second");
  assertEquals(await run(["--queue", "a", "--concurrency", "2"]), 1);
});

Deno.test("config: examples/workqueue.json is valid", async () => {
  await using workspace = new Workspace();
  const example = `${ROOT}examples/workqueue.json`;
  for (const queue of ["demo", "downloads"]) {
    assertEquals((await workspace.run(["run", "--config", example, "--queue", queue, "--", "true"], "a\n")).code, 0);
  }
});
