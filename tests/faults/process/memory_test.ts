/** What queues and limiters keep in memory: nothing of what they are done with. */

import { assert, assertEquals } from "@std/assert";
import { runScript, type Runtime, RUNTIMES } from "../../run_script.ts";

const run = (runtime: Runtime, script: string) => runScript(runtime, new URL(script, import.meta.url));

/** A word for each of a million keys would be 8 MB. */
const FLAT = 2_000_000;

Deno.test("a million keys go through one queue, and the heap is as it was before", async () => {
  for (const runtime of RUNTIMES) {
    const [handled, growth, left] = (await run(runtime, "million_keys.ts")).map(Number);
    assertEquals([handled, left], [1_000_000, 0]);
    assert(growth! < FLAT, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("queues through which many keys went and that are never empty keep none of them", async () => {
  for (const runtime of RUNTIMES) {
    const [growth, ready] = await run(runtime, "never_empty.ts");
    assertEquals(ready, Array(4).fill("0,0,1,1").join());
    assert(Number(growth) < FLAT, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("an item that was taken is not kept in memory", async () => {
  for (const runtime of RUNTIMES) assertEquals(await run(runtime, "garbage.ts"), ["7 things kept"], runtime);
});

Deno.test("limiters keep nothing of keys and groups that came one after the other and were never forgotten", async () => {
  for (const runtime of RUNTIMES) {
    const [growth, counts] = await run(runtime, "limiters_at_rest.ts");
    assertEquals(counts, "1,0,1");
    assert(Number(growth) < FLAT, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("rule 14: a fair discipline keeps nothing of a million groups that came one after the other", async () => {
  for (const runtime of RUNTIMES) {
    const [growth, left] = await run(runtime, "groups_at_rest.ts");
    assertEquals(left, "16");
    assert(Number(growth) < FLAT, `${growth} bytes more on ${runtime}`);
  }
});

Deno.test("rule 16: nothing is kept of documents that were in force, but the names", async () => {
  for (const runtime of RUNTIMES) {
    const [growth, areFew] = await run(runtime, "reloads.ts");
    assertEquals(areFew, "true", `few of the limiters are left on ${runtime}`);
    assert(Number(growth) < FLAT, `${growth} bytes more on ${runtime}`);
  }
});
