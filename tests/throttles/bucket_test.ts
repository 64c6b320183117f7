/** Tests of the bucket throttle. `tests/tokens/` has the tests of token buckets. */

import { assertEquals } from "@std/assert";
import { createBucketThrottle } from "@workqueue/core/throttles";
import { HandClock } from "../helpers.ts";
import { begin, result } from "./helpers.ts";

/** Returns the tokens that are left of ten after an attempt that costs three. */
function tokensAfterCost(counts: "cost" | "attempts" | undefined): number {
  const throttle = createBucketThrottle({ rate: 0, burst: 10, counts, clock: new HandClock() });
  begin(throttle, 3).end(result("succeeded"));
  return throttle.tokens;
}

Deno.test("bucket: an attempt takes as many tokens as it costs, or always one", () => {
  assertEquals([undefined, "cost", "attempts"].map((counts) => tokensAfterCost(counts as "cost")), [7, 7, 9]);
});
