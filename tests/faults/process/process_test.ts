/** Tests that a process exits when only a queue is left, on Deno and on Bun. */

import { assertEquals } from "@std/assert";
import { runScript, RUNTIMES } from "../../run_script.ts";

const SCRIPT = new URL("exit.ts", import.meta.url);

/** Lines that each case of `exit.ts` prints before its process exits. */
const cases: [name: string, printed: string[]][] = [
  ["a pool with nothing to do", []],
  ["a delayed item", ["handled"]],
  ["an item delayed for longer than the timer sleeps", ["handled"]],
  ["an item that is retried", ["handled at attempt 3"]],
  ["ref: true", ["handled"]],
  ["ref: false", []],
  ["ref: false of a rate-limiting queue, with an item delayed for longer than the timer sleeps", []],
  ["ref: false, while something else keeps the process", ["handled"]],
  ["ref: true, and a paused group", ["a/1"]],
  ["ref: false, and a paused group", []],
  ["ref: false, and a paused group of a delaying queue", []],
  ["ref: false, and a group that has used up its rate", ["a/1"]],
  ["ref: false, and a paused queue", ["handled"]],
  ["ref: false, and a pool with a throttle on a paused queue", ["handled"]],
  ["ref: false, and a blocked retry", ["handled at attempt 1", "handled at attempt 2"]],
  ["a shutdown while an item is delayed", []],
  ["a shutdown of a measured queue whose item is processing", ["processing"]],
  ["an item of a measured queue that is processing for ever", ["processing"]],
  ["a drain that drops delayed items", ["handled"]],
  ["a drain that waits for delayed items", ["handled", "drained"]],
  ["a pool that was stopped", ["handled"]],
  ["a wait for a token that was aborted", ["aborted"]],
];

for (const runtime of RUNTIMES) {
  Deno.test(`rule 6: a process on ${runtime} ends when its queue is shut down or has nothing to do, and not before`, async () => {
    const results = await Promise.all(cases.map(async ([name]) => [name, await runScript(runtime, SCRIPT, name)]));
    assertEquals(results, cases);
  });
}
