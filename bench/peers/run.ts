/**
 * Compares the queue with its peers and writes `bench/RESULTS.md` and `bench/growth.svg`:
 *
 *     deno task bench:peers [--rounds 5] [--only workers]
 *
 * Each measurement runs in a process of its own. A round measures every contender once. The contenders of one workload
 * run right after each other, so other load on the machine affects all of them.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { BENCH, CONFIG, findBun, machine, output } from "../machine.ts";
import type { Facts, LatencyFacts, LatenessFacts, MemoryFacts } from "./facts.ts";
import { type Figure, Figures } from "../figures.ts";
import { plotGrowth } from "./plot.ts";
import { report } from "./report.ts";
import { gzippedSize } from "./size.ts";
import { CLIENT_GO, type Work } from "./work.ts";
import { works } from "./works.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const GO_BENCH = fileURLToPath(new URL("../client-go/", import.meta.url));

/** JavaScript runtime, and a function that starts a script on it. */
interface Runtime {
  readonly name: string;
  readonly version: string;
  start(script: string, ...args: string[]): Promise<string>;
}

async function findRuntimes(): Promise<Runtime[]> {
  const start = (command: string, options: readonly string[]) => async (script: string, ...args: string[]) =>
    (await output(command, [...options, `${HERE}${script}`, ...args], BENCH))!;
  const bun = await findBun();
  return [
    {
      name: "deno",
      version: `Deno ${Deno.version.deno} (V8 ${Deno.version.v8})`,
      start: start(Deno.execPath(), ["run", "--config", CONFIG, "-A", "--no-check", "--v8-flags=--expose-gc"]),
    },
    { name: "bun", version: `Bun ${await output(bun, ["--version"], BENCH)}`, start: start(bun, []) },
  ];
}

/** Compiles the benchmark of client-go; returns `undefined` if Go is not installed. */
async function findGo(): Promise<{ version: string; start(work: Work, procs: number): Promise<number> } | undefined> {
  const version = await output("go", ["version"], GO_BENCH);
  if (version === undefined) return undefined;
  const binary = await Deno.makeTempFile({ prefix: "client-go-bench-" });
  await output("go", ["test", "-c", "-o", binary, "."], GO_BENCH);
  const clientGo = await output("go", ["list", "-m", "k8s.io/client-go"], GO_BENCH);
  return {
    version: `${clientGo} (${version.split(" ")[2]})`,
    async start({ go, items }, procs) {
      const name = go === "Ready" ? `^Benchmark${go}$/^${items}$` : `^Benchmark${go}$`;
      const args = ["-test.run=^$", `-test.bench=${name}`, "-test.benchtime=400ms", `-test.cpu=${procs}`];
      const text = (await output(binary, args, GO_BENCH))!;
      const found = /([\d.]+) ns\/item/.exec(text);
      if (found === null) throw new Error(`Cannot read what the benchmark ${name} printed:\n${text}`);
      return Number(found[1]);
    },
  };
}

function readArguments(): { rounds: number; only: string | undefined } {
  const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" }, only: { type: "string" } } });
  const rounds = Number(values.rounds);
  if (!Number.isSafeInteger(rounds) || rounds < 1) {
    console.error(`--rounds must be a positive integer, got ${values.rounds}`);
    Deno.exit(2);
  }
  if (values.only !== undefined && !Object.hasOwn(works, values.only)) {
    console.error(`--only must be one of ${Object.keys(works).join(", ")}, got ${values.only}`);
    Deno.exit(2);
  }
  return { rounds, only: values.only };
}

const { rounds, only } = readArguments();
const runtimes = await findRuntimes();
const go = await findGo();
if (go === undefined) console.log("Go is not here: client-go is left out.");

const figures = new Figures();
const note = (figure: Figure, nanoseconds: number) => {
  figures.add(figure, nanoseconds);
  const { per = "an item" } = works[figure.work]!;
  console.log(`  ${figure.contender} (${figure.runtime}): ${nanoseconds.toFixed(1)} ns ${per}`);
};
for (let round = 1; round <= rounds; round++) {
  for (const [name, work] of Object.entries(works)) {
    if (only !== undefined && name !== only) continue;
    console.log(`round ${round} of ${rounds}: ${work.title}`);
    for (const contender of Object.keys(work.contenders)) {
      for (const { name: runtime, start } of runtimes) {
        note({ work: name, contender, runtime }, Number(await start("measure.ts", name, contender)));
      }
    }
    if (work.go === undefined || go === undefined) continue;
    for (const procs of [1, 2]) {
      note({ work: name, contender: CLIENT_GO, runtime: String(procs) }, await go.start(work, procs));
    }
  }
}

if (only === undefined) {
  console.log("memory, lateness and size");
  const each = async <F>(script: string) =>
    Object.fromEntries(
      await Array.fromAsync(runtimes, async ({ name, start }) => [name, JSON.parse(await start(script)) as F]),
    ) as Record<string, F>;
  const facts: Facts = {
    machine: machine(),
    versions: [...runtimes.map(({ version }) => version), go?.version ?? "client-go: left out, as Go is not here"],
    rounds,
    memory: await each<MemoryFacts>("memory.ts"),
    lateness: await each<LatenessFacts>("precision.ts"),
    latency: await each<LatencyFacts>("latency.ts"),
    size: {
      everything: await gzippedSize("*"),
      workQueue: await gzippedSize("{ createWorkQueue }"),
      controller: await gzippedSize("{ createDefaultControllerLimiter, createRateLimitingQueue, runWorkers }"),
    },
  };
  await Deno.writeTextFile(`${BENCH}growth.svg`, await plotGrowth(figures));
  await Deno.writeTextFile(`${BENCH}RESULTS.md`, await report(figures, facts));
  console.log("written: bench/RESULTS.md, bench/growth.svg");
}
