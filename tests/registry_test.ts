import { assert, assertEquals, assertFalse, assertStrictEquals, assertStringIncludes, assertThrows } from "@std/assert";
import {
  type BuildContext,
  ConfigError,
  defineLimiter,
  type Duration,
  type Field,
  type LimiterConfig,
  type LimiterDefinition,
  type LimiterFields,
  type LimiterInputs,
  type LimiterOptions,
  LimiterRegistry,
  limiters,
  type LoadConfigOptions,
  type OptionsInput,
  type RateLimiter,
} from "@workqueue/core";
import { Ajv2020 } from "ajv/dist/2020.js";
import { builtIns } from "../docs/generate/built_ins.ts";
import { suggest } from "../lib/base/suggest.ts";
import { assertType, HandClock, issuesOf, pathsOf, type Same, whilePolluted } from "./helpers.ts";

const BUILT_INS = builtIns.map(({ example }) => example.type);
const TYPES = BUILT_INS.map((type) => `"${type}"`).join(", ");

const CONSTANT: RateLimiter = { when: () => 7, forget() {}, numRequeues: () => 0 };

/** A type of limiter with these options, which writes down what it is created with. */
function spy<const F extends LimiterFields>(options: F, type = "spy") {
  const created: { options: LimiterOptions<F>; context: BuildContext }[] = [];
  const definition = defineLimiter({
    type,
    description: "Writes down what it is created with.",
    options,
    create: (options, context) => {
      created.push({ options, context });
      return CONSTANT;
    },
  });
  const registry = limiters.extend().register(definition);
  return {
    created,
    definition,
    registry,
    /** Builds one from options that the types may not allow. */
    build: (config: object) => registry.build({ type, ...config } as { type: "spy" }),
  };
}

/** The definition of a limiter, of which a test may spoil a part. */
function parts(spoilt: object): LimiterDefinition {
  return { type: "custom", description: "", options: {}, create: () => CONSTANT, ...spoilt };
}

Deno.test("the default registry has the built-in limiters", () => {
  assertEquals(limiters.types().toSorted(), BUILT_INS.toSorted());
  for (const type of BUILT_INS) {
    assert(limiters.has(type));
    assertEquals(limiters.get(type)?.type, type);
    assertFalse(limiters.get(type)?.description === "");
  }
  for (const type of ["", "Bucket", "__proto__", "constructor", "toString"]) {
    assertFalse(limiters.has(type));
    assertEquals(limiters.get(type), undefined);
  }
});

Deno.test("every built-in limiter is built from its config", () => {
  const context = { clock: new HandClock() };
  const cases: [config: LimiterConfig, delays: number[]][] = [
    [{ type: "bucket", rate: 10, burst: 2 }, [0, 0, 100]],
    [{ type: "exponential", baseDelay: "5ms", maxDelay: "15ms" }, [5, 10, 15]],
    [{ type: "fast-slow", fastDelay: 1, slowDelay: "1m", maxFastAttempts: 2 }, [1, 1, 60_000]],
    [{
      type: "max-of",
      limiters: [{ type: "bucket", rate: 10, burst: 1 }, { type: "exponential", baseDelay: 60, maxDelay: 1000 }],
    }, [60, 120, 240]],
    [{ type: "max-wait", limiter: { type: "exponential", baseDelay: 1, maxDelay: 100 }, maxDelay: 3 }, [1, 2, 3]],
  ];
  for (const [config, delays] of cases) {
    const limiter = limiters.build<string>(config, context);
    assertEquals(delays.map(() => limiter.when("a")), delays, JSON.stringify(config));
  }
});

Deno.test("each build makes a new limiter", () => {
  const config: LimiterConfig = { type: "exponential", baseDelay: 1, maxDelay: 2 };
  const [one, two] = [limiters.build(config), limiters.build(config)];
  one.when("a");
  assertEquals([one.numRequeues("a"), two.numRequeues("a")], [1, 0]);
});

Deno.test("register, unregister, has, get and types agree with each other", () => {
  const registry = new LimiterRegistry();
  assertEquals(registry.types(), []);
  const [one, two] = [parts({ type: "one" }), parts({ type: "two" })];
  assertStrictEquals(registry.register(one), registry);
  registry.register(two);
  assertEquals(registry.types(), ["one", "two"]);
  assertStrictEquals(registry.get("one"), one);
  assert(registry.unregister("one"));
  assertFalse(registry.unregister("one"));
  assertEquals([registry.has("one"), registry.get("one"), registry.has("two")], [false, undefined, true]);
  assertEquals(registry.types(), ["two"]);
  registry.register(one);
  assertEquals(registry.types(), ["two", "one"]);
});

Deno.test("what types() returned is a copy", () => {
  const registry = new LimiterRegistry().register(parts({}));
  registry.types().pop();
  assertEquals(registry.types(), ["custom"]);
});

Deno.test("a type is registered once, and the first one stays", () => {
  const first = parts({});
  const registry = new LimiterRegistry().register(first);
  const { message } = assertThrows(() => registry.register(parts({})), TypeError);
  assertEquals(message, 'Cannot register limiter as the type "custom" is registered already');
  assertStrictEquals(registry.get("custom"), first);
});

Deno.test("a limiter that was built outlives its type", () => {
  const registry = limiters.extend();
  const limiter = registry.build({ type: "exponential", baseDelay: 1, maxDelay: 2 });
  registry.unregister("exponential");
  assertEquals(limiter.when("a"), 1);
  assertEquals(pathsOf(() => registry.build({ type: "exponential", baseDelay: 1, maxDelay: 2 })), ["/type"]);
});

Deno.test("extend() copies: a change of the one does not show in the other", () => {
  const base = new LimiterRegistry().register(parts({ type: "a" }));
  const more = base.extend().register(parts({ type: "b" }));
  base.register(parts({ type: "c" })).unregister("a");
  assertEquals(more.types(), ["a", "b"]);
  assertEquals(base.types(), ["c"]);
  assertEquals(limiters.types().length, BUILT_INS.length);
});

