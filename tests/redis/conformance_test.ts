/**
 * Replays what client-go did, as recorded in `tests/conformance/vectors/`, on Redis: a part of it here, all of it by
 * `deno task conformance --engine redis`. `tests/conformance/README.md` tells what differs on purpose.
 */

import { assert, assertEquals } from "@std/assert";
import { redisFamilies, replayOnRedis } from "./replay.ts";
import { redisTest } from "./redis_tests.ts";

const vectors = new URL("../conformance/vectors/", import.meta.url);

/** One trace in so many is replayed, beginning with that one. */
const [EVERY, SEED] = [6, 3];

/** What may differ on purpose, in each family. In those that are not named here nothing may. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  "fifo": ["calls-after-shutdown"],
  "delaying": ["calls-after-shutdown", "waiting-survives-shutdown", "too-close-to-call"],
  "rate-limiting": ["calls-after-shutdown", "waiting-survives-shutdown", "too-close-to-call"],
  "equal-deadlines": ["equal-deadlines"],
  "drain-with-ready-items": ["calls-after-shutdown"],
  "done-of-ready-item": ["done-of-ready-item"],
  "limiters": ["never", "sub-microsecond"],
  "backoff-overflow": ["backoff-overflow"],
  "token-bucket": ["never", "no-counterpart"],
};

let [traces, operations] = [0, 0];

for (const family of redisFamilies) {
  redisTest(`conformance on Redis: ${family}`, async ({ url }) => {
    const report = await replayOnRedis(url, vectors, family, (index) => index % EVERY === SEED);
    assert(report.differences.length === 0, report.differences.slice(0, 3).join("\n"));
    assertEquals([...report.exceptions.keys()].filter((name) => !EXCEPTIONS[family]?.includes(name)), []);
    const { "too-close-to-call": ended = 0 } = Object.fromEntries(report.exceptions);
    assert(ended <= 1 + report.traces / 50, `${ended} traces were not replayed to their end`);
    traces += report.traces;
    operations += report.operations;
  });
}

redisTest("conformance on Redis: enough is replayed", async () => {
  assert(traces >= 450 && operations >= 25_000, `${traces} traces with ${operations} operations`);
  return await Promise.resolve();
});
