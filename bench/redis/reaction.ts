/**
 * Time until an idle worker process begins an item after another process has added the item or the item has become due.
 */

import type { Runtime } from "./agents.ts";
import type { Server } from "./server.ts";

/** Lateness in milliseconds. */
export interface Lateness {
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

export interface Reaction {
  readonly runtime: string;
  readonly contender: string;
  /** Time from the call to `add` until the handler begins. */
  readonly wakeUp: Lateness;
  /** Time from when an item is due until the handler begins. */
  readonly due: Lateness;
}

export async function measureReaction(
  server: Server,
  runtime: Runtime,
  contender: string,
  times: number,
): Promise<Reaction> {
  const measure = async (add: "poke" | "delay") => {
    await server.empty();
    await using producer = runtime.start();
    await using worker = runtime.start();
    const queue = { contender, url: server.url, queue: add, payload: 0 };
    await Promise.all([producer.call("open", queue), worker.call("open", queue)]);
    await worker.call("work", { concurrency: 10 });
    if (add === "poke") await producer.call("poke", { times, pause: 7 });
    else await producer.call("delay", { times, from: 500, spread: 7 * times });
    for (const end = performance.now() + 30_000; (await worker.call("count")).count < times;) {
      if (performance.now() > end) throw new Error(`${contender} loses items`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const all = await worker.call("stop");
    await Promise.all([producer.call("close"), worker.call("close")]);
    return latenessOf(all.slice(times / 10)); // skips the first tenth: code is still being compiled
  };
  return { runtime: runtime.name, contender, wakeUp: await measure("poke"), due: await measure("delay") };
}

function latenessOf(all: readonly number[]): Lateness {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(Math.floor(part * sorted.length), sorted.length - 1)]!;
  return { median: at(0.5), p99: at(0.99), worst: at(1) };
}
