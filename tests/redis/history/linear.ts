/** Check that the history of each key is linearizable, by the Go program in `linear/`, which uses Porcupine. */

import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onPath } from "../../keeper.ts";
import type { Line } from "./event.ts";
import { History, type Period } from "./history.ts";

/** Whether Go is installed. */
export const HAS_GO: boolean = onPath("go") !== undefined;

/** Operation on a key. The call and its reply are numbers of lines; an operation without a reply has no `return`. */
export interface Operation {
  readonly key: string;
  readonly do: "add" | "maybe add" | "take" | "finish";
  readonly token?: number;
  /** Answer to a finish. Missing if there was none. */
  readonly counts?: boolean;
  readonly call: number;
  readonly return?: number;
}

/**
 * Returns the operations of a history that one process has written, in which nothing is delayed or fails, and no owner
 * is lost. If `mayRepeat` is true, connections broke, so that calls that add may have run twice.
 */
export function operationsOf(lines: readonly Line[], mayRepeat = false): Operation[] {
  const { arrivals, handOuts } = new History([lines]);
  const operations: Operation[] = [];
  const times = ({ from, to }: Period) => ({ call: from.line, ...to && { return: to.line } });
  for (const { key, period, byFinish } of [...arrivals.values()].flat()) {
    if (byFinish) throw new Error(`${key} was to be retried`);
    operations.push({ key, do: "add", ...times(period) });
    if (mayRepeat) operations.push({ key, do: "maybe add", ...times(period) });
  }
  for (const { key, token, from, to, finishes } of handOuts) {
    operations.push({ key, do: "take", token, ...times({ from, to }) });
    for (const { counts, period } of finishes) {
      operations.push({ key, do: "finish", token, ...counts !== undefined && { counts }, ...times(period) });
    }
  }
  return operations;
}

/** Returns the keys whose histories are not linearizable, each with the result of the check. */
export async function notLinear(operations: readonly Operation[]): Promise<string[]> {
  const directory = fileURLToPath(new URL("linear/", import.meta.url));
  const child = spawn("go", ["run", "."], { cwd: directory, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(operations.map((operation) => JSON.stringify(operation)).join("\n"));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const lines = await text(child.stdout);
  const code = await ended;
  if (code !== 0) throw new Error(`The Go program ended with ${code}`);
  return lines.split("\n").slice(0, -1);
}