Deno.test("use() lets a plugin register what it has, at once", () => {
  const registry = limiters.extend();
  const plugin = (registry: LimiterRegistry) =>
    void registry.register(parts({ type: "a" })).register(parts({ type: "b" }));
  assertStrictEquals(registry.use(plugin), registry);
  assertEquals(registry.types(), [...BUILT_INS, "a", "b"]);
  assertEquals(registry.build({ type: "b" }).when("x"), 7);
});

Deno.test("use() passes on what the plugin throws", () => {
  const failure = new Error("no");
  const use = () => {
    throw failure;
  };
  assertStrictEquals(assertThrows(() => new LimiterRegistry().use(use)), failure);
});

/** For each kind of option: what it takes and what `create` gets of it; what it refuses and what is said of it. */
const KINDS: {
  field: Field;
  good: [given: unknown, value?: unknown][];
  bad: unknown[];
  rule: string;
  /** Values that are refused, though a JSON Schema cannot say so: bounds of durations that are texts. */
  beyondSchema?: unknown[];
}[] = [
  {
    field: { kind: "duration", description: "" },
    good: [
      [0],
      [250],
      [0.5],
      ["250ms", 250],
      ["1h30m", 5_400_000],
      ["+1s", 1000],
      ["0", 0],
      [".5s", 500],
      ["12µs", 0.012],
      ["0s", 0],
      ["10m", 600_000],
      ["1.0s", 1000],
      ["1.5s", 1500],
      [".05s", 50],
    ],
    bad: [-1, "", "5", "1d", "1s ", "-1s", "-0", "-0s", "-.1ns", " 1s", true, null, [1], {}, "1".repeat(99) + "ms"],
    rule: 'must be a duration such as "250ms", "1h30m" or a number of milliseconds of at least 0 ms',
  },
  {
    field: { kind: "duration", description: "", min: 100, max: 60_000 },
    good: [[100], ["100ms", 100], ["1m", 60_000], [60_000]],
    bad: [99, 60_001, "soon"],
    beyondSchema: ["99ms", "61s", "0"],
    rule: 'must be a duration such as "250ms", "1h30m" or a number of milliseconds from 100 to 60000 ms',
  },
  {
    field: { kind: "duration", description: "", min: -1000 },
    good: [[-1000], ["-1s", -1000], ["-1ns", -1e-6], [5]],
    bad: [-1001, "--1s"],
    beyondSchema: ["-1001ms"],
    rule: 'must be a duration such as "250ms", "1h30m" or a number of milliseconds of at least -1000 ms',
  },
  {
    field: { kind: "integer", description: "" },
    good: [[0], [-5], [Number.MAX_SAFE_INTEGER], [Number.MIN_SAFE_INTEGER]],
    bad: [0.5, 2 ** 53, -(2 ** 53), "1", null, true, [], {}],
    rule: "must be an integer",
  },
  {
    field: { kind: "integer", description: "", min: 0 },
    good: [[0], [1]],
    bad: [-1, 1.5],
    rule: "must be a non-negative integer",
  },
  {
    field: { kind: "integer", description: "", min: 1 },
    good: [[1]],
    bad: [0, -1],
    rule: "must be a positive integer",
  },
  {
    field: { kind: "integer", description: "", min: 3 },
    good: [[3]],
    bad: [2],
    rule: "must be an integer of at least 3",
  },
  {
    field: { kind: "integer", description: "", max: 3 },
    good: [[3], [-9]],
    bad: [4],
    rule: "must be an integer of at most 3",
  },
  {
    field: { kind: "integer", description: "", min: 1, max: 3 },
    good: [[1], [3]],
    bad: [0, 4, 1.5, "1"],
    rule: "must be an integer from 1 to 3",
  },
  {
    field: { kind: "integer", description: "", min: 0, max: 3 },
    good: [[0], [3]],
    bad: [-1, 4],
    rule: "must be an integer from 0 to 3",
  },
  {
    field: { kind: "number", description: "" },
    good: [[0], [-5.5], [1e300], [-Number.MAX_VALUE], [Number.MAX_VALUE]],
    bad: ["1", null, true, [], {}, Infinity, -Infinity],
    rule: "must be a finite number",
  },
  {
    field: { kind: "number", description: "", min: 0 },
    good: [[0], [0.1]],
    bad: [-0.1, Infinity],
    rule: "must be a non-negative finite number",
  },
  {
    field: { kind: "number", description: "", min: 0, infinite: true },
    good: [[0], [0.1], [Infinity]],
    bad: [-0.1, -Infinity],
    rule: "must be a non-negative number",
  },
  {
    field: { kind: "number", description: "", min: 1 },
    good: [[1]],
    bad: [0.9],
    rule: "must be a finite number of at least 1",
  },
  {
    field: { kind: "number", description: "", max: 1 },
    good: [[1], [-1e9]],
    bad: [1.1],
    rule: "must be a number of at most 1",
  },
  {
    field: { kind: "number", description: "", min: -1, max: 1 },
    good: [[-1], [1], [0.5]],
    bad: [-1.1, 1.1],
    rule: "must be a number from -1 to 1",
  },
  {
    field: { kind: "boolean", description: "" },
    good: [[true], [false]],
    bad: [0, "true", null, []],
    rule: "must be true or false",
  },
  {
    field: { kind: "string", description: "" },
    good: [[""], ["text"], ["x".repeat(9999)], ["😀"]],
    bad: [0, null, [], {}, true],
    rule: "must be a string",
  },
  {
    field: { kind: "string", description: "", minLength: 1 },
    good: [["a"]],
    bad: [""],
    rule: "must be a string of at least 1 characters",
  },
  {
    field: { kind: "string", description: "", minLength: 2, maxLength: 3 },
    good: [["ab"], ["abc"], ["😀😀😀"]],
    bad: ["a", "abcd", 12, "😀"],
    rule: "must be a string from 2 to 3 characters",
  },
  {
    field: { kind: "enum", description: "", values: ["full", "equal"] },
    good: [["full"], ["equal"]],
    bad: ["Full", "", null, 0, ["full"]],
    rule: 'must be one of "full", "equal"',
  },
];

