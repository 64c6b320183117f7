/** Tests of the house rules: allowed imports and globals of the core, and the contents of its manifests. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { existsSync } from "node:fs";
import * as core from "@workqueue/core";
import { LimiterRegistry } from "@workqueue/core/limiters";
import { metricFamilies } from "@workqueue/core/metrics";
import { builtInDisciplines, builtIns, builtInThrottles } from "../../docs/generate/built_ins.ts";

const root = new URL("../..", import.meta.url);
const mod = new URL("mod.ts", root);

async function deno(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = new Deno.Command(Deno.execPath(), { args, cwd: root, stdout: "piped", stderr: "piped" });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("the core imports nothing from outside the repository", async () => {
  const { stdout } = await deno("info", "--json", mod.href);
  const { modules } = JSON.parse(stdout) as { modules: { specifier: string }[] };
  assert(modules.length > 20);
  for (const { specifier } of modules) assert(specifier.startsWith(root.href), specifier);
});

Deno.test("the core imports with no permissions and prints nothing", async () => {
  const { code, stdout, stderr } = await deno("run", "--no-prompt", "--cached-only", mod.href);
  assertEquals({ code, stdout, stderr }, { code: 0, stdout: "", stderr: "" });
});

Deno.test("the core touches no runtime API, and nothing throws away types", async () => {
  const { stdout } = await deno("info", "--json", mod.href);
  const { modules } = JSON.parse(stdout) as { modules: { specifier: string }[] };
  for (const { specifier } of modules) {
    const source = await Deno.readTextFile(new URL(specifier));
    const code = source.replace(/\/\*[^]*?\*\/|\/\/.*/g, "");
    assertEquals(code.match(/\b(Deno|Bun|process|require|fetch|Buffer|node:\w+)\b[.(]?/g), null, specifier);
    assertEquals(source.match(/@ts-(ignore|nocheck)|as any\b/g), null, specifier);
  }
});

Deno.test("jsr.json and deno.json say the same", async () => {
  const [jsr, config] = await Promise.all(
    ["jsr.json", "deno.json"].map(async (file) => JSON.parse(await Deno.readTextFile(new URL(file, root)))),
  );
  for (const field of Object.keys(jsr)) assertEquals(config[field], jsr[field], field);
  for (const field of ["name", "version", "license", "exports"]) assert(field in jsr, field);
});

/**
 * Names that the main entry exports at run time, not counting the functions that create built-in limiters and
 * disciplines.
 */
const MAIN_ENTRY = [
  "AddedAgainError",
  "ConfigError",
  "GivenUpError",
  "InMemoryMetrics",
  "NOT_COUNTED",
  "RetryAfterError",
  "TerminalError",
  "TokenBucket",
  "adaptDiscipline",
  "adaptMetrics",
  "adaptThrottle",
  "createAimdThrottle",
  "createConcurrencyThrottle",
  "createDefaultControllerLimiter",
  "createDefaultItemLimiter",
  "createDelayingQueue",
  "createGivenUpStore",
  "createRateLimitingQueue",
  "createRetryBudget",
  "createWorkQueue",
  "defineDiscipline",
  "defineLimiter",
  "defineThrottle",
  "disciplineRegistry",
  "disciplines",
  "limiterRegistry",
  "limiters",
  "loadConfig",
  "loadConfigWith",
  "parallelizeUntil",
  "parseDuration",
  "result",
  "runBatches",
  "runWorkers",
  "systemClock",
  "throttleRegistry",
  "throttles",
];

/** Maximum number of these names, few enough for readers to scan. Further names belong in other entries. */
const MOST_NAMES = 37;

Deno.test("the main entry exports these names at run time, and no more than fit on a page", () => {
  const names = Object.keys(core).sort();
  const created = [...builtIns, ...builtInDisciplines].flatMap((part) => part.names)
    .filter((name) => !name.startsWith("type "));
  assertEquals(names, [...MAIN_ENTRY, ...created].sort());
  assert(MAIN_ENTRY.length <= MOST_NAMES, `${MAIN_ENTRY.length} names: ${MAIN_ENTRY.join(", ")}`);
});

