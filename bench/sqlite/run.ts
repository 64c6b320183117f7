/**
 * Compares the queue in a file with the queue on Redis and with other queues in files. Writes `bench/SQLITE.md`:
 *
 *     deno task bench:sqlite [--rounds 7] [--quick]
 *
 * `--quick` runs a small part of each measurement as a test of the benchmark itself, and writes nothing.
 *
 * @module
 */

import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { BENCH, machine, output } from "../machine.ts";
import { SERVER, Server } from "../redis/server.ts";
import { type Agent, findRuntimes, type Runtime } from "../remote/agents.ts";
import { RowFigures } from "../rows/row_figures.ts";
import type { Result } from "../rows/tables.ts";
import { inTurns } from "../rows/turns.ts";
import { MIN_ROUNDS } from "../rows/verdict.ts";
import { medianOf } from "../statistics.ts";
import type { FileCalls } from "./agent.ts";
import { NODE, ONE_COMMIT_EACH, PACKAGES, REDIS } from "./names.ts";
import { probes } from "./probes.ts";
import { report } from "./report.ts";
import { buildSlowSync, SYNC_DELAY } from "./slow_sync.ts";
import { measureSync } from "./sync.ts";
import { type FileWork, runtimesOf, worksOn } from "./works.ts";

/** Part of the items that a process processes before it is measured, so that code is compiled. */
const WARM_UP = 1;
/** Part of the items that `--quick` measures. */
const QUICK = 0.1;
/** Number of runs in a round, of which the median counts, because the time of a sync varies. */
const RUNS = 3;
const SYNCS = 500;

function readArguments(): { rounds: number; isQuick: boolean } {
  const { values } = parseArgs({
    options: { rounds: { type: "string", default: String(MIN_ROUNDS) }, quick: { type: "boolean", default: false } },
  });
  const rounds = Number(values.rounds);
  if (!Number.isSafeInteger(rounds) || rounds < 1) {
    console.error(`--rounds must be a positive integer, got ${values.rounds}`);
    Deno.exit(2);
  }
  return { rounds: values.quick ? 1 : rounds, isQuick: values.quick };
}

const start = performance.now();
const { rounds, isQuick } = readArguments();
const loadBefore = loadavg()[0]!;
const loads: number[] = [];
const node = (await output("npx", ["-y", NODE, "-p", "process.execPath"], BENCH))!;
const runtimes = await findRuntimes<FileCalls>({
  url: new URL("agent.ts", import.meta.url),
  node,
  packages: PACKAGES,
});
const folder = await Deno.makeTempDir({ prefix: "workqueue_" });
const leftOut: string[] = [];
await using server = SERVER === undefined ? undefined : await Server.start();
if (server === undefined) leftOut.push("There is no redis-server or valkey-server: Redis is left out");
const slowSync = await buildSlowSync(folder);
if (slowSync === undefined) leftOut.push("There is no `cc`, or this is not Linux: the slow disk is left out");
for (const line of leftOut) console.log(line);

const sync = measureSync(`${folder}/sync`, SYNCS);
const works = worksOn(sync.median);
const results = new Map<string, Result>(
  Object.entries({ ...works, ...probes }).map(([name, row]) => [name, { row, figures: new RowFigures() }]),
);

let files = 0;

/** Runs a function with the path for a new file. Removes the file afterwards. */
async function withFile<R>(run: (path: string) => Promise<R>): Promise<R> {
  const path = `${folder}/${files++}.db`;
  try {
    return await run(path);
  } finally {
    for (const suffix of ["", "-wal", "-shm", "-wake"]) await Deno.remove(path + suffix).catch(() => {});
  }
}

/** Processes on one runtime, each for one contender. */
class Agents implements AsyncDisposable {
  readonly #runtime: Runtime<FileCalls>;
  readonly #agents = new Map<string, Agent<FileCalls>>();

  constructor(runtime: Runtime<FileCalls>) {
    this.#runtime = runtime;
  }

  of(contender: string, isSlow: boolean): Agent<FileCalls> {
    const key = `${contender}\n${isSlow}`;
    let agent = this.#agents.get(key);
    if (agent === undefined) this.#agents.set(key, agent = this.#runtime.start(isSlow ? slowSync : {}));
    return agent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents.values()) await agent[Symbol.asyncDispose]();
  }
}

/** Measures a workload with one contender. Returns the microseconds per item. */
async function measure(agents: Agents, name: string, contender: string, part: number): Promise<number> {
  const { isSlow, durability, itemsOf, items, concurrency } = works[name]!;
  const count = Math.max(Math.ceil((itemsOf[contender] ?? items) * part), concurrency);
  await server?.empty();
  const time = await withFile((path) =>
    agents.of(contender, isSlow).call("measure", {
      ...{ contender, work: name, queue: name, payload: 0, durability },
      place: contender === REDIS ? server!.url : path,
      items: count,
    })
  );
  if (isSlow && contender === ONE_COMMIT_EACH && time < SYNC_DELAY * 1000) throw new Error("No sync was delayed");
  return time;
}

/** Returns the contenders of a workload that can be measured. */
function contendersOf({ contenders, isSlow }: FileWork, { id }: Runtime<FileCalls>): string[] {
  if (isSlow && slowSync === undefined) return [];
  return contenders.filter((contender) =>
    runtimesOf(contender).includes(id) && (contender !== REDIS || server !== undefined)
  );
}

/** Measures every workload on one runtime. The contenders of a workload take turns. */
async function compare(runtime: Runtime<FileCalls>, round: number): Promise<void> {
  await using agents = new Agents(runtime);
  for (const [part, runs] of [[WARM_UP, 1], [1, isQuick ? 1 : RUNS]] as const) {
    for (const [name, work] of Object.entries(works)) {
      const contenders = contendersOf(work, runtime);
      const times = new Map<string, number[]>(contenders.map((contender) => [contender, []]));
      for (let run = 0; run < runs; run++) {
        for (const contender of inTurns(contenders, round * runs + run)) {
          times.get(contender)!.push(await measure(agents, name, contender, isQuick ? part * QUICK : part));
        }
      }
      if (part < 1) continue;
      for (const [contender, all] of times) results.get(name)!.figures.add(contender, runtime.id, medianOf(all));
    }
  }
}

for (let round = 0; round < rounds; round++) {
  for (const runtime of runtimes) {
    console.log(`round ${round + 1} of ${rounds}: ${runtime.name}`);
    await compare(runtime, round);
    for (const [name, probe] of Object.entries(probes)) {
      if (round >= probe.rounds!) continue;
      const found = await withFile((path) => probe.measure(runtime, path, isQuick));
      for (const [figure, value] of Object.entries(found)) results.get(name)!.figures.add(figure, runtime.id, value);
    }
    loads.push(loadavg()[0]!);
  }
}
const page = report([...results.values()], {
  machine: machine(),
  versions: [...server === undefined ? [] : [await server.version()], ...runtimes.map(({ version }) => version)],
  packages: PACKAGES.map((name) => {
    return `${name} ${JSON.parse(Deno.readTextFileSync(`${BENCH}node_modules/${name}/package.json`)).version}`;
  }),
  minutes: (performance.now() - start) / 60_000,
  load: { before: loadBefore, during: loads.reduce((sum, load) => sum + load) / loads.length },
  ...{ rounds, sync, leftOut },
});
await Deno.remove(folder, { recursive: true });
if (isQuick) console.log(page);
else {
  await Deno.writeTextFile(`${BENCH}SQLITE.md`, page);
  console.log("written: bench/SQLITE.md");
}
