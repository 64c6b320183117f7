/**
 * Tests of loads in processes of each runtime that are killed at a write: at a statement, or at a system call. For more
 * of them: `deno task prove:sqlite`.
 */

import { assert, assertEquals } from "@std/assert";
import { HAS_NODE } from "../../runtimes.ts";
import { killedLoad, RUNTIMES, STRACE } from "./killed_loads.ts";

const RUNS = 4;

if (!HAS_NODE) console.log("The packages from npm are not installed (deno task test:node): leaving out Node.");
if (STRACE === undefined) console.log("There is no strace on the PATH: leaving out kills at system calls.");

for (const runtime of RUNTIMES) {
  for (const bySystem of [false, true]) {
    const where = bySystem ? "a system call" : "a statement";
    Deno.test({
      name: `SQLite on ${runtime}: kill -9 at ${where} that writes loses no acknowledged item`,
      ignore: bySystem && STRACE === undefined,
      async fn() {
        let kills = 0;
        for (let seed = 1; seed <= RUNS; seed++) {
          const { isKilled, wrong } = await killedLoad({ seed, runtime, bySystem });
          assertEquals(wrong, [], `seed ${seed}`);
          if (isKilled) kills++;
        }
        assert(kills >= RUNS / 2, `${kills} kills`);
      },
    });
  }
}
