/**
 * Suite that every engine passes: a queue behaves like client-go, and with strict priorities like controller-runtime.
 * The suite replays a sample of the traces in `tests/conformance/vectors/`. To replay all traces, run `deno task
 * conformance --engine redis` or `--engine sqlite`. `tests/conformance/README.md` lists the deliberate differences.
 */

import { assert, assertEquals } from "@std/assert";
import { engineFamilies, replayOnEngine } from "../conformance/engines/replay.ts";
import type { ReplayStore } from "../conformance/engines/store.ts";

const vectors = new URL("../conformance/vectors/", import.meta.url);

/** The suite replays one in `EVERY` traces, starting with trace `SEED`. */
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
  "token-bucket": ["never", "no-counterpart", "time-goes-back"],
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

/** Registers a test with a store. */
export type TraceTest = (name: string, run: (store: ReplayStore) => Promise<void>) => void;

/** Registers the replays on an engine, one for each family of traces. */
export function engineTraces(traceTest: TraceTest): void {
  let [traces, operations] = [0, 0];
  for (const family of engineFamilies) {
    traceTest(`conformance: ${family}`, async (store) => {
      const report = await replayOnEngine(store, vectors, family, (index) => index % EVERY === SEED);
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

  traceTest("conformance: enough steps are replayed", () => {
    assert(traces >= 570 && operations >= 33_000, `${traces} traces with ${operations} operations`);
    return Promise.resolve();
  });
}
