/** Order in which test files are run to test a change. */

/** Test file, and the time in milliseconds that it takes to run alone, including the start of Deno. */
export interface MeasuredTest {
  readonly file: string;
  readonly ms: number;
}

/** Test files that run in one process. */
export interface Stage {
  readonly files: readonly string[];
  /** Time limit in milliseconds, in case the change makes the tests slow or endless. */
  readonly timeoutMs: number;
}

/** Suites that use many modules. */
const BROAD = /^tests\/(contracts|model|conformance)\/|fuzz_test/;
const PROCESS = /\/process\//;

/** Maximum time of each stage, in milliseconds. The last stage takes the remaining files. */
const STAGES_MS = [5_000, 20_000, 60_000];

/**
 * Orders tests: first the tests named after the changed module, then the quickest, then the broad suites, and last the
 * tests that start processes.
 */
export function stagesFor(module: string, tests: readonly MeasuredTest[]): Stage[] {
  const name = module.split("/").at(-1)!.replace(".ts", "");
  const rank = ({ file }: MeasuredTest) =>
    file.endsWith(`/${name}_test.ts`) ? 0 : PROCESS.test(file) ? 3 : BROAD.test(file) ? 2 : 1;
  const left = [...tests].sort((a, b) => rank(a) - rank(b) || a.ms - b.ms);
  const stages: Stage[] = [];
  for (const limit of [...STAGES_MS, Infinity]) {
    const files: string[] = [];
    let total = 0;
    while (left.length > 0 && (files.length === 0 || total + left[0]!.ms <= limit)) {
      const { file, ms } = left.shift()!;
      files.push(file);
      total += ms;
    }
    if (files.length > 0) stages.push({ files, timeoutMs: 4 * total + 10_000 });
  }
  return stages;
}
