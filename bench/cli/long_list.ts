/** Whether a long list is worked through as fast at its end as at its start, and in how much memory. */

import { argumentOf } from "./throughput.ts";
import type { Contender } from "./contenders.ts";
import type { List } from "./list.ts";

/** What a long list took. */
export interface LongRun {
  readonly name: string;
  readonly runtime: string;
  /** Items a second in the first tenth, and in the last. */
  readonly first: number;
  readonly last: number;
  /** The most memory that the process itself ever had, in bytes; `undefined` where the system does not tell. */
  readonly memory: number | undefined;
  readonly minutes: number;
}

const LINE_FEED = 0x0a;
/** How often the memory is looked at: its peak is kept by the system. */
const LOOKS = 100;

/** Runs `echo` for each line, whose output tells how many are done. */
export async function measureLongRun(contender: Contender, concurrency: number, list: List): Promise<LongRun> {
  const start = performance.now();
  const child = list.start([...contender.command(concurrency), "echo", ...argumentOf(contender)], "piped");
  const tenth = Math.floor(list.length / 10);
  const times = new Map<number, number>(); // when so many were done
  let memory: number | undefined;
  let done = 0;
  for await (const chunk of child.stdout) {
    const before = done;
    for (const byte of chunk) {
      if (byte !== LINE_FEED) continue;
      done++;
      if (done === 1 || done === tenth || done === list.length - tenth || done === list.length) {
        times.set(done, performance.now());
      }
    }
    const looks = (lines: number) => Math.floor(lines * LOOKS / list.length);
    if (looks(done) > looks(before)) {
      memory = await peakMemory(child.pid) ?? memory;
    }
  }
  const { success } = await child.status;
  if (!success || done !== list.length) {
    throw new Error(`${contender.name} ${contender.runtime} did ${done} of ${list.length}`);
  }
  const rate = (from: number, to: number) => (to - from) * 1000 / (times.get(to)! - times.get(from)!);
  return {
    name: contender.name,
    runtime: contender.runtime,
    first: rate(1, tenth),
    last: rate(list.length - tenth, list.length),
    memory,
    minutes: (performance.now() - start) / 60_000,
  };
}

async function peakMemory(pid: number): Promise<number | undefined> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return peak === undefined ? undefined : Number(peak) * 1024;
}