const inWords = (value: unknown) =>
  value !== null && typeof value === "object" ? Array.isArray(value) ? "an array" : "an object" : undefined;

for (const { field, good, bad, beyondSchema = [], rule } of KINDS) {
  const name = JSON.stringify({ ...field, description: undefined });

  Deno.test(`an option declared as ${name} takes what it says and nothing else`, () => {
    const { build, created } = spy({ x: field });
    for (const [given, value = given] of good) {
      build({ x: given });
      assertEquals(created.pop()?.options, { x: value });
    }
    for (const given of [...bad, ...beyondSchema, NaN, Symbol("x"), () => 1, 1n, new Date(0), new Map()]) {
      const [issue, ...others] = issuesOf(() => build({ x: given }));
      assertEquals([issue?.path, others], ["/x", []]);
      assertStringIncludes(issue!.message, `'x' ${rule}: received `);
      if (inWords(given) !== undefined) assertStringIncludes(issue!.message, inWords(given)!);
    }
    assertEquals(created, []);
  });

  Deno.test(`an option declared as ${name} may be left out where it has a default or is not required`, () => {
    const missing = issuesOf(() => spy({ x: { ...field, description: "What x is." } }).build({}));
    assertEquals(missing, [{ path: "/x", message: "'x' is missing: What x is." }]);

    const optional = spy({ x: { ...field, required: false } });
    optional.build({});
    optional.build({ x: undefined });
    assertEquals(optional.created.map(({ options }) => options.x), [undefined, undefined]);

    for (const [given, value = given] of good) {
      const withDefault = spy({ x: { ...field, default: given } as Field });
      withDefault.build({});
      withDefault.build({ x: undefined });
      withDefault.build({ x: good[0]![0] });
      const first = good[0]![1] ?? good[0]![0];
      assertEquals(withDefault.created.map(({ options }) => options.x), [value, value, first]);
    }
  });

  Deno.test(`an option declared as ${name} cannot have a default that breaks its rule`, () => {
    for (const value of [...bad, ...beyondSchema, NaN, undefined]) {
      const define = () => spy({ x: { ...field, default: value } as Field });
      const ErrorClass = typeof value === "number" ? RangeError : TypeError;
      const { message } = assertThrows(define, ErrorClass);
      assertStringIncludes(message, `Cannot define limiter "spy" as 'x.default' ${rule}: received `);
    }
  });

  Deno.test(`the JSON Schema of an option declared as ${name} agrees with build`, () => {
    const { registry } = spy({ x: field });
    const validate = compile(registry);
    for (const [x] of good) assert(validate({ type: "spy", x }), JSON.stringify(x));
    for (const x of bad) assertFalse(validate({ type: "spy", x }), JSON.stringify(x));
    for (const x of beyondSchema) assert(validate({ type: "spy", x }), "a schema cannot say that");
    assertFalse(validate({ type: "spy" }));
    assert(compile(spy({ x: { ...field, required: false } }).registry)({ type: "spy" }));
    assert(compile(spy({ x: { ...field, default: good[0]![0] } as Field }).registry)({ type: "spy" }));
  });

  Deno.test(`the JSON Schema of an option declared as ${name} has its description and its default`, () => {
    const [preset] = good[0]!;
    const { registry } = spy({ x: { ...field, description: "What it does.", default: preset } as Field });
    const { description, default: shown } = variants(registry).at(-1)!.then.properties["x"]!;
    assertEquals([description, shown], ["What it does.", preset]);
  });
}

/** What the registry's schema says of each type of limiter. */
function variants(registry: LimiterRegistry) {
  type Property = { const?: string; description?: string; default?: unknown };
  type Variant = { description: string; required: string[]; properties: Record<string, Property> };
  const { $defs } = registry.jsonSchema() as {
    $defs: { limiter: { properties: { type: { anyOf: Property[] } }; allOf: { then: Variant }[] } };
  };
  const { properties, allOf } = $defs.limiter;
  return allOf.map(({ then }, i) => ({ type: properties.type.anyOf[i]!, then }));
}

/** The function that tells whether a config is valid by the registry's schema. */
function compile(registry: LimiterRegistry): (config: unknown) => boolean {
  // Strict numbers would be finite ones: that is for the schema to say.
  return new Ajv2020({ strict: true, allowUnionTypes: true, strictNumbers: false }).compile(registry.jsonSchema());
}

Deno.test("numbers are finite, but for one whose declaration says otherwise", () => {
  const { build, created } = spy({ rate: { kind: "number", description: "", min: 0, infinite: true } });
  build({ rate: Infinity });
  assertEquals(created[0]?.options, { rate: Infinity });
  const cases: [field: Field, value: number][] = [
    [{ kind: "number", description: "" }, Infinity],
    [{ kind: "number", description: "" }, -Infinity],
    [{ kind: "number", description: "", min: 0 }, Infinity],
    [{ kind: "number", description: "", infinite: false }, Infinity],
    [{ kind: "number", description: "", infinite: true }, -Infinity],
    [{ kind: "number", description: "", infinite: true, max: 9 }, Infinity],
    [{ kind: "number", description: "", max: 9 }, Infinity],
    [{ kind: "duration", description: "" }, Infinity],
    [{ kind: "integer", description: "" }, Infinity],
  ];
  for (const [field, x] of cases) {
    const [issue] = issuesOf(() => spy({ x: field }).build({ x }));
    assertStringIncludes(issue!.message, `received ${x}`);
  }
});

