/**
 * Test that a queue on Redis behaves like client-go, and with strict priorities like controller-runtime. Replays a
 * sample of the traces in `tests/conformance/vectors/`. To replay all traces, run `deno task conformance --engine
 * redis`. `tests/conformance/README.md` lists the deliberate differences.
 */

import { assert, assertEquals } from "@std/assert";
import { redisFamilies, replayOnRedis } from "../replay/replay.ts";
import { redisTest } from "../redis_tests.ts";

const vectors = new URL("../../conformance/vectors/", import.meta.url);

/** The test replays one in `EVERY` traces, starting with trace `SEED`. */
const [EVERY, SEED] = [6, 3];

/**
 * For each family of traces, the names of the differences that are allowed in the replay. Any other difference is an
 * error.
 */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  "fifo": ["calls-after-shutdown"],
  "delaying": ["calls-after-shutdown", "delayed-survives-shutdown", "too-close-to-call"],
  "rate-limiting": ["calls-after-shutdown", "delayed-survives-shutdown", "too-close-to-call"],
  "equal-deadlines": ["equal-deadlines"],
  "drain-with-ready-items": ["calls-after-shutdown"],
  "done-of-ready-item": ["done-of-ready-item"],
  "limiters": ["never", "sub-microsecond"],
  "backoff-overflow": ["backoff-overflow"],
  "token-bucket": ["never", "no-counterpart"],
  "priority": ["calls-after-shutdown", "delayed-survives-shutdown", "shortened-delay-loses-its-place"],
  "priority-metrics": ["calls-after-shutdown", "delayed-survives-shutdown", "shortened-delay-loses-its-place"],
  "priority-gauges": [],
  "priority-readds": ["readd-keeps-its-place"],
  "priority-promotions": ["promotion-keeps-its-place"],
  "priority-shutdown": [
    "calls-after-shutdown",
    "delayed-survives-shutdown",
    "ready-items-dropped",
    "second-shutdown-panics",
  ],
};

let [traces, operations] = [0, 0];

for (const family of redisFamilies) {
  redisTest(`conformance on Redis: ${family}`, async ({ url }) => {
    const report = await replayOnRedis(url, vectors, family, (index) => index % EVERY === SEED);
    assert(report.differences.length === 0, report.differences.slice(0, 3).join("\n"));
    assertEquals([...report.exceptions.keys()].filter((name) => !EXCEPTIONS[family]?.includes(name)), []);
    const { "too-close-to-call": close = 0, "shortened-delay-loses-its-place": placed = 0 } = Object.fromEntries(
      report.exceptions,
    );
    const ended = close + placed;
    assert(ended <= 1 + report.traces / 40, `${ended} traces were not replayed to their end`);
    traces += report.traces;
    operations += report.operations;
  });
}

redisTest("conformance on Redis: enough is replayed", async () => {
  assert(traces >= 570 && operations >= 33_000, `${traces} traces with ${operations} operations`);
  return await Promise.resolve();
});
