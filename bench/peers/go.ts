/** The Go benchmarks in `client-go/`. */

import { fileURLToPath } from "node:url";
import { BENCH, output } from "../machine.ts";
import type { Procs } from "../rows/row.ts";

const FOLDER = fileURLToPath(new URL("../client-go/", import.meta.url));
const MODULES = ["k8s.io/client-go", "sigs.k8s.io/controller-runtime"];

const BINARY = `${BENCH}node_modules/.go-bench`;

/** The compiled Go benchmarks. */
export interface Go {
  readonly versions: readonly string[];
  /** Returns the nanoseconds per item. `benchmark` is a name without `Benchmark`, such as `Ready/1000`. */
  measure(benchmark: string, procs: Procs): Promise<number>;
}

/** Compiles the benchmarks; returns `undefined` if Go is not installed. */
export async function findGo(): Promise<Go | undefined> {
  const version = await output("go", ["version"], FOLDER);
  if (version === undefined) return undefined;
  await output("go", ["test", "-c", "-o", BINARY, "."], FOLDER);
  const modules = (await output("go", ["list", "-m", ...MODULES], FOLDER))!.split("\n");
  return {
    versions: modules.map((module) => `${module} (${version.split(" ")[2]})`),
    async measure(benchmark, procs) {
      const pattern = `Benchmark${benchmark}`.split("/").map((part) => `^${part}$`).join("/");
      const args = ["-test.run=^$", `-test.bench=${pattern}`, "-test.benchtime=300ms", `-test.cpu=${procs}`];
      const text = (await output(BINARY, args, FOLDER))!;
      const found = /([\d.]+) ns\/item/.exec(text);
      if (found === null) throw new Error(`Cannot read the output of the Go benchmark ${benchmark}:\n${text}`);
      return Number(found[1]);
    },
  };
}