Deno.test("an option that is a limiter is handed to create built", () => {
  const { build, created } = spy({ inner: { kind: "limiter", description: "" } });
  build({ inner: { type: "exponential", baseDelay: 3, maxDelay: 9 } });
  const { inner } = created[0]!.options;
  assertEquals([inner.when("a"), inner.when("a")], [3, 6]);

  for (const x of [null, 5, true, [], [{ type: "bucket" }], new Map(), () => CONSTANT]) {
    const [issue] = issuesOf(() => build({ inner: x }));
    assertEquals(issue?.path, "/inner");
    assertStringIncludes(issue!.message, "'inner' must be a limiter or the name of one: received ");
  }
  assertEquals(issuesOf(() => build({})), [{ path: "/inner", message: "'inner' is missing: " }]);
  assertEquals(created.length, 1);
});

Deno.test("an option that is a list of limiters is handed to create built, in its order", () => {
  const { build, created } = spy({
    some: { kind: "limiters", description: "", minItems: 2 },
    any: { kind: "limiters", description: "", required: false },
  });
  const constant = (delay: number) => ({ type: "fast-slow", fastDelay: delay, slowDelay: 0, maxFastAttempts: 9 });
  build({ some: [constant(1), constant(2)], any: [] });
  build({ some: [constant(3), constant(2), constant(1)] });
  assertEquals(created[0]!.options.some.map((limiter) => limiter.when("a")), [1, 2]);
  assertEquals(created[0]!.options.any, []);
  assertEquals(created[1]!.options.some.map((limiter) => limiter.when("a")), [3, 2, 1]);
  assertEquals(created[1]!.options.any, undefined);

  const two = "'some' must be a list of 2 to 1000 limiters: received";
  assertEquals(issuesOf(() => build({ some: [] })), [{ path: "/some", message: `${two} an array` }]);
  assertEquals(issuesOf(() => build({ some: [constant(1)] })), [{ path: "/some", message: `${two} an array` }]);
  assertEquals(issuesOf(() => build({ some: constant(1) })), [{ path: "/some", message: `${two} an object` }]);
  assertEquals(issuesOf(() => build({ some: "ab" })), [{ path: "/some", message: `${two} "ab"` }]);
  const list = "'any' must be a list of 0 to 1000 limiters: received {}";
  const good = [constant(1), constant(2)];
  assertEquals(issuesOf(() => build({ some: good, any: "x" })), [{ path: "/any", message: list.replace("{}", `"x"`) }]);
  assertEquals(issuesOf(() => build({ some: [constant(1), null, 7, constant(1)] })), [
    { path: "/some/1", message: "'some[1]' must be a limiter or the name of one: received null" },
    { path: "/some/2", message: "'some[2]' must be a limiter or the name of one: received 7" },
  ]);
});

Deno.test("a list holds a thousand limiters and no more, by the JSON Schema too", () => {
  const validate = compile(limiters);
  for (const [count, isAllowed] of [[0, false], [1, true], [1000, true], [1001, false]] as const) {
    const bucket = { type: "bucket", rate: 1, burst: 1 } as const;
    const config = { type: "max-of", limiters: new Array(count).fill(bucket) } as const;
    assertEquals(validate(config), isAllowed);
    if (isAllowed) limiters.build(config);
    else assertEquals(issuesOf(() => limiters.build(config)).map(({ path }) => path), ["/limiters"]);
  }
});

Deno.test("a definition of several options gets all of them, and those left out as their defaults", () => {
  const { build, created } = spy({
    delay: { kind: "duration", description: "", default: "1s" },
    steps: { kind: "integer", description: "", min: 1 },
    jitter: { kind: "enum", description: "", values: ["none", "full"], default: "none" },
    strict: { kind: "boolean", description: "", required: false },
  });
  build({ steps: 3 });
  build({ jitter: "full", strict: false, steps: 1, delay: 0 });
  assertEquals(created.map(({ options }) => ({ ...options })), [
    { delay: 1000, steps: 3, jitter: "none" } as never,
    { delay: 0, steps: 1, jitter: "full", strict: false },
  ]);
});

Deno.test("build reports every problem, not only the first, and creates nothing then", () => {
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
    { path: "/limiters/1/n", message: "'n' must be an integer: received 1.5" },
    { path: "/limiters/1/name", message: "'name' is missing: " },
    { path: "/limiters/2/type", message: `'type' must be one of ${TYPES}, "spy": received "spi"; did you mean "spy"?` },
    { path: "/limiters/3/rate", message: "'rate' must be a non-negative number: received -1" },
    { path: "/limiters/3/burst", message: `'burst' must be a non-negative integer: received "many"` },
  ]);
  assertEquals(created, []);
  assertEquals(
    error.message,
    "Cannot build limiter as it has 7 problems:\n  " +
      error.issues.map(({ path, message }) => `${message} (at ${path})`).join("\n  "),
  );
});

Deno.test("a single problem is the message, with its place", () => {
  const error = assertThrows(() => limiters.build({ type: "bucket", rate: 1, burst: -1 }), ConfigError);
  assertEquals(
    error.message,
    "Cannot build limiter as 'burst' must be a non-negative integer: received -1 (at /burst)",
  );
  const none = assertThrows(() => limiters.build("bucket"), ConfigError);
  assertEquals(
    none.message,
    `Cannot build limiter as 'config' must be an object, as there is no document to look up a name in: received "bucket"`,
  );
});

