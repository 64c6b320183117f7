/** How long a list of the shortest command takes, from start to end. */

import type { Contender } from "./contenders.ts";
import type { List } from "./list.ts";

/** Runs `true` for each line. Gives the nanoseconds that one took. */
export async function measureThroughput(contender: Contender, concurrency: number, list: List): Promise<number> {
  const start = performance.now();
  const { success } = await list.start([...contender.command(concurrency), "true", ...argumentOf(contender)], "null")
    .status;
  if (!success) throw new Error(`${contender.name} ${contender.runtime} failed`);
  return (performance.now() - start) * 1e6 / list.length;
}

/** The peers add the line by themselves. */
export function argumentOf({ runtime }: Contender): string[] {
  return runtime === "" ? [] : ["{}"];
}
