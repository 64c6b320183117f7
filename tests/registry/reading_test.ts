/** Problems in configs, and their messages. */

import { assert, assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError, defineLimiter, type LimiterConfig, limiters } from "@workqueue/core";
import { LimiterRegistry } from "@workqueue/core/limiters";
import { issuesOf, pathsOf, whilePolluted } from "../helpers.ts";
import { CONSTANT, parts, spy, TYPES } from "./parts.ts";

Deno.test("build reports every problem, not only the first, and then creates nothing", () => {
  const { registry, created } = spy({
    n: { kind: "integer", description: "The n." },
    name: { kind: "string", description: "" },
  });
  const config = {
    type: "max-of",
    limiters: [
      { type: "spy", n: 1, name: "fine" },
      { type: "spy", n: 1.5, nmae: "x" },
      { type: "spi" },
      { type: "bucket", rate: -1, burst: "many" },
    ],
    limiter: 5,
  };
  const error = assertThrows(() => registry.build(config as never), ConfigError);
  assertEquals(error.name, "ConfigError");
  assertEquals([...error.issues], [
    { path: "/limiter", message: `"limiter" is not an option here; did you mean "limiters"?` },
    { path: "/limiters/1/nmae", message: `"nmae" is not an option here; did you mean "name"?` },
    { path: "/limiters/1/n", message: "'n' must be an integer, got 1.5" },
    { path: "/limiters/1/name", message: "missing required option 'name'" },
    { path: "/limiters/2/type", message: `'type' must be one of ${TYPES}, "spy", got "spi"; did you mean "spy"?` },
    { path: "/limiters/3/rate", message: "'rate' must be a non-negative number, got -1" },
    { path: "/limiters/3/burst", message: `'burst' must be a non-negative integer, got "many"` },
  ]);
  assertEquals(created, []);
  assertEquals(
    error.message,
    "Cannot build limiter: it has 7 problems:\n  " +
      error.issues.map(({ path, message }) => `${message} (at ${path})`).join("\n  "),
  );
});

Deno.test("a single problem is the whole message, with its place", () => {
  const error = assertThrows(() => limiters.build({ type: "bucket", rate: 1, burst: -1 }), ConfigError);
  assertEquals(
    error.message,
    "Cannot build limiter: 'burst' must be a non-negative integer, got -1 (at /burst)",
  );
  const none = assertThrows(() => limiters.build("bucket"), ConfigError);
  assertEquals(
    none.message,
    `Cannot build limiter: 'config' must be an object, as there is no document to look up a name in, got "bucket"`,
  );
});

Deno.test("an error with very many problems lists all of them, and its message shows some", () => {
  const config = { type: "max-of", limiters: new Array(25).fill(5) };
  const { issues, message } = assertThrows(() => limiters.build(config as never), ConfigError);
  assertEquals(issues.length, 25);
  assertEquals(message.split("\n").length, 22);
  assertStringIncludes(message, "it has 25 problems:\n  'limiters[0]'");
  assertStringIncludes(message, "'limiters[19]'");
  assert(message.endsWith("\n  … and 5 more"));
  const last = (count: number) => {
    const { message } = assertThrows(
      () => limiters.build({ ...config, limiters: new Array(count).fill(5) } as never),
      ConfigError,
    );
    return message.split("\n").at(-1)!;
  };
  assert(last(21).endsWith("… and 1 more"));
  assertFalse(last(20).includes("more"));
});

Deno.test("an unknown, missing or non-string type is reported, with a suggestion if one is similar", () => {
  const cases: [type: unknown, message: string][] = [
    ["exponental", `'type' must be one of ${TYPES}, got "exponental"; did you mean "exponential"?`],
    ["Bucket", `'type' must be one of ${TYPES}, got "Bucket"; did you mean "bucket"?`],
    ["maxof", `'type' must be one of ${TYPES}, got "maxof"; did you mean "max-of"?`],
    ["kubernetes", `'type' must be one of ${TYPES}, got "kubernetes"`],
    ["", `'type' must be one of ${TYPES}, got ""`],
    ["__proto__", `'type' must be one of ${TYPES}, got "__proto__"`],
    ["constructor", `'type' must be one of ${TYPES}, got "constructor"`],
    ["toString", `'type' must be one of ${TYPES}, got "toString"`],
    [undefined, `missing required option 'type' (one of ${TYPES})`],
    [null, "'type' must be a string, got null"],
    [5, "'type' must be a string, got 5"],
    [["bucket"], "'type' must be a string, got an array"],
    [{ toString: () => "bucket" }, "'type' must be a string, got an object"],
  ];
  for (const [type, message] of cases) {
    assertEquals(issuesOf(() => limiters.build({ type } as never)), [{ path: "/type", message }]);
  }
});

