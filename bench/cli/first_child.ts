/** Time from the start of `workqueue` until its first child runs. */

import { installed, type Runtime } from "../../release/installed.ts";
import { medianOf } from "../figures.ts";
import { BENCH, output } from "../machine.ts";

/** Results on one runtime, in milliseconds. */
export interface FirstChild {
  readonly runtime: Runtime;
  readonly median: number;
  readonly least: number;
  /** Median time from the start to the end of an empty program. */
  readonly empty: number;
}

/** Measures each runtime `times` times, alternating between the runtimes. */
export async function measureFirstChild(runtimes: readonly Runtime[], times: number): Promise<FirstChild[]> {
  const empty = await Deno.makeTempFile({ prefix: "workqueue_bench_", suffix: ".mjs" });
  try {
    const found = runtimes.map((runtime) => ({ runtime, first: [] as number[], empty: [] as number[] }));
    for (let i = 0; i < times; i++) {
      for (const { runtime, ...figures } of found) {
        figures.first.push(await untilFirstChild(await installed(runtime)));
        figures.empty.push(await untilEnd(await emptyProgram(runtime, empty)));
      }
    }
    return found.map(({ runtime, first, empty }) => ({
      runtime,
      median: medianOf(first),
      least: Math.min(...first),
      empty: medianOf(empty),
    }));
  } finally {
    await Deno.remove(empty);
  }
}

/**
 * Returns the milliseconds until the first child runs. The child prints the time; both processes read the same clock.
 */
async function untilFirstChild(command: readonly string[]): Promise<number> {
  const [program, ...args] = [...command, "run", "--", "date", "{}"];
  const child = new Deno.Command(program!, { args, stdin: "piped", stdout: "piped", stderr: "piped" });
  const start = performance.timeOrigin + performance.now();
  const running = child.spawn();
  const writer = running.stdin.getWriter();
  await writer.write(new TextEncoder().encode("+%s%N\n")); // nanoseconds since 1970
  await writer.close();
  const { stdout, stderr } = await running.output();
  const [text, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!/^\d{19}\n$/.test(text!)) throw new Error(`date printed ${JSON.stringify(text)}\n${errors}`);
  return Number(text) / 1e6 - start;
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
