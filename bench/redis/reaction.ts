/**
 * Time until an idle worker process begins an item after another process has added the item or the item has become due.
 */

import type { Runtime } from "../remote/agents.ts";
import { type Lateness, measureLateness } from "../remote/lateness.ts";
import type { RedisCalls } from "./agent.ts";
import type { Server } from "./server.ts";

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
  runtime: Runtime<RedisCalls>,
  contender: string,
  times: number,
): Promise<Reaction> {
  const measure = async (add: "poke" | "delay") => {
    await server.empty();
    await using producer = runtime.start();
    await using worker = runtime.start();
    return await measureLateness(
      { producer, worker },
      { contender, place: server.url, queue: add, payload: 0 },
      times,
      () =>
        add === "poke"
          ? producer.call("poke", { times, pause: 7 })
          : producer.call("delay", { times, from: 500, spread: 7 * times }),
    );
  };
  return { runtime: runtime.name, contender, wakeUp: await measure("poke"), due: await measure("delay") };
}
