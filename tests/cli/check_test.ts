/** Tests of `workqueue check`, which reports every problem in every config, with its position. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { someRuntimes, TELL_CODE, Workspace } from "./cli.ts";

const MESSAGES = {
  type: `'type' must be one of "bucket", "exponential", "fast-slow", "ignore-early", "jitter", "max-of", ` +
    `"max-wait", "per-group", "steps"` +
    `, got "exponentail"; did you mean "exponential"?`,
  missing: "missing required option 'burst' (maximum number of retries at once)",
  concurency: `"concurency" is not an option here; did you mean "concurrency"?`,
  maxRetries: "'maxRetries' must be a non-negative integer, got -1",
};

/** Documents with the same four problems, and the positions of the problems in the order of detection. */
const BROKEN: Record<string, { text: string; places: string[] }> = {
  "a.json": {
    text: `{
  "limiters": {
    "slow": { "type": "exponentail" },
    "api": { "type": "bucket", "rate": 1 }
  },
  "queues": {
    "images": { "limiter": "slow", "maxRetries": -1, "concurency": 4 }
  }
}`,
    places: ["3:15", "4:5", "7:54", "7:36"],
  },
  "a.jsonc": {
    text: `{
  // how long a failed item is delayed
  "limiters": { "slow": { "type": "exponentail" }, "api": { "type": "bucket", "rate": 1 } },
  "queues": {
    "images": { "limiter": "slow",
      "maxRetries": -1,
      "concurency": 4, }, }
}`,
    places: ["3:27", "3:52", "7:7", "6:7"],
  },
  "a.yaml": {
    text: `limiters:
  slow: { type: exponentail }
  api:
    type: bucket
    rate: 1
queues:
  images:
    limiter: slow
    maxRetries: -1
    concurency: 4
`,
    places: ["2:11", "3:3", "10:5", "9:5"],
  },
  "a.toml": {
    text: `limiters.slow = { type = "exponentail" }
limiters.api = { type = "bucket", rate = 1 }
queues.images = { limiter = "slow", maxRetries = -1, concurency = 4 }
`,
    places: ["1:19", "2:10", "3:54", "3:37"],
  },
};
const PROBLEMS = [
  `/limiters/slow/type: ${MESSAGES.type}`,
  `/limiters/api/burst: ${MESSAGES.missing}`,
  `/queues/images/concurency: ${MESSAGES.concurency}`,
  `/queues/images/maxRetries: ${MESSAGES.maxRetries}`,
];
const problemsOf = (file: string, places: string[]) =>
  PROBLEMS.map((problem, i) => `${file}:${places[i]}: ${problem}\n`).join("");

for (const [file, { text, places }] of Object.entries(BROKEN)) {
  Deno.test(`check: every problem in ${file} is printed on a line, with its place`, async () => {
    await using workspace = new Workspace();
    workspace.write(file, text);
    assertEquals(await workspace.run(["check", file]), { code: 1, stdout: problemsOf(file, places), stderr: "" });
  });
}

const INVALID: [file: string, text: string, line: string][] = [
  ["s.json", '{\n "queues": }', "s.json:2:12: it is not valid JSON: expected a value"],
  ["s.jsonc", '{\n "queues": }', "s.jsonc:2:12: it is not valid JSONC: expected a value"],
  ["s.yaml", "a: 1\na: 2", "s.yaml:2:1: it is not valid YAML: Map keys must be unique"],
  ["s.yml", "queues:\n\ta: 1", "s.yml:2:1: it is not valid YAML: Tabs are not allowed as indentation"],
  ["s.toml", "a = 1\na = 2", "s.toml:2:1: it is not valid TOML: trying to redefine an already defined table or value"],
  ["text.yaml", "# nothing\ntext", "text.yaml:2:1: it must be an object, got a text"],
  ["none.yaml", "", "none.yaml:1:1: it is empty"],
];

Deno.test("check: a syntax error is reported with its place", async () => {
  await using workspace = new Workspace();
  for (const [file, text] of INVALID) workspace.write(file, text);
  const { code, stdout, stderr } = await workspace.run(["check", ...INVALID.map(([file]) => file)]);
  assertEquals(stdout.split("\n"), [...INVALID.map(([, , line]) => line), ""]);
  assertEquals([code, stderr], [1, ""]);
});

