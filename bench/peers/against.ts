/** Comparison of the working tree with an earlier commit. */

import { build, stop } from "esbuild";
import { fileURLToPath } from "node:url";
import { output } from "../machine.ts";
import { table } from "../markdown.ts";
import { medianInterval, type Summary } from "../statistics.ts";
import { againstWorks } from "./against_works.ts";
import type { Runtime } from "./runtimes.ts";
import { ratioByTurns } from "./turns.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Default number of pairs of processes, and the smallest: enough for the interval that shows a difference. */
export const MIN_RUNS = 14;

/** Loss that must show, as a fraction. */
const LOSS = 0.05;

/** Folders with the compiled core. */
interface Trees {
  readonly then: string;
  readonly now: string;
}

/** Ratios of the times of the working tree to the times of the commit, on one runtime. */
interface Comparison {
  readonly work: string;
  readonly runtime: Runtime;
  readonly ratios: number[];
}

/**
 * Measures the working tree and the commit by turns, and prints a table. Returns the exit code: 1 if the working
 * tree is slower at any workload.
 */
export async function against(
  commit: string,
  runtimes: readonly Runtime[],
  runs: number,
  only?: string,
): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "against-" });
  const trees: Trees = { then: `${folder}/then`, now: `${folder}/now` };
  try {
    await output("sh", [
      "-c",
      'mkdir "$1" && git archive "$0" | tar -x -C "$1"',
      await hashOf(commit),
      `${folder}/commit`,
    ], ROOT);
    await compile(`${folder}/commit`, trees.then);
    await compile(ROOT, trees.now);
    const core = await import(`${trees.then}/mod.ts`);
    const comparisons: Comparison[] = [];
    for (const [work, run] of Object.entries(againstWorks)) {
      if (only !== undefined && !work.includes(only)) continue;
      if (await canRun(() => run(core))) {
        comparisons.push(...runtimes.map((runtime) => ({ work, runtime, ratios: [] })));
      } else console.log(`left out, because ${commit} can't do it: ${work}`);
    }
    await addRuns(comparisons, trees, runs);
    // Among many comparisons, chance alone makes some look slower. Those get as many runs again.
    await addRuns(comparisons.filter(isSlower), trees, runs);
    console.log(reportOn(comparisons, commit).join("\n"));
    return comparisons.some(isSlower) ? 1 : 0;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function canRun(run: () => unknown): Promise<boolean> {
  try {
    await run();
    return true;
  } catch {
    return false;
  }
}

/**
 * Compiles the core to JavaScript, file by file, because old sources have syntax that Node can't run. The compiled
 * files are named `.ts`, as in the imports. Later changes to the sources don't affect the comparison.
 */
async function compile(from: string, to: string): Promise<void> {
  const { metafile } = await build({
    ...{ absWorkingDir: from, entryPoints: ["mod.ts"], bundle: true, format: "esm", target: "esnext" },
    ...{ write: false, metafile: true, tsconfigRaw: {} },
  });
  await build({
    ...{ absWorkingDir: from, entryPoints: Object.keys(metafile.inputs), format: "esm", target: "esnext" },
    ...{ outbase: ".", outdir: to, outExtension: { ".js": ".ts" }, tsconfigRaw: {} },
  });
  await stop();
}

/** Returns the hash of a commit. Rejects if there is no such commit. */
export async function hashOf(commit: string): Promise<string> {
  return (await output("git", ["rev-parse", "--verify", `${commit}^{commit}`], ROOT))!;
}

async function addRuns(comparisons: readonly Comparison[], { then, now }: Trees, runs: number): Promise<void> {
  for (let run = 0; run < runs && comparisons.length > 0; run++) {
    console.log(`run ${run + 1} of ${runs}`);
    for (const { work, runtime, ratios } of comparisons) {
      ratios.push(await ratioByTurns(runtime, work, [then, now]));
    }
  }
}

function isSlower({ ratios }: Comparison): boolean {
  return medianInterval(ratios).low > 1;
}

function reportOn(comparisons: readonly Comparison[], commit: string): string[] {
  const rows = comparisons.map(({ work, runtime, ratios }) => {
    const interval = medianInterval(ratios);
    const { low, median, high } = interval;
    return [
      work,
      runtime.version.split(" ")[0]!,
      `${ratios.length}`,
      `${median.toFixed(3)} ×`,
      `${low.toFixed(3)} – ${high.toFixed(3)}`,
      `${(100 * resolutionOf(interval)).toFixed(1)} %`,
      verdictOn(interval),
    ];
  });
  return [
    `The ratio is the time of the working tree, divided by the time of ${commit}. In a run, both versions take turns of`,
    "some 20 ms in two processes. Its ratio is the median of the turns, and the ratio below is the median of the runs.",
    "The interval contains the true median with a probability of at least 98 % (sign test). The runs resolve differences",
    "that are larger than the distance from the median to the ends of the interval.",
    "",
    ...table(["work", "on", "runs", "now : then", "interval", "resolves", ""], rows),
  ];
}

/** Returns the smallest difference that the runs show for certain, as a fraction. */
function resolutionOf({ low, median, high }: Summary): number {
  return Math.max(median - low, high - median) / median;
}

function verdictOn(interval: Summary): string {
  if (interval.low > 1) return "✗ slower";
  if (interval.high < 1) return "✓ faster";
  return resolutionOf(interval) <= LOSS ? "no difference" : `too noisy to show ${100 * LOSS} %`;
}
