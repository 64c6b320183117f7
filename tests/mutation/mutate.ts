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
import { type Mutant, mutantsOf } from "./mutants.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BROKEN_FOLDERS = ["lib", "limiters"];

/** Tests of the command, which has nothing to do with the core's lines, and of this. */
const SKIPPED_TESTS = /^tests\/(cli|mutation)\//;
/** Tests that take seconds: whatever else can notice a change notices it sooner. */
const SLOW_TESTS = /house_test|fuzz_test|memory_test|process_test|many_test/;

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
    if (SLOW_TESTS.test(test)) return 3;
    return file.startsWith("limiters") === /limiters|registry|config|bucket/.test(test) ? 1 : 2;
  };
  return [...tests].sort((a, b) => place(a) - place(b));
}

/** A copy of the repository, in which one change after the other is tried. */
class Copy implements AsyncDisposable {
  constructor(readonly root: string) {}

  static async make(): Promise<Copy> {
    const root = await mkdtemp(join(tmpdir(), "workqueue_mutants_"));
    const isLeftOut = (path: string) => /^(\.git|node_modules)($|\/)/.test(relative(ROOT, path));
    await cp(ROOT, root, { recursive: true, filter: (path) => !isLeftOut(path) });
    return new Copy(root);
  }

  /** Whether the tests pass. Those that do not end in time do not. */
  async test(tests: readonly string[], options: readonly string[], timeoutMs: number): Promise<boolean> {
    const args = ["test", "-A", "--quiet", "--fail-fast", ...options, ...await stdArguments(), ...tests];
    const child = new Deno.Command(Deno.execPath(), {
      args,
      cwd: this.root,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    const { success } = await child.status;
    clearTimeout(timer);
    return success;
  }

  /** Does something while the change is made. */
  async while<R>({ file, start, end, replacement }: Mutant, action: () => Promise<R>): Promise<R> {
    const path = join(this.root, file);
    const source = await readFile(path, "utf8");
    await writeFile(path, source.slice(0, start) + replacement + source.slice(end));
    try {
      return await action();
    } finally {
      await writeFile(path, source);
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
async function describe({ file, line, start, end, replacement }: Mutant): Promise<string> {
  const source = await readFile(join(ROOT, file), "utf8");
  const cut = (text: string) => text.replace(/\s+/g, " ").trim().slice(0, 160);
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const to = source.indexOf("\n", end);
  const after = source.slice(from, start) + replacement + source.slice(end, to);
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
  for (const mutant of mutants) console.log(await describe(mutant));
  process.exit();
}

await using copies = new AsyncDisposableStack();
const workers: Copy[] = [];
for (let i = 0; i < Number(options.jobs); i++) workers.push(copies.use(await Copy.make()));

const tests = (await filesIn("tests", "_test.ts")).filter((test) => !SKIPPED_TESTS.test(test));
const begin = performance.now();
const ordinary = await Promise.all(workers.map((copy) => copy.test(inOrder(tests, ""), ["--no-check"], 300_000)));
if (ordinary.includes(false)) throw new Error("Cannot try changes as the tests fail without any");
const timeout = 3 * (performance.now() - begin) + 10_000;

const survivors: string[] = [];
const queue = [...mutants];
let tried = 0;
await Promise.all(workers.map(async (copy) => {
  for (let mutant = queue.pop(); mutant !== undefined; mutant = queue.pop()) {
    const inItsOrder = inOrder(tests, mutant.file);
    const isAlive = await copy.while(mutant, async () => {
      // Types are checked only where nothing else notices: that takes longer than most tests.
      return await copy.test(inItsOrder, ["--no-check"], timeout) &&
        await copy.test(inItsOrder.slice(0, 1), ["--no-run", "--check"], timeout);
    });
    tried++;
    if (isAlive) survivors.push(await describe(mutant));
    if (isAlive) console.log(`survived: ${survivors.at(-1)}`);
    if (tried % 25 === 0) console.log(`${tried} tried, ${survivors.length} survived`);
  }
}));

const score = 100 * (mutants.length - survivors.length) / mutants.length;
console.log(`\n${survivors.length} survivors\n\n${survivors.sort().join("\n")}\n`);
console.log(`Score: ${score.toFixed(1)} % of ${mutants.length} changes were noticed (seed ${options.seed})`);
process.exitCode = survivors.length > 0 ? 1 : 0;
