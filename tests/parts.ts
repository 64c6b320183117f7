/** The parts that the tests are run in, each a `deno` command. */

import { coreArguments, testArguments } from "./std/arguments.ts";
import { coreTests, libFolders, testsIn } from "./test_files.ts";

/** One command. Its output ends with the counts of tests, if it runs any. */
export interface Part {
  readonly name: string;
  /** Arguments of `deno`. */
  readonly args: readonly string[];
}

const HAS_SH = Deno.build.os !== "windows"; // Windows has no signals either, so no test of the command runs there

/** Tests that use each package, and those of the house. */
const packageTests: readonly string[] = [
  ...["dashboard", "house", "opentelemetry"].flatMap(testsIn),
  ...(HAS_SH ? ["tests/cli/run_test.ts"] : []),
  "tests/prometheus/prometheus_metrics_test.ts",
  "tests/redis/queue_test.ts",
];

/** Enough to see that the code runs on Bun. */
const bunTests: readonly string[] = [...libFolders, "contracts", "opentelemetry"].flatMap(testsIn);

/** Tests without a check of their types, which is a part of its own. */
function tests(name: string, ...args: readonly string[]): Part {
  return { name, args: ["test", "-A", "--no-check", ...args] };
}

/** The parts of `deno task test`. The first one prints its results as they come. */
export const defaultParts: readonly Part[] = [
  tests("core", ...coreArguments, ...coreTests),
  { name: "Bun", args: ["task", "test:bun", ...bunTests.map((file) => `./${file}`)] },
  tests("packages", ...testArguments, ...packageTests),
  { name: "types", args: ["task", "check"] }, // last, as it downloads every package that is not there yet
];

/** Folders of tests that mostly start programs. They are a part of their own, as one after the other takes too long. */
const PROGRAMS: readonly string[] = ["tests/docs", "tests/installs", "tests/recipes"];

/** The parts of `deno task ok`: everything. The longest come first, as they run side by side. */
export const allParts: readonly Part[] = [
  tests("the rest", ...testArguments, "--doc", `--ignore=${["tests/cli", ...PROGRAMS].join()}`),
  { name: "Bun", args: ["task", "test:bun"] },
  ...(HAS_SH ? [tests("the command", ...testArguments, "tests/cli")] : []),
  tests("installs and docs", ...testArguments, ...PROGRAMS),
  { name: "style", args: ["task", "style"] },
];
