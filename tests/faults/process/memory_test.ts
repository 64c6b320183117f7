/** Tests of the memory of queues and limiters: they keep no data that they no longer need. */

import { assert, assertEquals } from "@std/assert";
import { EVERY } from "../../every.ts";
import { runScript, type Runtime, RUNTIMES } from "../../run_script.ts";
import { FLAT, FLAT_WORDS } from "./collect.ts";

/** The same code keeps data on each runtime. */
const runtimes = EVERY ? RUNTIMES : ["Deno"] as const;

/**
 * Runs a script on the runtimes in parallel, which is possible because the scripts don't measure time. Returns the
 * output lines for each runtime.
 */
function run(script: string): Promise<[Runtime, string[]][]> {
  const url = new URL(script, import.meta.url);
  return Promise.all(runtimes.map(async (runtime) => [runtime, await runScript(runtime, url)]));
}

Deno.test("400,000 keys pass through a queue, and the heap returns to its earlier size", async () => {
  for (const [runtime, lines] of await run("many_keys.ts")) {
    const [handled, growth, left] = lines.map(Number);
    assertEquals([handled, left], [400_000, 0]);
    assert(growth! < FLAT, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("queues that are never empty keep none of the many keys that passed through them", async () => {
  for (const [runtime, [growth, ready]] of await run("never_empty.ts")) {
    assertEquals(ready, Array(4).fill("0,0,1,1,0,0").join());
    assert(Number(growth) < FLAT, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("a queue whose delays have all ended frees their memory", async () => {
  for (const [runtime, [growth, left]] of await run("emptied.ts")) {
    assertEquals(left, "0,0,0,0,0,0");
    assert(Number(growth) < FLAT, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("an item that was taken is not kept in memory", async () => {
  for (const [runtime, lines] of await run("garbage.ts")) assertEquals(lines, ["7 things kept"], runtime);
});

Deno.test("a failing item keeps only the part of a long error message that is shown", async () => {
  for (const [runtime, [growth, failing]] of await run("long_errors.ts")) {
    assertEquals(failing, "50");
    assert(Number(growth) < FLAT, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("limiters keep nothing of keys and groups that came one after the other and were never forgotten", async () => {
  for (const [runtime, [growth, counts]] of await run("limiters_at_rest.ts")) {
    assertEquals(counts, "1,0,1");
    assert(Number(growth) < FLAT_WORDS, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("rule 14: the memory of counts that expire is bounded by the keys whose counts have not expired", async () => {
  for (const [runtime, lines] of await run("counts_that_expire.ts")) {
    assertEquals(lines.length, 3, runtime);
    for (const line of lines) {
      const [before, after] = line.split(": ")[1]!.split(" ").map(Number);
      assert(after! <= 1.5 * before!, `bytes in use on ${runtime}, of ${line}`);
    }
  }
});

Deno.test("rule 14: a fair discipline keeps nothing of 100,000 groups that came one after the other", async () => {
  for (const [runtime, [growth, left]] of await run("groups_at_rest.ts")) {
    assertEquals(left, "16");
    assert(Number(growth) < FLAT_WORDS, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("rule 16: only the names of earlier documents are kept", async () => {
  for (const [runtime, [growth, areFew]] of await run("reloads.ts")) {
    assertEquals(areFew, "true", `few of the limiters are left on ${runtime}`);
    assert(Number(growth) < FLAT, `${growth} bytes more on ${runtime}`);
  }
});
