/**
 * Breaks the core on purpose, one change at a time, and tells which changes no test notices.
 *
 * `deno task mutate --count 300 --seed 7` takes 300 changes; the same seed takes the same ones of the same
 * source. `--jobs N` runs as many at once (default: the number of cores), `--only TEXT` takes only changes of
 * files with TEXT in their path. Exits with 1 if a change survived.
 */

import { join, relative } from "node:path";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { randomNumbers } from "../queue_helpers.ts";
import { stdArguments } from "../std/arguments.ts";
import { broken, type Mutant, mutantsOf } from "./mutants.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BROKEN_FOLDERS = ["lib", "registry", "limiters", "disciplines", "config"];

/** Tests of the command, of manifests and documents, of installing, of the examples, and of this: they do not look at the core's lines. */
const SKIPPED_TESTS = /^tests\/(cli|docs|house|installs|mutation|recipes)\//;
/** Tests that take seconds. They run if no other has noticed the change. */
const SLOW_TESTS = /fuzz_test|waiters_test|faults\/process/;

async function filesIn(folder: string, ending: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))).sort();
}

/** The test files, those first that are likely to notice a change of a file, then the quick ones. */
function inOrder(tests: readonly string[], file: string): string[] {
  const name = file.split("/").at(-1)!.replace(".ts", "");
  const place = (test: string) => {
    if (test.endsWith(`/${name}_test.ts`)) return 0;
    return !file.startsWith("lib/") === /limiters|registry|config|bucket/.test(test) ? 1 : 2;
  };
  return [...tests].sort((a, b) => place(a) - place(b));
}

/** A copy of the repository, in which one change after the other is tried. */
class Copy implements AsyncDisposable {
  constructor(readonly root: string) {}

  static async make(): Promise<Copy> {
    const root = await mkdtemp(join(tmpdir(), "workqueue_mutants_"));
    const isLeftOut = (path: string) => /(^|\/)(\.git|node_modules)$/.test(relative(ROOT, path));
    await cp(ROOT, root, { recursive: true, filter: (path) => !isLeftOut(path) });
    return new Copy(root);
  }

  /** Whether a command of Deno succeeds. One that does not end in time does not. */
  async succeeds(
    command: string,
    args: readonly string[],
    timeoutMs: number,
    output: "null" | "inherit" = "null",
  ): Promise<boolean> {
    const child = new Deno.Command(Deno.execPath(), {
      args: [command, "--quiet", ...stdArguments, ...args],
      cwd: this.root,
      stdin: "null",
      stdout: output,
      stderr: output,
    }).spawn();
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    const { success } = await child.status;
    clearTimeout(timer);
    return success;
  }

  async passesTests(tests: readonly string[], timeoutMs: number, output?: "inherit"): Promise<boolean> {
    return await this.succeeds("test", ["-A", "--no-check", "--fail-fast", ...tests], timeoutMs, output);
  }

  /** Does something while the change is made. */
  async while<R>(mutant: Mutant, action: () => Promise<R>): Promise<R> {
    const path = join(this.root, mutant.file);
    await writeFile(path, broken(mutant));
    try {
      return await action();
    } finally {
      await writeFile(path, mutant.source);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true });
  }
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

/** The line before and after the change. */
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
    only: { type: "string", default: "" },
    list: { type: "boolean", default: false },
  },
});

const all: Mutant[] = [];
for (const folder of BROKEN_FOLDERS) {
  for (const file of await filesIn(folder, ".ts")) {
    if (file.includes(options.only)) all.push(...mutantsOf(file, await readFile(join(ROOT, file), "utf8")));
  }
}
const mutants = sample(all, Number(options.count), Number(options.seed));
console.log(`${mutants.length} of ${all.length} changes, seed ${options.seed}`);
if (options.list) {
  for (const mutant of mutants) console.log(describe(mutant));
  process.exit();
}

await using copies = new AsyncDisposableStack();
const workers: Copy[] = [];
for (let i = 0; i < Number(options.jobs); i++) workers.push(copies.use(await Copy.make()));

const tests = (await filesIn("tests", "_test.ts")).filter((test) => !SKIPPED_TESTS.test(test));
const quickTests = tests.filter((test) => !SLOW_TESTS.test(test));
const slowTests = tests.filter((test) => SLOW_TESTS.test(test));

/** How long the tests may take when a change has made them slow, or endless. */
async function timeoutOf(tests: readonly string[]): Promise<number> {
  const begin = performance.now();
  const pass = await Promise.all(workers.map((copy) => copy.passesTests(tests, 300_000, "inherit")));
  if (pass.includes(false)) throw new Error("Cannot try changes as the tests fail without any");
  return 2 * (performance.now() - begin) + 10_000;
}
const quickTimeout = await timeoutOf(quickTests);
const slowTimeout = await timeoutOf(slowTests);

const survivors: string[] = [];
const queue = [...mutants];
let tried = 0;
await Promise.all(workers.map(async (copy) => {
  for (let mutant = queue.pop(); mutant !== undefined; mutant = queue.pop()) {
    const isAlive = await copy.while(mutant, async () => {
      // Types are checked only where nothing else notices: that takes longer than most tests.
      return await copy.passesTests(inOrder(quickTests, mutant.file), quickTimeout) &&
        await copy.passesTests(slowTests, slowTimeout) &&
        await copy.succeeds("check", ["mod.ts"], slowTimeout);
    });
    tried++;
    if (isAlive) {
      survivors.push(describe(mutant));
      console.log(`survived: ${survivors.at(-1)}`);
    }
    if (tried % 25 === 0) console.log(`${tried} tried, ${survivors.length} survived`);
  }
}));

const score = 100 * (mutants.length - survivors.length) / mutants.length;
console.log(`\n${survivors.length} survivors\n\n${survivors.sort().join("\n")}\n`);
console.log(`Score: ${score.toFixed(1)} % of ${mutants.length} changes were noticed (seed ${options.seed})`);
process.exitCode = survivors.length > 0 ? 1 : 0;
