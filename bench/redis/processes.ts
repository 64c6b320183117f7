/** Throughput of several worker processes, and the load on the server. */

import { medianOf } from "../statistics.ts";
import { BENCH, output } from "../machine.ts";
import type { Agent, Runtime } from "../remote/agents.ts";
import type { RedisCalls } from "./agent.ts";
import { OURS } from "./names.ts";
import type { Server } from "./server.ts";

/** Numbers of worker processes. */
export const PROCESSES = [1, 2, 4];
/** Numbers of items that each process handles at once. */
export const CONCURRENCIES = [10, 50];

const ITEMS = 200_000;

/** Row of the throughput table. */
export interface Throughput {
  readonly runtime: string;
  readonly processes: number;
  readonly concurrency: number;
  /** Items per second. */
  readonly rate: number;
  /** CPU use of the server, as a fraction of one core. */
  readonly serverShare: number;
  /** Average number of items that one script call finishes and takes. */
  readonly perCall: number;
  /** Time that the server spends in scripts per item, in microseconds. */
  readonly scriptTime: number;
}

/** Measures `processes` worker processes for `window` milliseconds, on a queue that never runs empty. */
export async function measureThroughput(
  server: Server,
  runtime: Runtime<RedisCalls>,
  processes: number,
  concurrency: number,
  window: number,
): Promise<Throughput> {
  await server.empty();
  const agents: Agent<RedisCalls>[] = Array.from({ length: processes }, () => runtime.start());
  const queue = { contender: OURS, place: server.url, queue: "throughput", payload: 0 };
  await Promise.all(agents.map((agent) => agent.call("open", queue)));
  await agents[0]!.call("fill", { items: ITEMS });
  await Promise.all(agents.map((agent) => agent.call("work", { concurrency })));
  await sleep(window / 2); // waits until the compilers have optimized the code
  await server.resetCounts();
  const cpu = await server.cpu();
  const start = await counts(agents);
  await sleep(window);
  const end = await counts(agents);
  const used = await server.cpu() - cpu;
  const { calls, total } = await server.scripts();
  for (const agent of agents) await agent[Symbol.asyncDispose]();
  if (end.count >= ITEMS) throw new Error(`${ITEMS} items are too few for ${processes} processes`);
  const done = end.count - start.count;
  const seconds = (end.at - start.at) / 1000;
  return {
    ...{ runtime: runtime.name, processes, concurrency },
    rate: done / seconds,
    serverShare: used / seconds,
    perCall: done / calls,
    scriptTime: total / done,
  };
}

/**
 * Returns the number of handlers that have begun in all processes, and the median of the times at which the processes
 * answered.
 */
async function counts(agents: readonly Agent<RedisCalls>[]): Promise<{ count: number; at: number }> {
  const each = await Promise.all(agents.map((agent) => agent.call("count")));
  return { count: each.reduce((sum, { count }) => sum + count, 0), at: medianOf(each.map(({ at }) => at)) };
}

/** Returns the median of each column. */
export function medianOfRows(rows: readonly Throughput[]): Throughput {
  const of = (field: "rate" | "serverShare" | "perCall" | "scriptTime") => medianOf(rows.map((row) => row[field]));
  return {
    ...rows[0]!,
    rate: of("rate"),
    serverShare: of("serverShare"),
    perCall: of("perCall"),
    scriptTime: of("scriptTime"),
  };
}

/** Returns the number of calls per second to an empty script, measured by the server's own benchmark. */
export async function measureEmptyScript(server: Server, connections: number, pipeline: number): Promise<number> {
  const sha1 = String(await server.call("SCRIPT", "LOAD", "return 0"));
  const calls = connections === 1 ? "20000" : "200000";
  const options = ["-p", `${server.port}`, "-n", calls, "-c", `${connections}`, "-P", `${pipeline}`, "--csv"];
  const text = await output("redis-benchmark", [...options, "EVALSHA", sha1, "0"], BENCH);
  return Number(/^"EVALSHA[^"]*","([\d.]+)"/m.exec(text ?? "")?.[1]);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