Deno.test("an error of very many problems lists them all, and prints some", () => {
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

Deno.test("a type that is unknown, missing or no string is reported, with a suggestion where one is close", () => {
  const cases: [type: unknown, message: string][] = [
    ["exponental", `'type' must be one of ${TYPES}: received "exponental"; did you mean "exponential"?`],
    ["Bucket", `'type' must be one of ${TYPES}: received "Bucket"; did you mean "bucket"?`],
    ["maxof", `'type' must be one of ${TYPES}: received "maxof"; did you mean "max-of"?`],
    ["kubernetes", `'type' must be one of ${TYPES}: received "kubernetes"`],
    ["", `'type' must be one of ${TYPES}: received ""`],
    ["__proto__", `'type' must be one of ${TYPES}: received "__proto__"`],
    ["constructor", `'type' must be one of ${TYPES}: received "constructor"`],
    ["toString", `'type' must be one of ${TYPES}: received "toString"`],
    [undefined, `'type' is missing: it must be one of ${TYPES}`],
    [null, "'type' must be a string: received null"],
    [5, "'type' must be a string: received 5"],
    [["bucket"], "'type' must be a string: received an array"],
    [{ toString: () => "bucket" }, "'type' must be a string: received an object"],
  ];
  for (const [type, message] of cases) {
    assertEquals(issuesOf(() => limiters.build({ type } as never)), [{ path: "/type", message }]);
  }
});

Deno.test("what is no config at all is refused", () => {
  const rule = "'config' must be a limiter or the name of one: received";
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

Deno.test("a name in a config that has no document is refused, wherever it stands", () => {
  const message = `'config' must be an object, as there is no document to look up a name in: received "other"`;
  const config = { type: "max-of", limiters: ["other", { type: "max-wait", limiter: "other", maxDelay: 1 }] } as const;
  assertEquals(issuesOf(() => limiters.build(config)), [
    { path: "/limiters/0", message },
    { path: "/limiters/1/limiter", message },
  ]);
});

Deno.test("a rule between options is checked once each option is right, and names the one to blame", () => {
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
    { path: "/high", message: `'high' must not be less than 'low' (1000 ms): received "900ms"` },
  ]);
  assertEquals(pathsOf(() => registry.build({ type: "between", low: -5, high: -9 })), ["/low", "/high"]);
});

Deno.test("a rule between options is not asked where an option is wrong or missing", () => {
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

Deno.test("a rule between options that a default breaks is reported with that default", () => {
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
    { path: "/high", message: "'high' must not be less than 'low': received 10" },
  ]);
});

/** A type of limiter whose options have names that a JSON Pointer escapes. */
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

Deno.test("paths are JSON Pointers: odd names of options are escaped", () => {
  assertEquals(pathsOf(() => ODD_NAMES.build({ type: "odd", "a/b": "x" })), ["/a~1b"]);
  assertEquals(pathsOf(() => ODD_NAMES.build({ type: "odd", "c~d": [5] })), ["/c~0d/0"]);
  assertEquals(pathsOf(() => ODD_NAMES.build({ type: "odd", "~/~": 5 })), ["/~0~1~0"]);
});

Deno.test("paths are JSON Pointers: odd names of options are escaped where a rule between options is broken", () => {
  assertEquals(pathsOf(() => ODD_NAMES.build({ type: "odd", "a/b": 1 })), ["/a~1b"]);
});

Deno.test("rule 10: a context that is none, or has an unknown member, is refused", () => {
  const cases: [context: unknown, rest: string][] = [
    [{ clok: new HandClock() }, `"clok" is not an option here; did you mean "clock"?`],
    [{ clock: 5 }, "'clock' must be a clock: received 5"],
    [{ random: 0.5 }, "'random' must be a function: received 0.5"],
    [null, "'options' must be an object: received null"],
  ];
  for (const [context, rest] of cases) {
    const build = () => limiters.build({ type: "bucket", rate: 1, burst: 1 }, context as BuildContext);
    assertEquals(assertThrows(build, Error).message, `Cannot build limiter as ${rest}`);
  }
});

Deno.test("create is told where random numbers come from", () => {
  const { registry, created } = spy({});
  const random = () => 0.5;
  registry.build({ type: "max-wait", maxDelay: 1, limiter: { type: "spy" } }, { random });
  assertStrictEquals(created[0]?.context.random, random);
});

Deno.test("create is told the clock of the build, and nothing where there is none", () => {
  const { registry, created } = spy({});
  const clock = new HandClock();
  registry.build({ type: "spy" }, { clock });
  registry.build({ type: "max-of", limiters: [{ type: "spy" } as never] }, { clock });
  registry.build({ type: "spy" });
  assertStrictEquals(created[0]?.context.clock, clock);
  assertStrictEquals(created[1]?.context.clock, clock);
  assertEquals(created[2]?.context.clock, undefined);
});

Deno.test("a create that throws is reported with its place, and its error as the cause", () => {
  const failure = new RangeError("no such curve");
  let thrown: unknown = failure;
  const registry = limiters.extend().register(parts({
    create: () => {
      throw thrown;
    },
  }));
  const config = { type: "max-of", limiters: [{ type: "bucket", rate: 1, burst: 1 }, { type: "custom" }] };
  const error = assertThrows(() => registry.build(config as never), ConfigError);
  assertEquals([...error.issues], [{ path: "/limiters/1", message: "no such curve" }]);
  assertStrictEquals(error.cause, failure);

  thrown = "a text";
  const other = assertThrows(() => registry.build({ type: "custom" }), ConfigError);
  assertEquals([...other.issues], [{ path: "", message: `creating "custom" failed` }]);
  assertEquals(other.cause, "a text");
});

Deno.test("a create that returns no limiter is reported with its place", () => {
  const { when, forget, numRequeues } = CONSTANT;
  const bad = [
    undefined,
    null,
    5,
    "limiter",
    () => 5,
    {},
    { when },
    { forget, numRequeues },
    { when, forget },
    {
      when,
      numRequeues,
    },
    { when: 5, forget, numRequeues },
    Promise.resolve(CONSTANT),
  ];
  for (const limiter of bad) {
    const registry = limiters.extend().register(parts({ create: () => limiter }));
    const config = { type: "max-wait", maxDelay: 1, limiter: { type: "custom" } };
    assertEquals(issuesOf(() => registry.build(config as never)), [
      { path: "/limiter", message: `"custom" created something that is no rate limiter` },
    ]);
  }
});

Deno.test("a limiter may be an instance of a class", () => {
  class Custom implements RateLimiter {
    when = () => 3;
    forget() {}
    numRequeues() {
      return 0;
    }
  }
  const limiter = new Custom();
  const registry = new LimiterRegistry().register(parts({ create: () => limiter }));
  assertStrictEquals(registry.build({ type: "custom" }), limiter);
});

Deno.test("a definition with a part missing or of the wrong type is refused, by defineLimiter and register alike", () => {
  const cases: [definition: unknown, message: string][] = [
    [undefined, "Cannot define limiter as 'definition' must be an object: received undefined"],
    [null, "Cannot define limiter as 'definition' must be an object: received null"],
    ["bucket", `Cannot define limiter as 'definition' must be an object: received "bucket"`],
    [parts({ type: undefined }), "Cannot define limiter as 'type' must be a non-empty string: received undefined"],
    [parts({ type: "" }), `Cannot define limiter as 'type' must be a non-empty string: received ""`],
    [parts({ type: [] }), "Cannot define limiter as 'type' must be a non-empty string: received an array"],
    [parts({ description: undefined }), "Cannot define limiter as 'description' must be a string: received undefined"],
    [parts({ description: null }), "Cannot define limiter as 'description' must be a string: received null"],
    [parts({ create: undefined }), "Cannot define limiter as 'create' must be a function: received undefined"],
    [parts({ create: CONSTANT }), "Cannot define limiter as 'create' must be a function: received an object"],
    [parts({ options: undefined }), "Cannot define limiter as 'options' must be an object: received undefined"],
    [parts({ options: null }), "Cannot define limiter as 'options' must be an object: received null"],
    [
      parts({ options: { type: { kind: "string", description: "" } } }),
      `Cannot define limiter "custom" as 'type' names the limiter and is no option`,
    ],
    [
      parts({ options: { x: { kind: "float", description: "" } } }),
      `Cannot define limiter "custom" as 'x' must have a kind of duration, integer, number, boolean, string, enum, ` +
      `limiter, limiters: received "float"`,
    ],
    [
      parts({ options: { x: "duration" } }),
      `Cannot define limiter "custom" as 'x' must have a kind of duration, integer, number, boolean, string, enum, ` +
      `limiter, limiters: received "duration"`,
    ],
    [
      parts({ options: { x: null } }),
      `Cannot define limiter "custom" as 'x' must have a kind of duration, integer, number, boolean, string, enum, ` +
      `limiter, limiters: received null`,
    ],
    [
      parts({ options: { x: { kind: "limiter", description: "", default: CONSTANT } } }),
      `Cannot define limiter "custom" as 'x.default' must be left out, as a limiter has no default: received an object`,
    ],
  ];
  const registry = new LimiterRegistry();
  for (const [definition, message] of cases) {
    assertEquals(assertThrows(() => defineLimiter(definition as LimiterDefinition), TypeError).message, message);
    assertEquals(assertThrows(() => registry.register(definition as LimiterDefinition), TypeError).message, message);
  }
  assertEquals(registry.types(), []);
});

Deno.test("an enum has to say its values when it is defined, not when it is used", () => {
  for (const values of [undefined, null, "ab"]) {
    assertThrows(
      () => defineLimiter(parts({ options: { x: { kind: "enum", description: "", values } } })),
      TypeError,
      "'x.values' must be a list of strings: received",
    );
  }
});

Deno.test("a list of limiters has no default but an empty one", () => {
  const define = (preset: unknown) =>
    defineLimiter(parts({ options: { x: { kind: "limiters", description: "", default: preset } } }));
  const rule =
    "Cannot define limiter \"custom\" as 'x.default' must be an empty list, as a limiter has no default: received";
  assertThrows(() => define(5), RangeError, `${rule} 5`);
  assertThrows(() => define("x"), TypeError, `${rule} "x"`);
  assertThrows(() => define(["x"]), TypeError, `${rule} an array`);
  define([]);
});

Deno.test("an option has to have a description", () => {
  assertThrows(
    () => defineLimiter(parts({ options: { x: { kind: "integer" } } })),
    TypeError,
    "'x.description' must be a string: received undefined",
  );
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
      { path: "/limiters", message: "'limiters' must be a list of 1 to 1000 limiters: received an array" },
    ]);
  }
});

