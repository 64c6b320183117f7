/** Comparison of the working tree with an earlier commit. */

import { fileURLToPath } from "node:url";
import { output } from "../machine.ts";
import { table } from "../markdown.ts";
import { medianInterval, type Summary } from "../statistics.ts";
import { againstWorks } from "./against_works.ts";
import { runScript, type Runtime } from "./runtimes.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Default number of runs of each version, and the smallest: enough for the interval that shows a difference. */
export const MIN_RUNS = 14;

/** Loss that must show, as a fraction. */
const LOSS = 0.05;

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
  const names = Object.keys(againstWorks).filter((work) => only === undefined || work.includes(only));
  const comparisons = names.flatMap((work) => runtimes.map((runtime): Comparison => ({ work, runtime, ratios: [] })));
  const then = await Deno.makeTempDir({ prefix: "against-" });
  try {
    await output("sh", ["-c", 'git archive "$0" | tar -x -C "$1"', await hashOf(commit), then], ROOT);
    await addRuns(comparisons, then, runs);
    // Among many comparisons, chance alone makes some look slower. Those get as many runs again.
    await addRuns(comparisons.filter(isSlower), then, runs);
  } finally {
    await Deno.remove(then, { recursive: true });
  }
  console.log(reportOn(comparisons, commit).join("\n"));
  return comparisons.some(isSlower) ? 1 : 0;
}

async function hashOf(commit: string): Promise<string> {
  return (await output("git", ["rev-parse", "--verify", `${commit}^{commit}`], ROOT))!;
}

async function addRuns(comparisons: readonly Comparison[], then: string, runs: number): Promise<void> {
  for (let run = 0; run < runs && comparisons.length > 0; run++) {
    console.log(`run ${run + 1} of ${runs}`);
    for (const { work, runtime, ratios } of comparisons) {
      const measure = async (folder: string) => Number(await runScript(runtime, "against_child.ts", folder, work));
      // The order alternates from run to run.
      const first = await measure(run % 2 === 0 ? then : ROOT);
      const second = await measure(run % 2 === 0 ? ROOT : then);
      ratios.push(run % 2 === 0 ? second / first : first / second);
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
    `The ratio is the time of the working tree, divided by the time of ${commit} in the same run: the median of the runs.`,
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
