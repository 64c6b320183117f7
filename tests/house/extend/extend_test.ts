/**
 * Follows the recipes of `CONTRIBUTING.md` in a copy of the repository: adds a limiter, a discipline, a throttle, an
 * option of a pool and a field of snapshots. If a recipe lacks a step, the copy doesn't compile or its tests fail. In
 * each round, some steps are left out, and a command must name what is missing.
 */

import { assert, assertEquals } from "@std/assert";
import { REDIS_SERVER } from "../../redis/server.ts";
import { recipes } from "./all.ts";
import { gaps } from "./gaps.ts";
import { pathOf, type Round } from "./recipe.ts";
import { type Result, Trial } from "./trial.ts";

const trial = new Trial(recipes, gaps);
globalThis.addEventListener("unload", () => trial[Symbol.dispose]());

/** Paths of all steps, without repetition. */
const paths = [...new Set(recipes.flatMap((recipe) => recipe.steps.map((step) => pathOf(recipe, step))))];

/** Modules whose types depend on the steps. */
const MODULES = ["mod.ts", ...["engine", "redis", "sqlite"].map((name) => `packages/${name}/mod.ts`)];

/** Test files whose types depend on the steps. The other test files have the same types without the steps. */
const CHECKED = [
  "tests/contracts/engine_model.ts",
  "tests/contracts/limiters_test.ts",
  "tests/contracts/reload_model.ts",
  "tests/contracts/unknown_parts_suite.ts",
  "tests/disciplines/newest_first_test.ts",
  "tests/limiters/quadratic_test.ts",
  "tests/model/plain_limiters.ts",
  "tests/redis/history/load.ts",
  "tests/throttles/contract_test.ts",
  "tests/throttles/ramp_test.ts",
  "tests/workers/every_option_test.ts",
];

/** Test files that the steps add or change, and test files that find a new part by its registry. */
const TESTED = [
  ...paths.filter((path) => path.endsWith("_test.ts")),
  "tests/config/every_option_test.ts",
  "tests/contracts/discipline_test.ts",
  "tests/house/house_test.ts",
  "tests/redis/scripts/limiters_model_test.ts",
  "tests/sqlite/model/limiters_test.ts",
];

/** Parts of the names of the tests in these files that concern the new parts, the new option or the new field. */
const NAMES = [
  "quadratic",
  "newest-first",
  "ramp",
  "leastDelay",
  "each built-in",
  "each type is here",
  "main entry",
  "of its own",
  "an empty queue",
  "another one's",
  "its fields",
];

/** Files that `deno task generate` changes after all steps. */
const GENERATED = [
  "deno.all.json",
  "deno.json",
  "docs/config/limiters.md",
  "docs/config/throttles.md",
  "docs/delays.svg",
  "docs/throttle-ramp.svg",
  "jsr.json",
  "mod.ts",
  "schema/workqueue.schema.json",
  "tsconfig.json",
];

/** Returns the type errors in an output, each with its place. */
function errorsIn(output: string): string[] {
  return output.split(/^(?=TS\d+ \[ERROR\])/m);
}

/** Throws an error unless a command failed and named everything that the steps of the round would have added. */
function assertNamed(round: Round, { success, output }: Result): void {
  assert(!success, `nothing fails without the steps of the round "${round}"\n${output}`);
  const errors = errorsIn(output);
  for (const { heading, name, steps } of recipes) {
    const isOfExample = (error: string) => error.includes(name) || error.includes(name.replaceAll("_", "-"));
    for (const { path, says, needsRedis } of steps.filter((step) => step.round === round)) {
      if (needsRedis && REDIS_SERVER === undefined) continue;
      const texts = round === "entries" ? errors.filter(isOfExample) : errors;
      const isNamed = texts.some((text) => text.includes(says));
      assert(isNamed, `${heading}: without the step in ${path}, nothing says: ${says}\n${output}`);
    }
  }
}

Deno.test("extend: without the new modules and Lua, the lists and the scripts can't be loaded", async () => {
  trial.follow("modules");
  const lists = ["limiters", "disciplines", "throttles"].map((room) => `${room}/built_ins.ts`);
  const scripts = trial.test(["tests/redis/scripts_test.ts"], ["scripts"]);
  const results = await Promise.all([...lists.map((list) => trial.load(list)), scripts]);
  const output = results.map((result) => result.output).join("\n");
  assertNamed("modules", { success: results.some(({ success }) => success), output });
});

Deno.test("extend: without the lines in lists and types, the type checker names what is missing", async () => {
  trial.follow("lists");
  const tests = CHECKED.filter((path) => /disciplines|throttles/.test(path));
  assertNamed("lists", await trial.check("packages/sqlite/mod.ts", "docs/generate/config_reference.ts", ...tests));
});

Deno.test("extend: without the entries that lists and types require, the type checker names the missing entries", async (t) => {
  trial.follow("entries");
  const result = await trial.check(...MODULES, ...CHECKED);
  assertNamed("entries", result);
  const errors = errorsIn(result.output);
  for (const gap of gaps) {
    await t.step(`the type checker names the code of engines that ${gap.adds} needs`, () => {
      const missing = gap.errors.filter(([path, words]) => {
        return !errors.some((error) => error.includes(`/${path}:`) && error.includes(words));
      });
      assertEquals(missing, [], result.output);
    });
  }
});

Deno.test("extend: deno task generate names a part that it can't draw", async () => {
  trial.follow("generate");
  assertNamed("generate", await trial.generate(...GENERATED));
});

Deno.test("extend: without the steps that no compiler requires, tests fail", async () => {
  trial.follow("tests");
  await trial.generate("packages/redis/scripts/lua.ts");
  assertNamed("tests", await trial.test(TESTED.filter((path) => trial.read(path) !== undefined), NAMES));
});

/** Tests for each limiter, discipline, throttle or option, with the names of the new ones, and a bound of names. */
const CONTRACTS = [
  "every limiter, quadratic of a config: counts",
  "every update, quadratic",
  'SQLite, limiters: the example of "quadratic"',
  "newest-first of a config",
  "throttle ramp: pools that share it",
  "'leastDelay' of a queue in a document reaches the pool",
  "'leastDelay' of a pool has an effect",
  "the main entry exports these names",
];

Deno.test("extend: with all steps, the parts are generated, compile, and pass the suites of their contracts", async () => {
  trial.follow();
  const before = new Map(GENERATED.map((path) => [path, trial.read(path)]));
  const generated = await trial.generate(...GENERATED);
  assert(generated.success, generated.output);
  assertEquals(GENERATED.filter((path) => trial.read(path) !== before.get(path)), GENERATED);
  const checked = await trial.check(...MODULES, ...CHECKED);
  assert(checked.success, checked.output);
  const tested = await trial.test(TESTED, NAMES);
  assert(tested.success, tested.output);
  for (const name of CONTRACTS) assert(tested.output.includes(name), `no test "${name}"\n${tested.output}`);
});
