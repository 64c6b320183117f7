/** Tests of the JSON Schema of limiter configs. */

import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { ConfigError, type LimiterConfig, limiters } from "@workqueue/core";
import { configSchema } from "@workqueue/core/config";
import { issuesOf } from "../helpers.ts";
import { compile, spy, variants } from "./parts.ts";

Deno.test("a list holds at most a thousand limiters, also in the JSON Schema", () => {
  const validate = compile(limiters);
  for (const [count, isAllowed] of [[0, false], [1, true], [1000, true], [1001, false]] as const) {
    const bucket = { type: "bucket", rate: 1, burst: 1 } as const;
    const config = { type: "max-of", limiters: new Array(count).fill(bucket) } as const;
    assertEquals(validate(config), isAllowed);
    if (isAllowed) limiters.build(config);
    else assertEquals(issuesOf(() => limiters.build(config)).map(({ path }) => path), ["/limiters"]);
  }
});

Deno.test("the JSON Schema of the built-in limiters agrees with build", () => {
  const validate = compile(limiters);
  const good: LimiterConfig[] = [
    { type: "bucket", rate: 0.5, burst: 0 },
    { type: "exponential", baseDelay: "5ms", maxDelay: 1000 },
    { type: "fast-slow", fastDelay: 0, slowDelay: "1h", maxFastAttempts: 3 },
    { type: "steps", delays: ["5s", 5, "30m"] },
    { type: "max-of", limiters: [{ type: "bucket", rate: 1, burst: 1 }] },
    {
      type: "max-wait",
      maxDelay: "1m",
      limiter: { type: "max-of", limiters: [{ type: "bucket", rate: 1, burst: 1 }] },
    },
  ];
  for (const config of good) {
    assert(validate(config), JSON.stringify(config));
    limiters.build(config);
  }
  const bad: unknown[] = [
    {},
    5,
    null,
    [],
    "bucket",
    { type: "buckets", rate: 1, burst: 1 },
    { type: "bucket", rate: -1, burst: 1 },
    { type: "bucket", rate: 1, burst: 1.5 },
    { type: "bucket", rate: 1 },
    { type: "bucket", rate: 1, burst: 1, clock: {} },
    { type: "exponential", baseDelay: "5", maxDelay: 1000 },
    { type: "exponential", baseDelay: 5, maxDelay: -1 },
    { type: "steps", delays: ["5s"], forgetAfter: "1h" },
    { type: "steps" },
    { type: "steps", delays: [] },
    { type: "steps", delays: "5s" },
    { type: "steps", delays: ["5s", "soon"] },
    { type: "max-of", limiters: [] },
    { type: "max-of", limiters: [5] },
    { type: "max-of", limiters: {} },
    { type: "max-wait", maxDelay: "1m", limiter: { type: "bucket" } },
  ];
  for (const config of bad) {
    assertFalse(validate(config), JSON.stringify(config));
    assertThrows(() => limiters.build(config as LimiterConfig), ConfigError);
  }
  assert(validate({ type: "max-of", limiters: ["a name"] }), "a limiter's option may be a name");
});

Deno.test("the JSON Schema of lists of limiters has the same minimum length as build", () => {
  const { registry } = spy({
    any: { kind: "limiters", description: "" },
    two: { kind: "limiters", description: "", minItems: 2 },
  });
  const validate = compile(registry);
  const limiter = { type: "bucket", rate: 1, burst: 1 };
  assert(validate({ type: "spy", any: [], two: [limiter, limiter] }));
  assertFalse(validate({ type: "spy", any: [], two: [limiter] }));
});

Deno.test("the JSON Schema describes every currently registered type, for editors", () => {
  const { registry } = spy({
    pace: { kind: "duration", description: "How fast.", default: "1s" },
    mode: { kind: "enum", description: "Which way.", values: ["up", "down"] },
  });
  const schema = configSchema({ limiters: registry });
  assertEquals(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  const all = variants(registry);
  assertEquals(all.map(({ type }) => type.const), [...limiters.types(), "spy"]);
  const { type, then: { description, required, properties } } = all.at(-1)!;
  assertEquals(description, "Writes down what it is created with.");
  assertEquals(type.description, description);
  assertEquals(required, ["mode"]);
  assertEquals(Object.keys(properties), ["type", "pace", "mode"]);
  assertEquals(properties["pace"]!.default, "1s");
  assertEquals(properties["mode"]!.description, "Which way.");
  assertEquals(Object.hasOwn(properties["mode"]!, "default"), false);
  assertEquals(JSON.parse(JSON.stringify(schema)), schema);
  registry.unregister("spy");
  assertEquals(variants(registry).length, limiters.types().length);
});
