/**
 * Mutation tests of the core. The script breaks the core with one change at a time, and lists the changes that no test
 * notices.
 *
 * `deno task mutate --count 300 --seed 7` tests 300 changes. For unchanged sources, the same seed selects the same
 * changes. `--jobs N` tests N changes at once (default: the number of cores). `--only TEXT` selects only files with
 * TEXT in their path, and can be given several times. `--list` prints the changes without testing them. Run it on a
 * quiet machine, because tests that exceed their time limit count as failed. Exits with 1 if a change survived.
 */

import { join, relative } from "node:path";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { coreTests, testsIn } from "../test_files.ts";
import { randomNumbers } from "../queue_helpers.ts";
import { testArguments } from "../std/arguments.ts";
import { broken, type Mutant, mutantsOf } from "./mutants.ts";
import { type MeasuredTest, stagesFor } from "./stages.ts";
import { reachedBy } from "./reached_modules.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BROKEN_FOLDERS = ["lib", "registry", "limiters", "disciplines", "config"];

/**
 * Tests of the core, and of the files that are generated from its descriptions. The tests of config files are left out,
 * because they test a package and take a long time.
 */
const TESTS = [
  ...coreTests.filter((file) => !file.startsWith("tests/config_file/")),
  "tests/docs/generated_test.ts",
];
/**
 * Tests that start processes. These tests detect leaks, and run last. The import graph doesn't show which modules the
 * processes load.
 */
const PROCESS_TESTS = testsIn("faults/process");

async function filesIn(folder: string, ending: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))).sort();
}

/** Copy of the repository in which changes are tested one after the other. */
class Copy implements AsyncDisposable {
  constructor(readonly root: string) {}

  static async make(): Promise<Copy> {
    const root = await mkdtemp(join(tmpdir(), "workqueue_mutants_"));
    const isLeftOut = (path: string) => /(^|\/)(\.git|node_modules)$/.test(relative(ROOT, path));
    await cp(ROOT, root, { recursive: true, filter: (path) => !isLeftOut(path) });
    return new Copy(root);
  }

  /** Number of commands that exceeded their timeout. */
  timeouts = 0;

  /** Runs a `deno` command, and reports whether it succeeds. A command that exceeds the timeout fails. */
  async succeeds(command: string, args: readonly string[], timeoutMs?: number): Promise<boolean> {
    const child = new Deno.Command(Deno.execPath(), {
      args: [command, "--quiet", ...testArguments, ...args],
      cwd: this.root,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => {
      this.timeouts++;
      child.kill("SIGKILL");
    }, timeoutMs);
    const { success } = await child.status;
    clearTimeout(timer);
    return success;
  }

  async passesTests(tests: readonly string[], timeoutMs?: number): Promise<boolean> {
    return await this.succeeds("test", ["-A", "--no-check", "--fail-fast", ...tests], timeoutMs);
  }

  /** Runs a test file that must pass, and returns how long it takes. */
  async measure(file: string): Promise<MeasuredTest> {
    const begin = performance.now();
    if (!await this.passesTests([file])) throw new Error(`Cannot try changes: ${file} fails without any`);
    return { file, ms: performance.now() - begin };
  }

  /** Tests a change, and reports whether it goes unnoticed by all tests and by the type check. */
  async survives(mutant: Mutant, tests: readonly MeasuredTest[]): Promise<boolean> {
    const path = join(this.root, mutant.file);
    await writeFile(path, broken(mutant));
    try {
      const [first, ...others] = stagesFor(mutant.file, tests);
      if (first !== undefined && !await this.passesTests(first.files, first.timeoutMs)) return false;
      if (!await this.succeeds("check", ["mod.ts"])) return false; // a type check takes as long as the quickest tests
      for (const { files, timeoutMs } of others) if (!await this.passesTests(files, timeoutMs)) return false;
      return true;
    } finally {
      await writeFile(path, mutant.source);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true });
  }
}

