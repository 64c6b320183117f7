/** Time from the start of `workqueue` until its first child runs, and until a run of one item ends. */

import { installed, type Runtime } from "../../release/installed.ts";
import { medianOf } from "../statistics.ts";
import { BENCH, output } from "../machine.ts";

/** Results on one runtime, in milliseconds. */
export interface FirstChild {
  readonly runtime: Runtime;
  readonly median: number;
  readonly least: number;
  /** Median time from the start to the end of a run of one item. */
  readonly oneItem: number;
  /** Median time from the start to the end of an empty program. */
  readonly empty: number;
}

/** Measures each runtime `times` times, alternating between the runtimes. */
export async function measureFirstChild(runtimes: readonly Runtime[], times: number): Promise<FirstChild[]> {
  const empty = await Deno.makeTempFile({ prefix: "workqueue_bench_", suffix: ".mjs" });
  try {
    const found = runtimes.map((runtime) => ({
      runtime,
      first: [] as number[],
      oneItem: [] as number[],
      empty: [] as number[],
    }));
    for (let i = 0; i < times; i++) {
      for (const { runtime, ...figures } of found) {
        const { first, end } = await runOneItem(await installed(runtime));
        figures.first.push(first);
        figures.oneItem.push(end);
        figures.empty.push(await untilEnd(await emptyProgram(runtime, empty)));
      }
    }
    return found.map(({ runtime, first, oneItem, empty }) => ({
      runtime,
      median: medianOf(first),
      least: Math.min(...first),
      oneItem: medianOf(oneItem),
      empty: medianOf(empty),
    }));
  } finally {
    await Deno.remove(empty);
  }
}

/**
 * Returns the milliseconds until the first child runs, and until the run of this one item ends. The child prints the
 * time; both processes read the same clock.
 */
async function runOneItem(command: readonly string[]): Promise<{ first: number; end: number }> {
  const [program, ...args] = [...command, "run", "--", "date", "{}"];
  const child = new Deno.Command(program!, { args, stdin: "piped", stdout: "piped", stderr: "piped" });
  const start = performance.timeOrigin + performance.now();
  const running = child.spawn();
  const writer = running.stdin.getWriter();
  await writer.write(new TextEncoder().encode("+%s%N\n")); // nanoseconds since 1970
  await writer.close();
  const { stdout, stderr } = await running.output();
  const end = performance.timeOrigin + performance.now() - start;
  const [text, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!/^\d{19}\n$/.test(text!)) throw new Error(`date printed ${JSON.stringify(text)}\n${errors}`);
  return { first: Number(text) / 1e6 - start, end };
}

async function untilEnd([program, ...args]: readonly string[]): Promise<number> {
  const start = performance.now();
  await output(program!, args, BENCH);
  return performance.now() - start;
}

async function emptyProgram(runtime: Runtime, file: string): Promise<string[]> {
  switch (runtime) {
    case "Deno":
      return [Deno.execPath(), "run", "-A", "--no-config", file];
    case "Bun":
      return [(await installed("Bun"))[0]!, file];
    case "Node":
      return ["node", file];
  }
}
