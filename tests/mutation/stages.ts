/** The order in which test files are tried on a change. */

/** A test file, and how long it takes by itself, starting Deno included. */
export interface MeasuredTest {
  readonly file: string;
  readonly ms: number;
}

/** Test files that run in one process. */
export interface Stage {
  readonly files: readonly string[];
  /** Limit for a change that makes them slow, or endless. */
  readonly timeoutMs: number;
}

/** Suites that many modules go through. */
const BROAD = /^tests\/(contracts|model|conformance)\/|fuzz_test/;
const PROCESS = /\/process\//;

/** A stage is full when its files took this long together. The last one takes what is left. */
const STAGES_MS = [5_000, 20_000, 60_000];

/**
 * Puts tests in order: those named after the module that is changed, then the quickest, then the broad suites, and last
 * those that start processes.
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
