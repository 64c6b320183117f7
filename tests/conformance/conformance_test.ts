/**
 * Replays the traces recorded in `vectors/`, to test conformance with client-go and controller-runtime. See README.md.
 */

import { assert, assertEquals } from "@std/assert";
import { families, replay } from "./replay.ts";

const vectors = new URL("vectors/", import.meta.url);

/**
 * For each family, the number of recorded traces, the number of operations, and the exceptions that occur. Update these
 * values together with the vectors.
 */
const RECORDED: Readonly<Record<string, { traces: number; operations: number; exceptions?: string[] }>> = {
  "fifo": { traces: 448, operations: 30859 },
  "delaying": { traces: 448, operations: 39068 },
  "limiters": { traces: 576, operations: 57721, exceptions: ["never"] },
  "token-bucket": { traces: 640, operations: 47216, exceptions: ["never"] },
  "rate-limiting": { traces: 384, operations: 38277, exceptions: ["never"] },
  "metrics": { traces: 224, operations: 14423 },
  "equal-deadlines": { traces: 192, operations: 6891, exceptions: ["equal-deadlines"] },
  "drain-with-ready-items": { traces: 128, operations: 4092, exceptions: ["drain-with-ready-items"] },
  "done-of-ready-item": { traces: 96, operations: 2186, exceptions: ["done-of-ready-item"] },
  "backoff-overflow": { traces: 64, operations: 1268, exceptions: ["backoff-overflow"] },
  "priority": { traces: 480, operations: 37593 },
  "priority-metrics": { traces: 96, operations: 6381 },
  "priority-readds": { traces: 160, operations: 8660, exceptions: ["readd-keeps-its-place"] },
  "priority-promotions": { traces: 96, operations: 5020, exceptions: ["promotion-keeps-its-place"] },
  "priority-shutdown": {
    traces: 96,
    operations: 3848,
    exceptions: ["drain-waits-for-nothing", "second-shutdown-panics", "ready-items-dropped"],
  },
  "outage": { traces: 128, operations: 128, exceptions: ["events-inflate-the-backoff", "events-start-attempts"] },
  "breaker": { traces: 160, operations: 21377 },
  "breaker-differences": {
    traces: 128,
    operations: 18324,
    exceptions: ["success-makes-room", "rounded-share", "late-results-count", "window-parts"],
  },
  "priority-gauges": { traces: 32, operations: 2965, exceptions: ["gauges-past-25-priorities"] },
};

for (const family of families) {
  Deno.test(`conformance: ${family}`, async () => {
    const report = await replay(vectors, family);
    assert(report.differences.length === 0, report.differences.slice(0, 3).join("\n"));
    const { traces, operations, exceptions = [] } = RECORDED[family]!;
    assertEquals([report.traces, report.operations], [traces, operations]);
    assertEquals([...report.exceptions.keys()], exceptions);
  });
}

Deno.test("conformance: enough steps are recorded", () => {
  const isPriority = (family: string) => family.startsWith("priority");
  const total = (what: "traces" | "operations", some: string[]) =>
    some.reduce((sum, family) => sum + RECORDED[family]![what], 0);
  const priorities = families.filter(isPriority);
  const others = families.filter((family) => !isPriority(family));
  assert(total("traces", others) >= 2000);
  assert(total("operations", others) >= 200_000);
  assert(total("traces", priorities) >= 500);
  assert(total("operations", priorities) >= 50_000);
});