Deno.test("check: a valid config is described by the types of its parts", async () => {
  await using workspace = new Workspace();
  const throttles = { api: { type: "breaker" }, slots: { type: "concurrency", limit: 2 } };
  workspace.write("a.json", JSON.stringify({ queues: { a: {} }, throttles }));
  assertEquals(await workspace.run(["check", "a.json"]), {
    code: 0,
    stdout: "a.json: ok, 1 queue, 2 throttles\n",
    stderr: "",
  });
});

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`check, ${runtime}: all files are checked, and the worst file determines the exit code`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write(
      "good.json",
      '{ "queues": { "a": {}, "b": {} }, "limiters": { "c": { "type": "bucket", "rate": 1, "burst": 1 } } }',
    );
    workspace.write("none.toml", "# no queues yet\n[queues]\n");
    for (const [file, { text }] of Object.entries(BROKEN)) workspace.write(file, text);
    const good = "good.json: ok, 2 queues, 1 limiter\nnone.toml: ok, 0 queues\n";
    const bad = problemsOf("a.yaml", BROKEN["a.yaml"]!.places);

    assertEquals(await workspace.run(["check", "good.json", "none.toml"]), { code: 0, stdout: good, stderr: "" });
    workspace.write("emptied.toml", "");
    assertEquals(await workspace.run(["check", "emptied.toml"]), {
      code: 1,
      stdout: "emptied.toml:1:1: it is empty\n",
      stderr: "",
    });
    assertEquals(await workspace.run(["check", "--quiet", "good.json"]), { code: 0, stdout: "", stderr: "" });
    assertEquals(await workspace.run(["check", "a.yaml", "good.json", "none.toml"]), {
      code: 1,
      stdout: bad + good,
      stderr: "",
    });
    assertEquals(await workspace.run(["check", "none.json", "x.ini", "a.yaml", "good.json", "--quiet"]), {
      code: 2,
      stdout: bad,
      stderr: "workqueue: Cannot read config 'none.json': there is no such file\n" +
        "workqueue: Cannot read config 'x.ini': its extension is none of .json, .jsonc, .yaml, .yml, .toml\n",
    });
  });

  Deno.test(`check, ${runtime}: standard input is checked in the given format`, async () => {
    await using workspace = new Workspace(runtime);
    const { text, places } = BROKEN["a.yaml"]!;
    assertEquals(await workspace.run(["check", "-", "--format", "yaml"], text), {
      code: 1,
      stdout: problemsOf("-", places),
      stderr: "",
    });
    assertEquals(await workspace.run(["check", "--format=toml", "-"], "queues.a = {}"), {
      code: 0,
      stdout: "-: ok, 1 queue\n",
      stderr: "",
    });
  });
}

Deno.test("check: invalid options are refused", async () => {
  await using workspace = new Workspace();
  workspace.write("a.json", "{}");
  const refusals: [args: string[], message: string][] = [
    [[], "error: missing required argument 'file'\n"],
    [["-"], "workqueue: Cannot read standard input: its format is unknown; specify it with --format\n"],
    [["-", "-", "--format", "json"], "workqueue: Cannot read standard input more than once\n"],
    [
      ["a.json", "--format", "json"],
      "workqueue: Cannot use --format without - (standard input): the extension of a file determines its format\n",
    ],
    [["a.json", "--quite"], "error: unknown option '--quite'\n(Did you mean --quiet?)\n"],
  ];
  for (const [args, stderr] of refusals) {
    assertEquals(await workspace.run(["check", ...args]), { code: 2, stdout: "", stderr });
  }
  assertEquals(await workspace.run(["check", "-", "--format", "toml"], Uint8Array.of(0xff)), {
    code: 2,
    stdout: "",
    stderr: "workqueue: Cannot read standard input: it is not UTF-8\n",
  });
  const { code, stderr } = await workspace.run(["check", "-", "--format", "ini"]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "Allowed choices are json, jsonc, yaml, toml.");
});

Deno.test("check: text from a config can't control the terminal or begin a line", async () => {
  await using workspace = new Workspace();
  workspace.write("a.json", JSON.stringify({ queues: { "\x1b[31m\nfake.json:1:1: x": 1 } }));
  const { stdout } = await workspace.run(["check", "a.json"]);
  assertEquals(stdout.split("\n").length, 2, stdout);
  assertEquals(stdout.match(/\p{Cc}/gu), ["\n"]);
});

Deno.test("check: a closed reader is not an error, and a full disk is one", async () => {
  await using workspace = new Workspace();
  workspace.write("a.json", "{}");
  workspace.write("b.json", "[]");
  const check = (...files: string[]) => ["check", ...files];
  const left = await workspace.run(check("a.json", "b.json"), "", `{ "$@"; ${TELL_CODE}; } | :`);
  assertEquals([left.stderr, workspace.read("code")], ["", "1\n"]);
  if (Deno.build.os !== "linux") return; // other systems have no device that acts like a full disk
  assertEquals(await workspace.run(check("a.json"), "", '"$@" > /dev/full'), {
    code: 2,
    stdout: "",
    stderr: "workqueue: Cannot write standard output: no space is left on the device\n",
  });
});
