/** Tests of the form that definitions must have. */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { defineLimiter, type LimiterDefinition } from "@workqueue/core";
import { LimiterRegistry } from "@workqueue/core/limiters";
import { CONSTANT, parts } from "./parts.ts";

Deno.test("a definition with a part missing or of the wrong type is refused, by defineLimiter and register alike", () => {
  const cases: [definition: unknown, message: string][] = [
    [undefined, "Cannot define limiter: 'definition' must be an object, got undefined"],
    [null, "Cannot define limiter: 'definition' must be an object, got null"],
    ["bucket", `Cannot define limiter: 'definition' must be an object, got "bucket"`],
    [parts({ type: undefined }), "Cannot define limiter: 'type' must be a non-empty string, got undefined"],
    [parts({ type: "" }), `Cannot define limiter: 'type' must be a non-empty string, got ""`],
    [parts({ type: [] }), "Cannot define limiter: 'type' must be a non-empty string, got an array"],
    [parts({ description: undefined }), "Cannot define limiter: 'description' must be a string, got undefined"],
    [parts({ description: null }), "Cannot define limiter: 'description' must be a string, got null"],
    [parts({ create: undefined }), "Cannot define limiter: 'create' must be a function, got undefined"],
    [parts({ create: CONSTANT }), "Cannot define limiter: 'create' must be a function, got an object"],
    [parts({ update: true }), "Cannot define limiter: 'update' must be a function, or left out, got true"],
    [parts({ options: undefined }), "Cannot define limiter: 'options' must be an object, got undefined"],
    [parts({ options: null }), "Cannot define limiter: 'options' must be an object, got null"],
    [
      parts({ options: { type: { kind: "string", description: "" } } }),
      `Cannot define limiter "custom": 'type' names the limiter and is no option`,
    ],
    [
      parts({ options: { x: { kind: "float", description: "" } } }),
      `Cannot define limiter "custom": 'x' must have a kind of duration, integer, number, boolean, string, enum, weights, ` +
      `durations, rate, retryBudget, retention, limiter, limiters, got "float"`,
    ],
    [
      parts({ options: { x: "duration" } }),
      `Cannot define limiter "custom": 'x' must have a kind of duration, integer, number, boolean, string, enum, weights, ` +
      `durations, rate, retryBudget, retention, limiter, limiters, got "duration"`,
    ],
    [
      parts({ options: { x: null } }),
      `Cannot define limiter "custom": 'x' must have a kind of duration, integer, number, boolean, string, enum, weights, ` +
      `durations, rate, retryBudget, retention, limiter, limiters, got null`,
    ],
    [
      parts({ options: { x: { kind: "limiter", description: "", default: CONSTANT } } }),
      `Cannot define limiter "custom": 'x.default' must be left out, as a limiter has no default, got an object`,
    ],
  ];
  const registry = new LimiterRegistry();
  for (const [definition, message] of cases) {
    assertEquals(assertThrows(() => defineLimiter(definition as LimiterDefinition), TypeError).message, message);
    assertEquals(assertThrows(() => registry.register(definition as LimiterDefinition), TypeError).message, message);
  }
  assertEquals(registry.types(), []);
});

Deno.test("an enum must list its values when it is defined, not when it is used", () => {
  for (const values of [undefined, null, "ab"]) {
    assertThrows(
      () => defineLimiter(parts({ options: { x: { kind: "enum", description: "", values } } })),
      TypeError,
      "'x.values' must be a list of strings, got",
    );
  }
});

Deno.test("a list of limiters can only have an empty default", () => {
  const define = (preset: unknown) =>
    defineLimiter(parts({ options: { x: { kind: "limiters", description: "", default: preset } } }));
  const rule = "Cannot define limiter \"custom\": 'x.default' must be an empty list, as a limiter has no default, got";
  assertThrows(() => define(5), RangeError, `${rule} 5`);
  assertThrows(() => define("x"), TypeError, `${rule} "x"`);
  assertThrows(() => define(["x"]), TypeError, `${rule} an array`);
  define([]);
});

Deno.test("an option must have a description", () => {
  assertThrows(
    () => defineLimiter(parts({ options: { x: { kind: "integer" } } })),
    TypeError,
    "'x.description' must be a string, got undefined",
  );
});

Deno.test("defineLimiter returns the definition itself", () => {
  const definition = parts({});
  assertStrictEquals(defineLimiter(definition), definition);
});
