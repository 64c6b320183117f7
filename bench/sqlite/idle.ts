/** Wake-ups of an idle process. */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Returns how often the threads of a process wake up per second: the number of voluntary context switches, which Linux
 * counts when a thread begins to wait.
 */
export async function measureWakeUps(pid: number, duration: number): Promise<number> {
  const [before, start] = [switchesOf(pid), performance.now()];
  await sleep(duration);
  const seconds = (performance.now() - start) / 1000;
  const counts = [...switchesOf(pid)].map(([thread, count]) => count - (before.get(thread) ?? 0));
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

/** Returns the numbers of context switches of the threads that a process has. */
function switchesOf(pid: number): Map<string, number> {
  const threads = `/proc/${pid}/task`;
  return new Map(
    readdirSync(threads).map((thread) => {
      const status = readFileSync(`${threads}/${thread}/status`, "utf8");
      return [thread, Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(status)?.[1])];
    }),
  );
}
