/**
 * Tests of the package's entry points: the modules that each entry point loads, and its documentation. The tests run
 * only on Deno, which lists the modules.
 */

import { assertEquals, assertMatch } from "@std/assert";
import { manifest, ROOT, run } from "./project.ts";

const entries = Object.entries(manifest.exports);
const QUEUES = ["./work-queue", "./delaying-queue", "./rate-limiting-queue"];
const LIMITERS = entries.map(([entry]) => entry).filter((entry) => entry.startsWith("./limiters/"));
const THROTTLES = entries.map(([entry]) => entry).filter((entry) => entry.startsWith("./throttles/"));
const DISCIPLINES = entries.map(([entry]) => entry).filter((entry) => entry.startsWith("./disciplines/"));

/** Entry points for packages of this repository that bring along a room of the core. */
const INTERNALS = ["./internal/policy", "./internal/registry", "./internal/structures"];

/**
 * Entry points that the main entry point does not load. These entry points are for packages and engines, or export
 * names that the main entry point leaves out.
 */
const ROOMS = ["./config", "./disciplines", "./limiters", "./throttles"];
const LEFT_OUT = ["./internal", ...INTERNALS, "./hooks", "./inspect", "./watch", ...ROOMS];

/** For each entry point, the other entry points that it loads. */
const BRINGS: Record<string, string[]> = {
  ".": entries.map(([entry]) => entry).filter((entry) => entry !== "." && !LEFT_OUT.includes(entry)),
  "./work-queue": ["./duration"],
  "./delaying-queue": ["./work-queue", "./duration"],
  "./rate-limiting-queue": ["./work-queue", "./delaying-queue", "./duration"],
  "./workers": ["./duration"],
  "./hooks": [],
  "./inspect": ["./duration", "./token-bucket"],
  "./watch": [],
  "./parallelize": [],
  "./metrics": [],
  "./duration": [],
  "./internal": ["./duration"],
  "./internal/registry": ["./duration"],
  "./internal/policy": [],
  "./internal/structures": [],
  "./token-bucket": ["./duration"],
  "./config": [...QUEUES, "./duration", "./token-bucket", ...DISCIPLINES, ...THROTTLES, ...LIMITERS],
  "./disciplines": ["./duration", ...DISCIPLINES],
  "./limiters": ["./duration", "./token-bucket", ...LIMITERS],
  "./throttles": ["./duration", "./token-bucket", ...THROTTLES],
  // By default, the entry point of a discipline, a limiter or a throttle loads no other entry point and no queue. The
  // exceptions follow.
  ...Object.fromEntries([...DISCIPLINES, ...LIMITERS, ...THROTTLES].map((entry) => [entry, ["./duration"]])),
  "./limiters/bucket": ["./duration", "./token-bucket"],
  "./throttles/bucket": ["./duration", "./token-bucket"],
  "./limiters/defaults": [],
};

/** For each module that is not an entry point, the entry points that load it. */
const BROUGHT_BY: Record<string, string[]> = {
  "./lib/structures/record_heap.ts": [
    ".",
    "./delaying-queue",
    "./rate-limiting-queue",
    "./internal/structures",
    "./config",
    "./disciplines",
    "./disciplines/fair",
    "./disciplines/priority",
  ],
  "./lib/structures/number_heap.ts": [
    ".",
    "./internal/structures",
    "./config",
    "./disciplines",
    "./disciplines/fair",
    "./disciplines/priority",
  ],
  "./config/load_config.ts": [".", "./config"],
  "./registry/registry.ts": [".", "./config", "./disciplines", "./throttles", "./limiters"],
  "./lib/policy/tokens.ts": [
    ".",
    "./inspect",
    "./internal/policy",
    "./token-bucket",
    "./config",
    "./throttles",
    "./throttles/bucket",
    "./limiters",
    "./limiters/bucket",
    "./limiters/defaults",
  ],
};

/** Returns the files that are loaded by importing a file. */
async function filesBroughtBy(file: string): Promise<Set<string>> {
  const { stdout } = await run(Deno.execPath(), ["info", "--json", file], ROOT);
  const { roots, modules } = JSON.parse(stdout) as {
    roots: string[];
    modules: { specifier: string; dependencies?: { code?: { specifier: string } }[] }[];
  };
  const dependencies = new Map(modules.map((module) => [module.specifier, module.dependencies ?? []]));
  const loaded = new Set(roots);
  for (const specifier of loaded) {
    for (const { code } of dependencies.get(specifier)!) {
      if (code !== undefined) loaded.add(code.specifier); // type imports load no files
    }
  }
  return new Set([...loaded].map((specifier) => `./${specifier.slice(ROOT.href.length)}`));
}

const brought = new Map(
  await Promise.all(entries.map(async ([entry, file]) => [entry, await filesBroughtBy(file)] as const)),
);

Deno.test("exports: an entry brings along no other entry that it does not use", () => {
  for (const [entry, own] of entries) {
    const others = entries.filter(([, file]) => file !== own && brought.get(entry)!.has(file));
    assertEquals(others.map(([other]) => other), BRINGS[entry], entry);
  }
});

Deno.test("exports: no entry brings along the config, the registry or similar parts unless it uses them", () => {
  for (const [file, expected] of Object.entries(BROUGHT_BY)) {
    assertEquals(entries.map(([entry]) => entry).filter((entry) => brought.get(entry)!.has(file)), expected, file);
  }
});

Deno.test("exports: each entry describes its purpose", async () => {
  for (const [entry, file] of entries) {
    const source = await Deno.readTextFile(new URL(file, ROOT));
    const [comment] = source.split("*/", 1);
    assertMatch(comment!, /^\/\*\*\n \* \S[^]+ @module\n/, entry);
  }
});

Deno.test("exports: every symbol of an entry is documented, and names no type that the entry does not export", async () => {
  for (const [, file] of entries) await run(Deno.execPath(), ["doc", "--lint", file], ROOT);
});
