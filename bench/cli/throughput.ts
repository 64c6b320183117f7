/** Time per line when a program runs the shortest command, `true`, for each line of a list. */

import type { Contender } from "./contenders.ts";
import type { List } from "./list.ts";

/** Runs `true` for each line. Returns the nanoseconds per item. */
export async function measureThroughput(contender: Contender, concurrency: number, list: List): Promise<number> {
  const start = performance.now();
  const { success } = await list.start([...contender.command(concurrency), "true", ...argumentOf(contender)], "null")
    .status;
  if (!success) throw new Error(`${contender.name} ${contender.runtime} failed`);
  return (performance.now() - start) * 1e6 / list.length;
}

/** Returns the placeholder for the line; empty for the peers, which append the line to the command. */
export function argumentOf({ runtime }: Contender): string[] {
  return runtime === "" ? [] : ["{}"];
}