Deno.test("defineLimiter returns the definition itself", () => {
  const definition = parts({});
  assertStrictEquals(defineLimiter(definition), definition);
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
  // side by side is no depth
  for (const depth of [0, 1, 2, 30]) {
    const side = { type: "max-of", limiters: new Array(100).fill(nest(depth)) } as LimiterConfig;
    assertEquals(limiters.build(side).when("a"), 3);
  }
});

Deno.test("rule 10: a limiter nested in exactly 32 others is not nested in more than 32", () => {
  let config: Record<string, unknown> = { type: "exponential", baseDelay: 3, maxDelay: 9 };
  for (let i = 0; i < 32; i++) config = { type: "max-wait", maxDelay: 1000, limiter: config };
  assertEquals(limiters.build(config as LimiterConfig).when("a"), 3);
});

/** The places of a config's problems while objects inherit something; `[]` if it is built all the same. */
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

Deno.test("rule 10: what other code put on Object.prototype is no part of a config", () => {
  const nothing = { when: () => 0, forget() {}, numRequeues: () => 0, get: () => undefined };
  assertEquals(pathsWhilePolluted(nothing, { type: "bucket", rate: 1, burst: 1 }), []);
  assertEquals(pathsWhilePolluted({ rate: 1 }, { type: "bucket", burst: 1 }), ["/rate"]);
  assertEquals(pathsWhilePolluted({ limiters: [] }, { type: "max-of" }), ["/limiters"]);
  assertEquals(pathsWhilePolluted({ limiter: "x" }, { type: "max-wait", maxDelay: 1 }), ["/limiter"]);
  assertEquals(pathsWhilePolluted({ type: "bucket" }, { rate: 1, burst: 1 }), ["/type"]);
});

Deno.test("rule 10: what other code put on Object.prototype is no part of a declaration", () => {
  assertEquals(pathsWhilePolluted({ default: 5 }, { type: "bucket", burst: 1 }), ["/rate"]);
  assertEquals(pathsWhilePolluted({ required: false }, { type: "bucket", burst: 1 }), ["/rate"]);
});

