import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { limiters } from "@workqueue/core";
import { defaultControllerConfig } from "@workqueue/core/limiters";
import { connect } from "../../packages/redis/connection/connect.ts";
import { RedisEngine } from "../../packages/redis/engine.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { createScripts } from "../../packages/redis/scripts/script.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

const NOW = 1_800_000_000;
/** Scripts with a fixed server time: only the queue's own counter advances. */
const scripts = createScripts(`{ ${NOW}, 0 }`);

redisTest(
  "moments: items that are added for the same time get that time and the next free times",
  async ({ url, call }) => {
    const connection = connect("test", { url, client: undefined, callTimeout: 5000 });
    // In each call, all added keys have the same delay, in microseconds. The delays are close together, so that
    // deadlines collide.
    const adds = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1000, max: 1100 })), {
      maxLength: 30,
      size: "max",
    });
    await fc.assert(
      fc.asyncProperty(adds, async (calls) => {
        const name = uniqueName("moments");
        const engine = new RedisEngine(connection, scripts, {
          ...{ name, leaseDuration: 1000, maxStalls: 5, replaces: false, folds: false, hasItems: false },
          limiter: planLimiter("test", limiters.describe(defaultControllerConfig)),
        });
        const expected: [key: string, due: number][] = [];
        const taken = new Set<number>();
        let tick = NOW * 1e6;
        for (const [i, [count, delay]] of calls.entries()) {
          const keys = Array.from({ length: count }, (_, j) => `${i}-${j}`);
          await engine.add(keys.map((key) => ({ key, payload: "" })), delay / 1000);
          tick++; // each call runs later than the previous one; the first call of all defines the queue
          for (const key of keys) {
            let due = ++tick + delay;
            while (taken.has(due)) due++;
            taken.add(due);
            expected.push([key, due]);
          }
        }
        const stored = await call("ZRANGE", `workqueue:{${name}}:delayed`, "0", "-1", "WITHSCORES");
        assertEquals(stored, expected.toSorted(([, a], [, b]) => a - b).flatMap(([key, due]) => [key, `${due}`]));
      }),
      { numRuns: 30, seed: 12 },
    );
    await connection.release();
  },
);
