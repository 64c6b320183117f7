/**
 * Runs the tests. `deno task test` runs the default parts. `deno task test [FILE or OPTION…]` passes its arguments to
 * `deno test`. `deno task ok` runs everything, and `deno task times` also writes `tests/TIMES.md`.
 */

import { installPackages } from "./packages_from_npm.ts";
import { allParts, defaultParts, type Part } from "./parts.ts";
import { countsIn, killParts, type Result, runPart } from "./run_part.ts";
import { isJsrReachable, testArguments } from "./std/arguments.ts";
import { timesPage } from "./times.ts";

const ROOT = new URL("..", import.meta.url);

/** Number of parts that run at a time. With more of them, everything takes longer: processes compete for the caches. */
const LANES = navigator.hardwareConcurrency;

/**
 * Runs parts, several at a time: half of the lanes begin with the parts that wait, and the others with those that
 * compute, so that no core is idle. Shows the output of the first part as it comes, and that of others if they fail.
 */
async function runAll(parts: readonly Part[]): Promise<Result[]> {
  const packed = Deno.makeTempDirSync({ prefix: "workqueue_" });
  globalThis.addEventListener("unload", () => Deno.removeSync(packed, { recursive: true })); // also after a signal
  const results: Result[] = [];
  const numbered = [...parts.entries()];
  const waiting = numbered.filter(([, { waits }]) => waits);
  const computing = numbered.filter(([, { waits }]) => !waits);
  const runLane = async (first: typeof numbered, then: typeof numbered) => {
    for (let next; (next = first.shift() ?? then.shift()) !== undefined;) {
      const [i, part] = next;
      const result = results[i] = await runPart(part, packed, i === 0);
      if (i === 0) continue;
      console.log(`\n${part.name}: ${result.success ? "ok" : "FAILED"} (${result.seconds.toFixed(0)} s)`);
      console.log(result.success ? linesAboutLeftOut(result.output) : result.output);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => {
    return lane % 2 === 0 ? runLane(waiting, computing) : runLane(computing, waiting);
  }));
  return results;
}

/** Returns the lines that say which tests were left out because a program is missing. */
function linesAboutLeftOut(output: string): string {
  return [...new Set(output.split("\n").filter((line) => line.includes("leaving out")))].join("\n");
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
    console.log(`${part.name.padEnd(22)} ${[...said, ...verdict].join(", ")} (${seconds.toFixed(0)} s)`);
  }
  console.log(`${passed} passed, ${failed} failed`);
}

/** Returns the tracked files that differ from the last commit, one per line; an empty text outside a checkout. */
async function changedFiles(): Promise<string> {
  const git = new Deno.Command("git", { args: ["status", "--porcelain"], cwd: ROOT, stdin: "null" });
  const { stdout } = await git.output().catch(() => ({ stdout: new Uint8Array() })); // git may not be installed
  return new TextDecoder().decode(stdout);
}

console.log(
  isJsrReachable ? "JSR answers: using the @std packages." : "JSR does not answer: using the stand-ins in tests/std/.",
);
const isWritingTimes = Deno.args[0] === "--times";
const isAll = isWritingTimes || Deno.args[0] === "--all";
if (isAll && Deno.args.length > 1) {
  console.error("deno task ok runs everything and takes no arguments: run deno task test FILE");
  Deno.exit(2);
}
const signals = { SIGINT: 130, ...Deno.build.os !== "windows" && { SIGTERM: 143 } }; // Windows has no SIGTERM
if (Deno.args.length > 0 && !isAll) {
  const args = ["test", "-A", "--doc", ...testArguments, ...Deno.args];
  const child = new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).spawn();
  for (const signal of Object.keys(signals) as Deno.Signal[]) Deno.addSignalListener(signal, () => child.kill(signal));
  const { code } = await child.status;
  Deno.exit(code);
}
for (const [signal, code] of Object.entries(signals)) {
  Deno.addSignalListener(signal as Deno.Signal, () => {
    killParts();
    Deno.exit(code);
  });
}
console.log(
  isAll ? "Running everything: about a quarter of an hour." : "Running the default tests: about two minutes.",
);
const begin = performance.now();
const before = await changedFiles();
if (isAll) await installPackages(); // two parts need them, and can't install them at the same time
const results = await runAll(isAll ? allParts : defaultParts);
report(results);
if (isWritingTimes) {
  const page = timesPage(results, (performance.now() - begin) / 1000);
  Deno.writeTextFileSync(new URL("tests/TIMES.md", ROOT), page);
}
const after = await changedFiles();
const isClean = isWritingTimes || after === before;
if (!isClean) console.error(`\nFiles of the repository have changed during the run. git status says now:\n${after}`);
Deno.exit(results.every(({ success }) => success) && (isClean || !Deno.env.has("CI")) ? 0 : 1);
