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
  return (switchesOf(pid) - before) * 1000 / (performance.now() - start);
}

function switchesOf(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).map((task) => {
    const status = readFileSync(`${tasks}/${task}/status`, "utf8");
    return Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(status)?.[1]);
  }).reduce((sum, count) => sum + count, 0);
}