/** Calls `work` once for each value, with one of the copies. Each copy works on one value at a time. */
async function share<V, R>(copies: readonly Copy[], values: readonly V[], work: (copy: Copy, value: V) => Promise<R>) {
  const results: R[] = [];
  const left = values.values(); // one iterator for all copies, so each value is taken once
  await Promise.all(copies.map(async (copy) => {
    for (const value of left) results.push(await work(copy, value));
  }));
  return results;
}

function sample<V>(values: readonly V[], count: number, seed: number): V[] {
  const random = randomNumbers(seed);
  const left = [...values];
  const taken: V[] = [];
  while (taken.length < count && left.length > 0) {
    taken.push(...left.splice(Math.floor(random() * left.length), 1));
  }
  return taken;
}

/** Returns the file, the line number, and the line before and after the change. */
function describe(mutant: Mutant): string {
  const { file, line, start, end, source } = mutant;
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const to = source.indexOf("\n", end);
  const after = broken(mutant).slice(from, to - source.length);
  const cut = (text: string) => text.replace(/\s+/g, " ").trim().slice(0, 160);
  return `${file}:${line}\n    ${cut(source.slice(from, to))}\n  → ${cut(after)}`;
}

const { values: options } = parseArgs({
  options: {
    count: { type: "string", default: "200" },
    seed: { type: "string", default: String(Date.now() % 1e6) },
    jobs: { type: "string", default: String(navigator.hardwareConcurrency) },
    only: { type: "string", multiple: true, default: [""] },
    list: { type: "boolean", default: false },
  },
});

const found: Mutant[] = [];
for (const folder of BROKEN_FOLDERS) {
  for (const file of await filesIn(folder, ".ts")) {
    if (!options.only.some((text) => file.includes(text))) continue;
    found.push(...mutantsOf(file, await readFile(join(ROOT, file), "utf8")));
  }
}
const mutants = sample(found, Number(options.count), Number(options.seed));
console.log(`${mutants.length} of ${found.length} changes, seed ${options.seed}`);
if (mutants.length === 0) {
  console.error(`No file that changes are made in has "${options.only.join('" or "')}" in its path`);
  process.exit(2);
}
if (options.list) {
  for (const mutant of mutants) console.log(describe(mutant));
  process.exit();
}

const begin = performance.now();
const minutes = () => `${((performance.now() - begin) / 60_000).toFixed(0)} min`;

await using stack = new AsyncDisposableStack();
const copies: Copy[] = [];
for (let i = 0; i < Number(options.jobs); i++) copies.push(stack.use(await Copy.make()));

const measured = await share(copies, [...TESTS, ...PROCESS_TESTS], (copy, file) => copy.measure(file));
console.log(`${measured.length} test files pass without a change (${minutes()})`);
const reached = await reachedBy(TESTS);

const survivors: string[] = [];
let tried = 0;
await share(copies, mutants, async (copy, mutant) => {
  const tests = measured.filter(({ file }) => reached.get(file)?.has(mutant.file) ?? true);
  if (await copy.survives(mutant, tests)) {
    survivors.push(describe(mutant));
    console.log(`survived: ${survivors.at(-1)}`);
  }
  if (++tried % 25 === 0) console.log(`${tried} tried, ${survivors.length} survived (${minutes()})`);
});

// A change that makes the tests endless exceeds the timeout. On a machine that does other work, other changes do too.
const timeouts = copies.reduce((sum, copy) => sum + copy.timeouts, 0);
const score = 100 * (mutants.length - survivors.length) / mutants.length;
console.log(`\n${survivors.length} survivors\n\n${survivors.sort().join("\n")}\n`);
console.log(
  `Score: ${score.toFixed(1)} % of ${mutants.length} changes were noticed (seed ${options.seed}, ${minutes()}), ` +
    `${timeouts} of them because tests took too long`,
);
process.exitCode = survivors.length > 0 ? 1 : 0;