Deno.test("a value that is not a config is refused", () => {
  const rule = "'config' must be a limiter or the name of one, got";
  for (
    const [config, received] of [[null, "null"], [undefined, "undefined"], [5, "5"], [[], "an array"], [
      CONSTANT.when,
      "a function",
    ]]
  ) {
    assertEquals(issuesOf(() => limiters.build(config as never)), [{ path: "", message: `${rule} ${received}` }]);
  }
  class Config {
    type = "bucket";
    rate = 1;
    burst = 1;
  }
  assertEquals(issuesOf(() => limiters.build(new Config() as never)), [{ path: "", message: `${rule} an object` }]);
  assertEquals(limiters.build(Object.assign(Object.create(null), new Config())).when("a"), 0);
});

Deno.test("a name in a config without a document is refused, at any place", () => {
  const message = `'config' must be an object, as there is no document to look up a name in, got "other"`;
  const config = { type: "max-of", limiters: ["other", { type: "max-wait", limiter: "other", maxDelay: 1 }] } as const;
  assertEquals(issuesOf(() => limiters.build(config)), [
    { path: "/limiters/0", message },
    { path: "/limiters/1/limiter", message },
  ]);
});

Deno.test("a rule between options is checked once each option is valid, and names the option to change", () => {
  const definition = defineLimiter({
    type: "between",
    description: "",
    options: {
      low: { kind: "duration", description: "" },
      high: { kind: "duration", description: "", default: "10ms" },
    },
    check: ({ low, high }) =>
      high < low ? { option: "high", rule: `must not be less than 'low' (${low} ms)` } : undefined,
    create: () => CONSTANT,
  });
  const registry = new LimiterRegistry().register(definition);
  registry.build({ type: "between", low: 10, high: "10ms" });
  registry.build({ type: "between", low: 10 });
  assertEquals(issuesOf(() => registry.build({ type: "between", low: "1s", high: "900ms" })), [
    { path: "/high", message: `'high' must not be less than 'low' (1000 ms), got "900ms"` },
  ]);
  assertEquals(pathsOf(() => registry.build({ type: "between", low: -5, high: -9 })), ["/low", "/high"]);
});

Deno.test("a rule between options is not checked if an option is invalid or missing", () => {
  const registry = new LimiterRegistry().register(defineLimiter({
    type: "asked",
    description: "",
    options: { a: { kind: "integer", description: "" }, b: { kind: "limiter", description: "" } },
    check: () => ({ option: "a", rule: "is never right" }),
    create: () => CONSTANT,
  }));
  assertEquals(pathsOf(() => registry.build({ type: "asked", a: "x", b: { type: "asked" } })), [
    "/a",
    "/b/a",
    "/b/b",
  ]);
  assertEquals(pathsOf(() => registry.build({ type: "asked", a: 1, c: 1 })), ["/c", "/b"]);
});

Deno.test("a rule between options that is broken by a default is reported with that default", () => {
  const { build } = spy({});
  build({});
  const registry = new LimiterRegistry().register(defineLimiter({
    type: "between",
    description: "",
    options: { low: { kind: "integer", description: "" }, high: { kind: "integer", description: "", default: 10 } },
    check: ({ low, high }) => high < low ? { option: "high", rule: "must not be less than 'low'" } : undefined,
    create: () => CONSTANT,
  }));
  assertEquals(issuesOf(() => registry.build({ type: "between", low: 11 })), [
    { path: "/high", message: "'high' must not be less than 'low', got 10" },
  ]);
});

/** Type of limiter whose option names must be escaped in a JSON Pointer. */
const ODD_NAMES = new LimiterRegistry().register(defineLimiter({
  type: "odd",
  description: "",
  options: {
    "a/b": { kind: "integer", description: "", default: 0 },
    "c~d": { kind: "limiters", description: "", required: false },
  },
  check: (options) => options["a/b"] === 1 ? { option: "a/b", rule: "must not be 1" } : undefined,
  create: () => CONSTANT,
}));

Deno.test("paths are JSON Pointers: special characters in names of options are escaped", () => {
  assertEquals(pathsOf(() => ODD_NAMES.build({ type: "odd", "a/b": "x" })), ["/a~1b"]);
  assertEquals(pathsOf(() => ODD_NAMES.build({ type: "odd", "c~d": [5] })), ["/c~0d/0"]);
  assertEquals(pathsOf(() => ODD_NAMES.build({ type: "odd", "~/~": 5 })), ["/~0~1~0"]);
});

Deno.test("paths are JSON Pointers: special characters are escaped also if a rule between options is broken", () => {
  assertEquals(pathsOf(() => ODD_NAMES.build({ type: "odd", "a/b": 1 })), ["/a~1b"]);
});

