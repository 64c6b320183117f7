/** Tests of the JSON Schema of a config. */

import { assert, assertEquals, assertFalse, assertMatch, assertThrows } from "@std/assert";
import { ConfigError, loadConfig } from "@workqueue/core";
import { configSchema } from "@workqueue/core/config";
import { Ajv2020 } from "ajv/dist/2020.js";
import { countingRegistry, EXPONENTIAL } from "./documents.ts";

Deno.test("the JSON Schema of a config agrees with loadConfig", () => {
  const validate = new Ajv2020({ strict: true }).compile(configSchema());
  const good: object[] = [
    {},
    { $schema: "x" },
    {
      limiters: {
        a: EXPONENTIAL,
        b: "a",
        c: { type: "max-of", limiters: ["a", { type: "bucket", rate: 1, burst: 1 }] },
      },
    },
    { queues: { q: {}, r: { limiter: EXPONENTIAL, maxSleep: "1s", concurrency: 3, maxRetries: 0, timeout: 100 } } },
  ];
  for (const document of good) {
    assert(validate(document), JSON.stringify(document));
    loadConfig(document);
  }
  const bad: object[] = [
    { queue: {} },
    { limiters: [] },
    { limiters: { a: 5 } },
    { limiters: { a: { type: "exponental", baseDelay: 1, maxDelay: 1 } } },
    { limiters: { "": EXPONENTIAL } },
    { limiters: { constructor: EXPONENTIAL } },
    { limiters: JSON.parse(`{ "__proto__": { "type": "bucket", "rate": 1, "burst": 1 } }`) },
    { queues: { prototype: {} } },
    { queues: { q: "a" } },
    { queues: { q: { concurrency: 0 } } },
    { queues: { q: { concurrency: 1.5 } } },
    { queues: { q: { maxRetries: -1 } } },
    { queues: { q: { timeout: 0 } } },
    { queues: { q: { timeout: 2 ** 31 } } },
    { queues: { q: { maxSleep: "soon" } } },
    { queues: { q: { limiter: {} } } },
    { queues: { q: { retries: 3 } } },
  ];
  for (const document of bad) {
    assertFalse(validate(document), JSON.stringify(document));
    assertThrows(() => loadConfig(document), ConfigError, undefined, JSON.stringify(document));
  }
});

Deno.test("the JSON Schema has a description, in sentences, for everything that editors show", () => {
  const { title, properties, $defs } = configSchema() as {
    title: string;
    properties: Record<string, { description?: string }>;
    $defs: { limiter: Options & { allOf: [types: unknown, ...{ then: Options }[]] }; queue: Options };
  };
  type Described = { description?: string };
  type Options = Described & { properties: Record<string, Described & { anyOf?: Described[] }> };
  const { limiter, queue } = $defs;
  const [, ...branches] = limiter.allOf;
  const variants = branches.map(({ then }) => then);
  const options = variants.flatMap(({ properties: { type: _, ...options } }) => Object.values(options));
  const described = [
    ...Object.values(properties),
    limiter.properties.type!,
    ...limiter.properties.type!.anyOf!,
    ...variants,
    ...options,
    ...Object.values(queue.properties),
  ];
  assertMatch(title, /^[A-Z].{10,}$/);
  assert(described.length > 20);
  for (const { description } of described) assertMatch(description ?? "", /^[A-Z].{10,}\.$/);
});

Deno.test("the JSON Schema of a config has the types of its registry", () => {
  const { registry } = countingRegistry();
  const document = { limiters: { a: { type: "count", name: "x" } } };
  assert(new Ajv2020({ strict: true }).compile(configSchema({ limiters: registry }))(document));
  assertFalse(new Ajv2020({ strict: true }).compile(configSchema())(document));
  assertEquals(JSON.parse(JSON.stringify(configSchema())), configSchema());
});
