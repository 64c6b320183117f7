/** Parts of the test suite, each a `deno` command. */

import { coreArguments, testArguments } from "./std/arguments.ts";
import { EVERY } from "./every.ts";
import {
  allTests,
  bunTests,
  libFolders,
  nodeTests,
  partFolders,
  testsIn,
  testsUnder,
  wholeFolders,
} from "./test_files.ts";

/** Command. If the command runs tests, its output ends with the numbers of passed and failed tests. */
export interface Part {
  readonly name: string;
  /** Arguments of `deno`. */
  readonly args: readonly string[];
  /** Test files that the part runs on Deno. */
  readonly files?: readonly string[];
  /** Number of test files that run at a time; one if omitted. */
  readonly jobs?: number;
  /** Whether the part mostly waits, so that a part which computes can run beside it. */
  readonly waits?: boolean;
}

const HAS_SH = Deno.build.os !== "windows"; // the tests of the command need `sh` and signals

/** Some tests of the packages, and the tests of the house rules. */
const packageTests: readonly string[] = [
  ...["dashboard", "engine", "house", "opentelemetry"].flatMap(testsIn),
  ...testsUnder("kubernetes"),
  ...(HAS_SH ? ["tests/cli/run_test.ts"] : []),
  "tests/prometheus/prometheus_metrics_test.ts",
  "tests/redis/queue_test.ts",
];

/** Enough tests to see that the code runs on Bun. */
const someBunTests: readonly string[] = [
  ...libFolders,
  "contracts",
  "opentelemetry",
].flatMap(testsIn);

/**
 * Arguments for tests whose types another part checks. V8 starts no helper threads, because other tests need the cores.
 */
const TEST: readonly string[] = ["test", "-A", "--no-check", "--v8-flags=--single-threaded"];

/** Modules that load test files, one for each file that runs at a time. */
const SLICES: readonly string[] = [1, 2, 3, 4].map((n) => `tests/together/slice_${n}.ts`);

/** Test files that take longest. They come first in their parts, and so are divided evenly into slices. */
export const LONGEST: readonly string[] = [
  "cli/signals",
  "cli/memory",
  "cli/output_modes",
  "cli/run_file",
  "cli/work",
  "cli/terminal",
  "cli/output",
  "cli/report_lock",
  "redis/cluster",
  "redis/demo",
  "redis/given_up_suite",
  "redis/repartition",
  "redis/connection",
  "redis/partitions",
  "redis/engine",
  "redis/sentinels",
  "redis/scripts/model",
  "redis/history/load",
  "redis/scripts/conformance",
  "redis/history/order",
  "dashboard/page/page",
  "simulate/page/playground",
  "dashboard/page/list",
  "simulate/page/same_report",
  "sqlite/model/model",
  "sqlite/engine",
  "sqlite/faults/faults",
  "sqlite/places",
  "sqlite/process/storm",
  "sqlite/queue",
  "installs/clone",
  "installs/packages",
  "installs/cli_user",
  "installs/cli",
  "docs/command_page",
  "docs/simulate_page",
  "docs/getting_started",
  "docs/sigterm",
  "faults/process/memory",
  "house/extend/extend",
].map((name) => `tests/${name}_test.ts`);

/** Modules that load examples of pages and comments. */
const EXAMPLES: readonly string[] = ["tests/together/examples_1.ts", "tests/together/examples_2.ts"];

/** Returns a part that runs test files, one after the other in one isolate. */
function tests(name: string, options: readonly string[], files: readonly string[]): Part {
  return { name, args: [...TEST, ...options, SLICES[0]!, "--", "1", ...files], files };
}

/**
 * Returns a part of which several test files run at a time, because they mostly wait for processes and servers.
 *
 * @param jobs The number of files that run at a time.
 */
function testsAtOnce(name: string, files: readonly string[], jobs = 2): Part {
  const ordered = [
    ...LONGEST.filter((file) => files.includes(file)),
    ...files.filter((file) => !LONGEST.includes(file)),
  ];
  const slices = SLICES.slice(0, jobs);
  const args = [...TEST, "--parallel", ...testArguments, ...slices, "--", `${jobs}`, ...ordered];
  return { name, args, files, jobs };
}

/** Returns a part that runs test files on another runtime, or all that the runtime can run if there are none. */
function on(name: "Bun" | "Node", files: readonly string[]): Part {
  return { name, args: ["task", `test:${name.toLowerCase()}`, ...files.map((file) => `./${file}`)] };
}

const core: readonly Part[] = [
  tests("core, by parts", coreArguments, partFolders.flatMap(testsIn)),
  tests("core, as a whole", coreArguments, wholeFolders.flatMap(testsIn)),
];

/** Parts of `deno task test`. The output of the first part is shown as it runs. */
export const defaultParts: readonly Part[] = [
  ...core,
  on("Bun", someBunTests),
  testsAtOnce("packages", packageTests),
  { name: "types", args: ["task", "check"] }, // last, because the type check downloads all missing packages
];

const redisTests = testsIn("redis");

/** Parts that mostly wait: for processes, servers and browsers, and for time to pass. */
const waiting: readonly Part[] = [
  ...(HAS_SH ? [testsAtOnce("cli", testsUnder("cli"), SLICES.length)] : []),
  testsAtOnce("redis", redisTests, SLICES.length),
  testsAtOnce("redis, with processes", testsUnder("redis").filter((file) => !redisTests.includes(file)), SLICES.length),
  testsAtOnce("pages", [...testsIn("dashboard/page"), ...testsIn("simulate/page")], SLICES.length),
].map((part) => ({ ...part, waits: true }));

/** Parts of test files that run several at a time. */
const large: readonly Part[] = [
  ...waiting,
  testsAtOnce("sqlite", testsUnder("sqlite")),
  testsAtOnce("installs", testsUnder("installs")),
  testsAtOnce("docs", testsUnder("docs")),
  testsAtOnce("simulate", [...testsIn("simulate"), ...testsIn("simulate/results")]),
];

const inOtherParts = new Set([...[...large, ...core].flatMap(({ files }) => files!), ...testsUnder("cli")]);

/**
 * Parts of `deno task ok`: everything. Of the parts that wait and of the others, the longest come first, because parts
 * run concurrently: `tests/TIMES.md` has their times.
 */
export const allParts: readonly Part[] = [
  ...large,
  on("Bun", EVERY ? [] : bunTests),
  testsAtOnce("the rest", allTests.filter((file) => !inOtherParts.has(file))),
  { name: "examples", args: [...TEST, "--parallel", ...testArguments, ...EXAMPLES], jobs: EXAMPLES.length },
  ...core,
  { name: "style", args: ["task", "style"] },
  on("Node", EVERY ? [] : nodeTests),
];