Deno.test("a check that throws is reported with its place, and nothing is built", () => {
  for (const [thrown, message] of [[new Error("no such curve"), "no such curve"], ["x", 'checking "custom" failed']]) {
    const registry = limiters.extend().register(parts({
      check() {
        throw thrown;
      },
      create: () => {
        throw new Error("must not be called");
      },
    }));
    const config = { type: "max-of", limiters: [{ type: "custom" } as never] } as const;
    assertEquals(issuesOf(() => registry.build(config)), [{ path: "/limiters/0", message: message as string }]);
  }
});

Deno.test("rule 10: a list of more than a thousand limiters is refused unread", () => {
  const one = { type: "exponential", baseDelay: 1, maxDelay: 2 } as const;
  assertEquals(limiters.build({ type: "max-of", limiters: new Array(1000).fill(one) }).when("a"), 1);
  for (const length of [1001, 2 ** 32 - 1]) {
    assertEquals(issuesOf(() => limiters.build({ type: "max-of", limiters: new Array(length) })), [
      { path: "/limiters", message: "'limiters' must be a list of 1 to 1000 limiters, got an array" },
    ]);
  }
});

Deno.test("rule 10: limiters nested in each other are built up to a depth of 32, and refused beyond", () => {
  const nest = (depth: number) => {
    let config: Record<string, unknown> = { type: "exponential", baseDelay: 3, maxDelay: 9 };
    for (let i = 0; i < depth; i++) config = { type: "max-wait", maxDelay: 1000, limiter: config };
    return config as LimiterConfig;
  };
  assertEquals(limiters.build(nest(31)).when("a"), 3);
  const [issue, ...others] = issuesOf(() => limiters.build(nest(33)));
  assertEquals(issue?.message, "'limiter' must not be nested in more than 32 other limiters");
  assertEquals(others, []);
  // Only nesting adds depth; siblings don't.
  for (const depth of [0, 1, 2, 30]) {
    const side = { type: "max-of", limiters: new Array(100).fill(nest(depth)) } as LimiterConfig;
    assertEquals(limiters.build(side).when("a"), 3);
  }
});

Deno.test("rule 10: a limiter nested in exactly 32 others is accepted", () => {
  let config: Record<string, unknown> = { type: "exponential", baseDelay: 3, maxDelay: 9 };
  for (let i = 0; i < 32; i++) config = { type: "max-wait", maxDelay: 1000, limiter: config };
  assertEquals(limiters.build(config as LimiterConfig).when("a"), 3);
});

Deno.test("rule 10: more than 5000 limiters inside one are refused, even if each list is short", () => {
  const one = { type: "exponential", baseDelay: 3, maxDelay: 9 };
  const many = { type: "max-wait", maxDelay: 1000, limiter: { type: "max-of", limiters: new Array(998).fill(one) } };
  const build = (count: number) =>
    limiters.build({ type: "max-of", limiters: new Array(count).fill(many) } as LimiterConfig);
  assertEquals(build(4).when("a"), 3);
  const [issue] = issuesOf(() => build(5)); // five limiters that consist of 1000 limiters each, plus the outer one
  assert(issue!.message.endsWith("is one of more than 5000 in one limiter"), issue!.message);
});

/**
 * Returns the paths of a config's issues, or `[]` if it has none. While the config is checked, all objects inherit some
 * properties.
 */
function pathsWhilePolluted(pollution: Record<string, unknown>, config: object): string[] {
  const error = whilePolluted(pollution, () => {
    try {
      limiters.build(config as LimiterConfig);
    } catch (error) {
      return error;
    }
  });
  return error === undefined ? [] : issuesOf(() => {
    throw error;
  }).map(({ path }) => path);
}

Deno.test("rule 10: members that other code put on Object.prototype are not part of a config", () => {
  const nothing = { when: () => 0, forget() {}, numRequeues: () => 0, get: () => undefined };
  assertEquals(pathsWhilePolluted(nothing, { type: "bucket", rate: 1, burst: 1 }), []);
  assertEquals(pathsWhilePolluted({ rate: 1 }, { type: "bucket", burst: 1 }), ["/rate"]);
  assertEquals(pathsWhilePolluted({ limiters: [] }, { type: "max-of" }), ["/limiters"]);
  assertEquals(pathsWhilePolluted({ limiter: "x" }, { type: "max-wait", maxDelay: 1 }), ["/limiter"]);
  assertEquals(pathsWhilePolluted({ type: "bucket" }, { rate: 1, burst: 1 }), ["/type"]);
});

Deno.test("rule 10: members that other code put on Object.prototype are not part of a declaration", () => {
  assertEquals(pathsWhilePolluted({ default: 5 }, { type: "bucket", burst: 1 }), ["/rate"]);
  assertEquals(pathsWhilePolluted({ required: false }, { type: "bucket", burst: 1 }), ["/rate"]);
});
