/** The house rules: what the core may import, what it may touch, and what its manifests say. */

import { assert, assertEquals } from "@std/assert";
import * as core from "@workqueue/core";

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
    "every",
    "defineLimiter",
    "LimiterRegistry",
    "loadConfig",
    "ConfigError",
    "runWorkers",
    "TerminalError",
    "RetryAfterError",
    "parallelizeUntil",
    "parseDuration",
  ] as const;
  for (const name of functions) assertEquals(typeof core[name], "function", name);
  assert(core.limiters instanceof core.LimiterRegistry);
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

Deno.test("every test that docs/conformance.md names is there", async () => {
  const tables = await Deno.readTextFile(new URL("docs/conformance.md", root));
  const named = [...tables.matchAll(/`([\w/]+_test\.ts)`: (.*?)(?=<br>| +\|)/g)];
  assert(named.length > 50);
  for (const [, file, name] of named) {
    const source = await Deno.readTextFile(new URL(`tests/${file}`, root));
    assert(source.includes(`Deno.test("${name}"`), `${file}: ${name}`);
  }
});