Deno.test("every name of the contract is exported", () => {
  const functions = [
    "createWorkQueue",
    "createDelayingQueue",
    "createRateLimitingQueue",
    "createBucketLimiter",
    "createExponentialLimiter",
    "createFastSlowLimiter",
    "createMaxOfLimiter",
    "createMaxWaitLimiter",
    "createDefaultControllerLimiter",
    "createDefaultItemLimiter",
    "TokenBucket",
    "defineLimiter",
    "loadConfig",
    "ConfigError",
    "runWorkers",
    "TerminalError",
    "RetryAfterError",
    "parallelizeUntil",
    "parseDuration",
  ] as const;
  for (const name of functions) assertEquals(typeof core[name], "function", name);
  assertEquals(typeof core.TokenBucket.every, "function");
  assert(core.limiters instanceof LimiterRegistry);
  assert(new core.TerminalError("x") instanceof Error);
  assertEquals(new core.TerminalError("x", { cause: 1 }).cause, 1);
});

Deno.test("the plugin of the examples is built from its config file, on its own registry", async () => {
  const { code, stdout } = await deno("run", "--no-prompt", "examples/use_plugin.ts");
  assertEquals(code, 0);
  const waits = [...stdout.matchAll(/wait ([\d.]+) ms/g)].map(([, ms]) => Number(ms));
  assertEquals(waits, [100, 100, 200, 300, 500]);
  assert(!core.limiters.has("fibonacci"));
});

Deno.test("every built-in limiter and discipline has tests of its own", () => {
  const tests = [...builtIns, ...builtInDisciplines].map(({ file }) => `tests/${file.replace(".ts", "_test.ts")}`);
  const missing = tests.filter((file) => !existsSync(new URL(file, root)));
  assertEquals(missing.map((file) => `${file} is missing`), []);
});

Deno.test("every built-in throttle has tests of its own", () => {
  const files = [...Deno.readDirSync(new URL("tests/throttles/", root))].filter(({ name }) =>
    name.endsWith("_test.ts")
  );
  const sources = files.map(({ name }) => Deno.readTextFileSync(new URL(`tests/throttles/${name}`, root)));
  for (const { file, example: { type } } of builtInThrottles) {
    const isTested = sources.some((source) => source.includes(`Deno.test("${type}: `));
    assert(isTested, `tests/${file.replace(".ts", "_test.ts")} is missing: tests whose names begin with "${type}: "`);
  }
});

/** Pages with a table that says when to choose each part, or what each part does. */
const TABLES = {
  "docs/limiters.md": builtIns,
  "docs/throttles.md": builtInThrottles,
  "docs/redis/limits.md": builtInThrottles,
};

for (const [path, parts] of Object.entries(TABLES)) {
  Deno.test(`${path} has a row for each built-in part`, async () => {
    const page = await Deno.readTextFile(new URL(path, root));
    for (const { example: { type } } of parts) {
      assertMatch(page, new RegExp(`^\\|.*\`${type}\``, "m"), `${path} has no row for ${type}`);
    }
  });
}

Deno.test("docs/ordering.md says when to take each built-in discipline", async () => {
  const page = await Deno.readTextFile(new URL("docs/ordering.md", root));
  for (const { example: { type } } of builtInDisciplines) {
    assertMatch(page, new RegExp(`^\\| \`${type}\` +\\|`, "m"), `docs/ordering.md has no row for ${type}`);
  }
});

Deno.test("lib/metrics/mod.ts has a row for each metric", async () => {
  const page = await Deno.readTextFile(new URL("lib/metrics/mod.ts", root));
  for (const [method, { name }] of Object.entries(metricFamilies)) {
    assert(page.includes(`| \`${method}\` | \`${name}\` |`), `lib/metrics/mod.ts has no row for ${name}`);
  }
});

Deno.test("every test that docs/conformance.md names is there", async () => {
  const tables = await Deno.readTextFile(new URL("docs/conformance.md", root));
  const named = [...tables.matchAll(/`([\w/]+_test\.ts)`: (.*?)(?=<br>| +\|)/g)];
  assert(named.length > 50);
  for (const [, file, name] of named) {
    const source = await Deno.readTextFile(new URL(`tests/${file}`, root));
    assert(source.includes(`Deno.test("${name}"`), `${file}: ${name}`);
  }
});
