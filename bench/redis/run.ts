/**
 * Compares the queue on Redis with BullMQ. Measures the load that many processes and many keys put on the server.
 * Writes `bench/REDIS.md`:
 *
 *     deno task bench:redis [--rounds 5] [--quick]
 *
 * `--quick` runs a small part of each measurement as a test of the benchmark itself, and writes nothing.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { Figures } from "../figures.ts";
import { BENCH, machine } from "../machine.ts";
import { findRuntimes, type Runtime } from "../remote/agents.ts";
import type { RedisCalls } from "./agent.ts";
import { EMPTY_CALL, type Facts, figureName, PAYLOADS } from "./facts.ts";
import { measureMillion } from "./million.ts";
import { BULLMQ, OURS } from "./names.ts";
import { CONCURRENCIES, measureEmptyScript, measureThroughput, medianOfRows, PROCESSES } from "./processes.ts";
import { measureReaction } from "./reaction.ts";
import { report } from "./report.ts";
import { SERVER, Server } from "./server.ts";
import { orderedWorks, orders, peers, type RedisWork, works } from "./works.ts";

/** Runtimes on which several processes are measured. Measuring Node too would only take more time. */
const COUNTED = ["Deno", "Bun"];
const LOADS = [[1, 1], [50, 1], [50, 16]] as const;

function readArguments(): { rounds: number; isQuick: boolean } {
  const { values } = parseArgs({
    options: { rounds: { type: "string", default: "5" }, quick: { type: "boolean", default: false } },
  });
  const rounds = Number(values.rounds);
  if (!Number.isSafeInteger(rounds) || rounds < 1) {
    console.error(`--rounds must be a positive integer, got ${values.rounds}`);
    Deno.exit(2);
  }
  return { rounds: values.quick ? 1 : rounds, isQuick: values.quick };
}

if (SERVER === undefined) {
  console.error("There is no redis-server or valkey-server on the PATH.");
  Deno.exit(1);
}
const start = performance.now();
const { rounds, isQuick } = readArguments();
const runtimes = await findRuntimes<RedisCalls>({
  url: new URL("agent.ts", import.meta.url),
  node: "node",
  packages: ["bullmq", "ioredis", "@redis/client"],
});
await using server = await Server.start();
const figures = new Figures();

/** Measures workloads once on one runtime. The contenders of a workload run right after each other. */
async function compare(
  runtime: Runtime<RedisCalls>,
  round: number,
  contenders: readonly string[],
  works: Readonly<Record<string, RedisWork>>,
  payloads: readonly number[],
): Promise<void> {
  const agents = contenders.map((contender) => ({ contender, agent: runtime.start() }));
  for (const [isWarm, payload] of [[false, 0], ...payloads.map((payload) => [true, payload] as const)] as const) {
    for (const [name, work] of Object.entries(works)) {
      const queue = { work: name, place: server.url, queue: `${name}-${isWarm}-${payload}`, payload };
      const items = isQuick || !isWarm ? work.items / 5 : work.items;
      // The order alternates from round to round.
      for (const { contender, agent } of round % 2 === 0 ? agents : agents.toReversed()) {
        await server.empty();
        const time = await agent.call("measure", { contender, ...queue }, items);
        if (isWarm) figures.add({ work: figureName(name, payload), contender, runtime: runtime.name }, time);
      }
    }
  }
  const empty = await agents[0]!.agent.call("measureEmptyCall", { url: server.url, times: 3000 }); // in a warm process
  figures.add({ ...EMPTY_CALL, runtime: runtime.name }, empty);
  for (const { agent } of agents) await agent[Symbol.asyncDispose]();
}

const throughput = [];
for (let round = 1; round <= rounds; round++) {
  for (const runtime of runtimes) {
    console.log(`round ${round} of ${rounds}: ${runtime.name}`);
    await compare(runtime, round, peers, works, PAYLOADS);
    await compare(runtime, round, orders, orderedWorks, [0]);
  }
}
console.log("several processes");
for (const runtime of runtimes.filter(({ name }) => COUNTED.includes(name))) {
  for (const processes of PROCESSES) {
    for (const concurrency of CONCURRENCIES) {
      const rows = [];
      for (let round = 1; round <= Math.min(rounds, 3); round++) {
        rows.push(await measureThroughput(server, runtime, processes, concurrency, isQuick ? 200 : 600));
      }
      throughput.push(medianOfRows(rows));
    }
  }
}
const emptyScript = [];
for (const [connections, pipeline] of LOADS) {
  emptyScript.push({ connections, pipeline, rate: await measureEmptyScript(server, connections, pipeline) });
}
console.log("waking up");
const reactions = [];
for (const runtime of runtimes) {
  for (const contender of [OURS, BULLMQ]) {
    reactions.push(await measureReaction(server, runtime, contender, isQuick ? 30 : 300));
  }
}
console.log("a million keys");
const million = await measureMillion(server, isQuick ? 50_000 : 1_000_000);
const facts: Facts = {
  machine: machine(),
  versions: [await server.version(), ...runtimes.map(({ version }) => version), ...packageVersions()],
  runtimes: runtimes.map(({ name }) => name),
  ...{ rounds, throughput, emptyScript, reactions, million },
  minutes: (performance.now() - start) / 60_000,
};
const page = report(figures, facts);
if (isQuick) console.log(page);
else {
  await Deno.writeTextFile(`${BENCH}REDIS.md`, page);
  console.log("written: bench/REDIS.md");
}

function packageVersions(): string[] {
  return ["bullmq", "ioredis", "@redis/client"].map((name) => {
    const { version } = JSON.parse(Deno.readTextFileSync(`${BENCH}node_modules/${name}/package.json`));
    return `${name} ${version}`;
  });
}
