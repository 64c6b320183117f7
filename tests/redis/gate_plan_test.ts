/** Tests of the plans of shared throttles. No server is needed. */

import { assertEquals } from "@std/assert";
import { defineThrottle, loadConfig, throttles } from "@workqueue/core";
import { createConcurrencyThrottle } from "@workqueue/core/throttles";
import { isNamedThrottle, planGates } from "../../packages/engine/gate_plan.ts";

const custom = defineThrottle({
  type: "custom",
  description: "",
  options: {},
  create: () => createConcurrencyThrottle({ limit: 1 }),
});

/** Returns the kind and the identity of each gate of a queue named "q". */
function gatesOf(throttle: unknown, named: object = {}): string[] {
  const registry = throttles.extend().register(custom);
  const document = {
    limiters: { retry: { type: "bucket", rate: 1, burst: 1 } },
    throttles: { api: { type: "concurrency", limit: 3 }, paced: { rate: 5, burst: 5, counts: "attempts" }, ...named },
    queues: { q: { throttle } },
  };
  const config = loadConfig(document as never, { throttles: registry });
  const objectOf = (part: Parameters<typeof isNamedThrottle>[0]) =>
    isNamedThrottle(part) ? config.throttle(part.name!) : undefined;
  return planGates("q", config.describe("q").throttle!, objectOf).map((plan) => {
    const values = plan.kind === "permits"
      ? `${plan.values.limit}`
      : `${plan.values.rate} ${plan.values.burst} ${plan.countsCosts}`;
    return `${plan.kind} ${plan.id} ${values}`;
  });
}

Deno.test("gates: a named throttle has keys under its name, and any other throttle has keys of its queue", () => {
  assertEquals(gatesOf("api"), ["permits workqueue:{throttle:api} 3"]);
  assertEquals(gatesOf("paced"), ["tokens workqueue:{throttle:paced} 5 5 false"]);
  assertEquals(gatesOf({ type: "concurrency", limit: 2 }), ["permits workqueue:{q}:throttle 2"]);
});

Deno.test("gates: buckets come first, and each part of an all-of has its own place", () => {
  const inner = { type: "all-of", throttles: [{ rate: 2, burst: 1 }, "api"] };
  assertEquals(
    gatesOf({ type: "all-of", throttles: [{ type: "concurrency", limit: 9 }, "both", "api"] }, { both: inner }),
    [
      "tokens workqueue:{throttle:both}/throttles/0 2 1 true",
      "permits workqueue:{q}:throttle/throttles/0 9",
      "permits workqueue:{throttle:api} 3",
    ],
  );
});

Deno.test("gates: there are no gates for throttles that each process has for itself, and for buckets whose tokens come with the items", () => {
  for (const type of ["aimd", "gradient", "breaker", "custom"]) {
    assertEquals(gatesOf({ type, ...(type === "aimd" || type === "gradient" ? { max: 5 } : {}) }), [], type);
  }
  assertEquals(gatesOf({ rate: 1, burst: 1 }), []);
  assertEquals(gatesOf("retry"), []);
  assertEquals(gatesOf({ type: "all-of", throttles: ["retry", { type: "breaker" }] }), []);
});