Deno.test("the JSON Schema of the built-in limiters agrees with build", () => {
  const validate = compile(limiters);
  const good: LimiterConfig[] = [
    { type: "bucket", rate: 0.5, burst: 0 },
    { type: "exponential", baseDelay: "5ms", maxDelay: 1000 },
    { type: "fast-slow", fastDelay: 0, slowDelay: "1h", maxFastAttempts: 3 },
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

Deno.test("the JSON Schema of lists of limiters has the least number that build asks for", () => {
  const { registry } = spy({
    any: { kind: "limiters", description: "" },
    two: { kind: "limiters", description: "", minItems: 2 },
  });
  const validate = compile(registry);
  const limiter = { type: "bucket", rate: 1, burst: 1 };
  assert(validate({ type: "spy", any: [], two: [limiter, limiter] }));
  assertFalse(validate({ type: "spy", any: [], two: [limiter] }));
});

Deno.test("the JSON Schema describes every type that is registered now, for editors", () => {
  const { registry } = spy({
    pace: { kind: "duration", description: "How fast.", default: "1s" },
    mode: { kind: "enum", description: "Which way.", values: ["up", "down"] },
  });
  const schema = registry.jsonSchema();
  assertEquals(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  const all = variants(registry);
  assertEquals(all.map(({ type }) => type.const), [...BUILT_INS, "spy"]);
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
  assertEquals(variants(registry).length, BUILT_INS.length);
});

Deno.test("a known name that is close to the one given is suggested, the closest and first of them", () => {
  const cases: [given: string, known: string[], suggested: string | undefined][] = [
    ["brust", ["rate", "burst"], "burst"],
    ["RATE", ["rate", "burst"], "rate"],
    ["maxdelay", ["baseDelay", "maxDelay"], "maxDelay"],
    ["limiter", ["limiters"], "limiters"],
    ["abcd", ["abxy", "abcx"], "abcx"],
    ["abcd", ["abce", "abcf"], "abce"],
    ["abcd", ["abxy"], "abxy"], // two letters off
    ["abcd", ["axyz"], undefined], // three
    ["abcdefghi", ["abcdefxyz"], "abcdefxyz"], // three of nine
    ["abcdefghi", ["abcdewxyz"], undefined], // four
    ["abcdefg", ["abcdxyz"], undefined], // three of seven
    ["abxxcd", ["abcd"], "abcd"], // two letters too many
    ["abcd", ["abxxcd"], "abxxcd"], // two too few
    ["abcd", ["ABCD"], "ABCD"],
    ["kubernetes", ["rate", "burst"], undefined],
    ["ab", ["xy"], undefined], // nothing is left of it
    ["a", ["b"], undefined],
    ["", ["rate"], undefined],
    ["abc", [], undefined],
    ["x".repeat(40), ["x".repeat(39)], "x".repeat(39)],
    ["x".repeat(39), ["x".repeat(40)], "x".repeat(40)],
    ["x".repeat(41), ["x".repeat(40)], undefined], // no person's misspelling
    ["x".repeat(40), ["x".repeat(41)], undefined],
    ["x", new Array(201).fill("xx"), undefined],
    ["x", new Array(200).fill("xx"), "xx"],
    [`a"c`, [`a"b`], `a"b`],
  ];
  for (const [given, known, suggested] of cases) {
    const expected = suggested === undefined ? "" : `; did you mean ${JSON.stringify(suggested)}?`;
    assertEquals(suggest(given, known), expected, `${given} of ${known.slice(0, 3)}`);
  }
});

// What follows is checked by the compiler.

const LINEAR = {
  step: { kind: "duration", description: "" },
  max: { kind: "integer", description: "", default: 3 },
  scale: { kind: "number", description: "", required: false },
  label: { kind: "string", description: "" },
  strict: { kind: "boolean", description: "" },
  mode: { kind: "enum", description: "", values: ["up", "down"] },
  inner: { kind: "limiter", description: "" },
  others: { kind: "limiters", description: "", required: false },
} as const satisfies LimiterFields;

Deno.test("types: create gets its options checked, as the declarations say", () => {
  assertType<
    Same<LimiterOptions<typeof LINEAR>, {
      readonly step: number;
      readonly max: number;
      readonly scale: number | undefined;
      readonly label: string;
      readonly strict: boolean;
      readonly mode: "up" | "down";
      readonly inner: RateLimiter;
      readonly others: readonly RateLimiter[] | undefined;
    }>
  >();
  const definition = defineLimiter({
    type: "linear",
    description: "",
    options: LINEAR,
    check(options) {
      assertType<Same<typeof options.step, number>>();
      assertType<Same<typeof options.mode, "up" | "down">>();
      // @ts-expect-error: no limiter is built yet
      return options.inner;
    },
    create(options, context) {
      assertType<Same<typeof options, LimiterOptions<typeof LINEAR>>>();
      assertType<Same<typeof context, BuildContext>>();
      // @ts-expect-error: there is no such option
      return options.stepp ?? CONSTANT;
    },
  });
  assertType<Same<typeof definition.type, "linear">>();
});

Deno.test("types: options are declared inline, without 'as const'", () => {
  const definition = defineLimiter({
    type: "inline",
    description: "",
    options: {
      mode: { kind: "enum", values: ["up", "down"], description: "" },
      n: { kind: "integer", description: "", default: 1 },
    },
    create({ mode, n }) {
      assertType<Same<typeof mode, "up" | "down">>();
      assertType<Same<typeof n, number>>();
      return CONSTANT;
    },
  });
  assertEquals(new LimiterRegistry().register(definition).build({ type: "inline", mode: "up" }).when("a"), 7);
});

Deno.test("types: one may write what the declarations say, and leave out what has a default", () => {
  type Input = OptionsInput<typeof LINEAR, LimiterInputs>;
  assertType<Same<Input["step"], Duration>>();
  assertType<Same<Input["max"], number | undefined>>();
  assertType<Same<Input["mode"], "up" | "down">>();
  assertType<Same<Input["inner"], LimiterConfig>>();
  const input: Input = { step: "1s", label: "", strict: true, mode: "up", inner: "name" };
  // @ts-expect-error: 'step' is missing
  const missing: Input = { label: "", strict: true, mode: "up", inner: "name" };
  // @ts-expect-error: there is no such mode
  const wrong: Input = { ...input, mode: "sideways" };
  assertEquals([input.step, missing.step, wrong.step], ["1s", undefined, "1s"]);
});

Deno.test("types: a kind that does not exist, a default of a limiter and a create of no limiter do not compile", () => {
  // @ts-expect-error: there is no such kind
  const kind: Field<"limiter"> = { kind: "float", description: "" };
  // @ts-expect-error: a limiter has no default
  const preset: Field<"limiter"> = { kind: "limiter", description: "", default: "x" };
  for (const x of [kind, preset]) assertThrows(() => defineLimiter(parts({ options: { x } })), TypeError);
  // @ts-expect-error: that is no rate limiter
  defineLimiter({ type: "x", description: "", options: {}, create: () => 5 });
});

Deno.test("types: a custom limiter in a built-in one compiles, and a misspelt option beside it or around it does not", () => {
  const registry = limiters.extend().register(parts({
    type: "mine",
    options: { step: { kind: "duration", description: "" }, of: { kind: "limiters", description: "", default: [] } },
  }));
  const mine = { type: "mine", step: "1s" } as const;
  const good = [
    registry.build({ type: "max-wait", maxDelay: "1m", limiter: { type: "mine", step: "1s" } }),
    registry.build({
      type: "max-of",
      limiters: [mine, { type: "bucket", rate: 1, burst: 1 }, { type: "mine", step: 1 }],
    }),
    registry.build({ type: "mine", step: 1, of: [{ type: "max-wait", maxDelay: 1, limiter: mine }] }),
    registry.build<string>({
      type: "max-wait",
      maxDelay: 1,
      limiter: { type: "max-wait", maxDelay: 1, limiter: mine },
    }),
  ];
  for (const limiter of good) assert(limiter.when("a") <= 7);
  const typed: RateLimiter<string> = registry.build({ type: "max-wait", maxDelay: 1, limiter: mine });
  assertEquals(typed.when("a"), 1);
  const bad = [
    // @ts-expect-error: it is called maxDelay
    () => registry.build({ type: "max-wait", maxDely: "1m", limiter: mine }),
    // @ts-expect-error: maxDelay is missing
    () => registry.build({ type: "max-wait", limiter: mine }),
    // @ts-expect-error: it is called burst
    () => registry.build({ type: "max-of", limiters: [mine, { type: "bucket", rate: 1, brust: 1 }] }),
    // @ts-expect-error: burst is missing
    () => registry.build({ type: "max-of", limiters: [mine, { type: "bucket", rate: 1 }] }),
    // @ts-expect-error: no limiter
    () => registry.build({ type: "max-of", limiters: [mine, 5] }),
    // @ts-expect-error: no duration, a level deeper
    () => registry.build({ type: "max-of", limiters: [{ type: "max-wait", maxDelay: true, limiter: mine }] }),
    // @ts-expect-error: the type is missing
    () => registry.build({ type: "max-wait", maxDelay: "1m", limiter: { step: "1s" } }),
  ];
  for (const build of bad) assertThrows(build, ConfigError);
});

Deno.test("types: what is optional may be undefined too", () => {
  const input: OptionsInput<typeof LINEAR, LimiterInputs> = {
    step: 1,
    label: "",
    strict: true,
    mode: "up",
    inner: "name",
    max: undefined,
    scale: undefined,
    others: undefined,
  };
  const context: BuildContext = { clock: undefined, random: undefined };
  const load: LoadConfigOptions = { limiters: undefined, metrics: undefined, ...context };
  const field: Field = { kind: "number", description: "", min: undefined, max: undefined, required: undefined };
  assertEquals([input.max, load.clock, field.min], [undefined, undefined, undefined]);
  assertEquals(limiters.build({ type: "bucket", rate: 1, burst: 1 }, context).when("a"), 0);
});

Deno.test("types: a misspelt option of a built-in limiter does not compile, and one of a custom limiter does", () => {
  const registry = limiters.extend().register(parts({}));
  // @ts-expect-error: it is called burst
  const misspelt = () => limiters.build({ type: "bucket", rate: 1, brust: 1 });
  // @ts-expect-error: an option too many
  const tooMany = () => limiters.build({ type: "bucket", rate: 1, burst: 1, clock: 5 });
  // @ts-expect-error: burst is missing
  const missing = () => limiters.build({ type: "bucket", rate: 1 });
  // @ts-expect-error: a number is wanted
  const wrongType = () => limiters.build({ type: "bucket", rate: "1/s", burst: 1 });
  const backoff = { type: "exponential", baseDelay: 1, maxDely: 2 } as const;
  // @ts-expect-error: a misspelt option of a limiter inside another
  const inside = () => limiters.build({ type: "max-of", limiters: [backoff] });
  // @ts-expect-error: the type is missing
  const typeless = () => limiters.build({ rate: 1, burst: 1 });
  // no literal type, so that nothing can be said of the options
  const vague = (type: string) => limiters.build({ type, rate: 1 });
  for (const build of [misspelt, tooMany, missing, wrongType, inside, typeless]) assertThrows(build, ConfigError);
  assertThrows(() => vague("bucket"), ConfigError);

  const custom = registry.build({ type: "custom" });
  assertType<Same<typeof custom, RateLimiter>>();
  const typed = limiters.build<number>({ type: "exponential", baseDelay: "1s", maxDelay: "1m" });
  assertType<Same<typeof typed, RateLimiter<number>>>();
  assertEquals(custom.when("a"), 7);
});
