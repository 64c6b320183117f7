/**
 * Runs the tests. `deno task test` runs the default parts. `deno task test [FILE or OPTION…]` passes its arguments to
 * `deno test`. `deno task ok` runs everything.
 */

import { stdout } from "node:process";
import { installPackages } from "./packages_from_npm.ts";
import { allParts, defaultParts, type Part } from "./parts.ts";
import { isJsrReachable, testArguments } from "./std/arguments.ts";

const ROOT = new URL("..", import.meta.url);

interface Result {
  readonly part: Part;
  readonly success: boolean;
  readonly output: string;
  readonly seconds: number;
}

const running = new Set<Deno.ChildProcess>();

/** Runs one part to its end. */
async function run(part: Part, isShown: boolean): Promise<Result> {
  const begin = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [...part.args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  running.add(child);
  let output = "";
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      if (isShown) stdout.write(text);
    }
  };
  const [{ success }] = await Promise.all([child.status, read(child.stdout), read(child.stderr)]);
  running.delete(child);
  const seconds = (performance.now() - begin) / 1000;
  if (!isShown) {
    console.log(`\n${part.name}: ${success ? "ok" : "FAILED"} (${seconds.toFixed(0)} s)`);
    console.log(success ? linesAboutLeftOut(output) : output);
  }
  return { part, success, output, seconds };
}

/** Returns the lines that say which tests were left out because a program is missing. */
function linesAboutLeftOut(output: string): string {
  return [...new Set(output.split("\n").filter((line) => line.includes("leaving out")))].join("\n");
}

/** Runs parts in `lanes` concurrent lanes. Shows the output of the first part as it runs. */
async function runAll(parts: readonly Part[], lanes: number): Promise<Result[]> {
  const results: Result[] = [];
  const left = parts.entries(); // one iterator for all lanes, so each part runs once
  await Promise.all(Array.from({ length: lanes }, async () => {
    for (const [i, part] of left) results[i] = await run(part, i === 0);
  }));
  return results;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly leftOut: number;
}

/**
 * Returns the counts in the summary that a test run printed. For example, Deno prints `ok | 12 passed | 0 failed | 1
 * ignored (2s)`, Bun prints ` 12 pass`, ` 1 skip` and ` 0 fail`, and Node prints `ℹ pass 12`.
 */
function countsIn(output: string): Counts | undefined {
  const last = (pattern: RegExp) => Number([...output.matchAll(pattern)].at(-1)?.[1] ?? 0);
  const deno = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed(?: \| (\d+) ignored)?/gm;
  const [, passed, failed, ignored = 0] = [...output.matchAll(deno)].at(-1) ?? [];
  if (passed !== undefined) return { passed: Number(passed), failed: Number(failed), leftOut: Number(ignored) };
  if (/^ℹ pass \d+$/m.test(output)) {
    return { passed: last(/^ℹ pass (\d+)$/gm), failed: last(/^ℹ fail (\d+)$/gm), leftOut: last(/^ℹ skipped (\d+)$/gm) };
  }
  if (!/^ *\d+ pass$/m.test(output)) return undefined;
  return { passed: last(/^ *(\d+) pass$/gm), failed: last(/^ *(\d+) fail$/gm), leftOut: last(/^ *(\d+) skip$/gm) };
}

/**
 * Prints all failures again, and then the counts of each part. Failures are repeated because people read only the end
 * of long output.
 */
function report(results: readonly Result[]): void {
  for (const { part, output } of results.filter(({ success }) => !success)) {
    const errors = output.split("\n ERRORS ").at(-1)!;
    console.log(`\n${part.name} FAILED\n${errors.split("\n").slice(-200).join("\n")}`);
  }
  console.log();
  let [passed, failed] = [0, 0];
  for (const { part, success, output, seconds } of results) {
    const counts = countsIn(output);
    const hasStopped = !success && !(counts !== undefined && counts.failed > 0); // no test has failed
    passed += counts?.passed ?? 0;
    failed += (counts?.failed ?? 0) + (hasStopped ? 1 : 0);
    const said = counts === undefined ? [] : [
      `${counts.passed} passed`,
      `${counts.failed} failed`,
      ...(counts.leftOut > 0 ? [`${counts.leftOut} left out`] : []),
    ];
    const verdict = hasStopped ? ["FAILED"] : counts === undefined ? ["ok"] : [];
    console.log(`${part.name.padEnd(20)} ${[...said, ...verdict].join(", ")} (${seconds.toFixed(0)} s)`);
  }
  console.log(`${passed} passed, ${failed} failed`);
}

console.log(
  isJsrReachable ? "JSR answers: using the @std packages." : "JSR does not answer: using the stand-ins in tests/std/.",
);
if (Deno.args[0] === "--all" && Deno.args.length > 1) {
  console.error("deno task ok runs everything and takes no arguments: run deno task test FILE");
  Deno.exit(2);
}
if (Deno.args.length > 0 && Deno.args[0] !== "--all") {
  const args = ["test", "-A", "--doc", ...testArguments, ...Deno.args];
  const { code } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).spawn().status;
  Deno.exit(code);
}
if (Deno.build.os !== "windows") { // Windows has no SIGTERM
  Deno.addSignalListener("SIGTERM", () => {
    for (const child of running) child.kill();
    Deno.exit(143);
  });
}
const isAll = Deno.args[0] === "--all";
console.log(isAll ? "Running everything: about 15 minutes." : "Running the default tests: a few minutes.");
if (isAll) await installPackages(); // two parts need them, and can't install them at the same time
// With `--all`, three parts run at a time, because most of their tests wait for processes and servers.
const results = await (isAll ? runAll(allParts, 3) : runAll(defaultParts, 2));
report(results);
Deno.exit(results.every(({ success }) => success) ? 0 : 1);
