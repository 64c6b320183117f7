/** Tests of the values that each kind of option accepts, and of the values that `create` receives for them. */

import { assert, assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import type { Field } from "@workqueue/core";
import { issuesOf } from "../helpers.ts";
import { compile, CONSTANT, spy, variants } from "./parts.ts";

/**
 * For each kind of option: the accepted values, with the values that `create` receives for them, and the rejected
 * values, with the rule that the message states.
 */
const KINDS: {
  field: Field;
  good: [given: unknown, value?: unknown][];
  bad: unknown[];
  rule: string;
  /** Rejected values that a JSON Schema can't reject: durations in text form that are out of range. */
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
    field: { kind: "duration", description: "", infinite: true },
    good: [[Infinity], ["unlimited", Infinity], [0], ["1m", 60_000]],
    bad: [-1, "-1s", "Unlimited", "infinite", "", -Infinity, null],
    rule: 'must be a duration such as "250ms", "1h30m" or a number of milliseconds of at least 0 ms, or "unlimited"',
  },
  {
    field: { kind: "duration", description: "", infinite: true, min: 100, max: 60_000 },
    good: [[100], ["1m", 60_000]],
    bad: ["unlimited", Infinity, 99],
    rule: 'must be a duration such as "250ms", "1h30m" or a number of milliseconds from 100 to 60000 ms',
  },
  {
    field: { kind: "weights", description: "" },
    good: [[{}, new Map()], [{ a: 1, "": 0.001, "x/y": 1000 }, new Map([["a", 1], ["", 0.001], ["x/y", 1000]])]],
    bad: [5, "a", null, [], [1], true],
    rule: "must be an object of numbers from 0.001 to 1000 by name",
  },
  {
    field: { kind: "durations", description: "" },
    good: [[[], []], [["5s", 5, "1h30m", 0.5], [5000, 5, 5_400_000, 0.5]], [
      new Array(1000).fill("1s"),
      new Array(1000).fill(1000),
    ]],
    bad: [5, "5s", "unlimited", null, true, {}, { 0: "5s" }, new Array(1001).fill("1s")],
    rule: "must be a list of 0 to 1000 durations",
  },
  {
    field: { kind: "durations", description: "", minItems: 2 },
    good: [[["5s", 0], [5000, 0]]],
    bad: [[], ["5s"], null],
    rule: "must be a list of 2 to 1000 durations",
  },
  {
    field: { kind: "rate", description: "" },
    good: [
      [{ rate: 0.5, burst: 1 }, { rate: 0.5, burst: 1 }],
      [{ burst: 1_000_000, rate: 1e-6 }, { rate: 1e-6, burst: 1_000_000 }],
      [{ rate: 1e6, burst: 3 }, { rate: 1e6, burst: 3 }],
    ],
    bad: [5, "5/s", null, [], true],
    rule: "must be an object with 'rate' and 'burst'",
  },
  {
    field: { kind: "retryBudget", description: "" },
    good: [
      [{ ratio: 0.1, minRate: 1 }, { ratio: 0.1, minRate: 1 }],
      [{ minRate: 0, ratio: 0 }, { ratio: 0, minRate: 0 }],
    ],
    bad: [0.1, "10 %", null, [], true],
    rule: "must be an object with 'ratio' and 'minRate'",
  },
  {
    field: { kind: "retention", description: "" },
    good: [
      [1],
      [1_000_000],
      [{ max: 5 }, { max: 5 }],
      [{ maxAge: "1h", max: 5 }, { max: 5, maxAge: 3_600_000 }],
      [{ max: 1, maxAge: 1 }, { max: 1, maxAge: 1 }],
    ],
    bad: [0, 1.5, -1, "5", null, [], true],
    rule: "must be a positive integer, or an object with 'max' and 'maxAge'",
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
    rule: "must be a non-empty string",
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

  Deno.test(`an option declared as ${name} accepts its declared values, and no others`, () => {
    const { build, created } = spy({ x: field });
    for (const [given, value = given] of good) {
      build({ x: given });
      assertEquals(created.pop()?.options, { x: value });
    }
    for (const given of [...bad, ...beyondSchema, NaN, Symbol("x"), () => 1, 1n, new Date(0), new Map()]) {
      const [issue, ...others] = issuesOf(() => build({ x: given }));
      assertEquals([issue?.path, others], ["/x", []]);
      assertStringIncludes(issue!.message, `'x' ${rule}, got `);
      if (inWords(given) !== undefined) assertStringIncludes(issue!.message, inWords(given)!);
    }
    assertEquals(created, []);
  });

  Deno.test(`an option declared as ${name} may be omitted if it has a default or is not required`, () => {
    const missing = issuesOf(() => spy({ x: { ...field, description: "What x is." } }).build({}));
    assertEquals(missing, [{ path: "/x", message: "missing required option 'x' (what x is)" }]);

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
      assertStringIncludes(message, `Cannot define limiter "spy": 'x.default' ${rule}, got `);
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

Deno.test("each invalid weight is reported at its place, and so is a name that would reach a prototype", () => {
  const { build, registry } = spy({ x: { kind: "weights", description: "" } });
  const validate = compile(registry);
  for (const weight of [0, -1, 1e-309, 0.0009, 1001, NaN, Infinity, "1", null, {}, undefined]) {
    const [issue, ...others] = issuesOf(() => build({ x: { a: 1, "b/c": weight } }));
    assertEquals([issue?.path, others], ["/x/b~1c", []]);
    assertStringIncludes(issue!.message, "'x.b/c' must be a number from 0.001 to 1000, got ");
    if (weight !== undefined) assertFalse(validate({ type: "spy", x: { a: 1, "b/c": weight } }));
  }
  for (const name of ["__proto__", "constructor", "prototype"]) {
    const x: unknown = JSON.parse(`{ "a": 0, "${name}": 1 }`);
    assertEquals(issuesOf(() => build({ x })).map(({ path }) => path), ["/x/a", `/x/${name}`]);
    assertFalse(validate({ type: "spy", x: JSON.parse(`{ "${name}": 1 }`) }));
  }
});

Deno.test("each invalid duration in a list is reported at its place", () => {
  const { build, registry } = spy({ x: { kind: "durations", description: "" } });
  const validate = compile(registry);
  const duration = 'must be a duration such as "250ms", "1h30m" or a number of milliseconds';
  for (const bad of [-1, "-1s", "soon", "5", "unlimited", NaN, Infinity, null, ["5s"], {}, undefined]) {
    const [issue, ...others] = issuesOf(() => build({ x: ["5s", bad] }));
    assertEquals([issue?.path, others], ["/x/1", []]);
    assertStringIncludes(issue!.message, `'x[1]' ${duration} of at least 0 ms, got `);
    if (bad !== undefined) assertFalse(validate({ type: "spy", x: ["5s", bad] }), JSON.stringify(bad));
  }
  const holes = new Array(2);
  assertEquals(issuesOf(() => build({ x: [null, 5, ...holes, "x"] })).map(({ path }) => path), [
    "/x/0",
    "/x/2",
    "/x/3",
    "/x/4",
  ]);
  holes[0] = 1;
  assertEquals(issuesOf(() => build({ x: holes })).map(({ path }) => path), ["/x/1"]);

  const bounded = spy({ x: { kind: "durations", description: "", min: 100, max: 60_000 } });
  bounded.build({ x: [100, "1m"] });
  assertEquals(bounded.created[0]?.options, { x: [100, 60_000] });
  assertEquals(issuesOf(() => bounded.build({ x: [99, "1s", "61s"] })), [
    { path: "/x/0", message: `'x[0]' ${duration} from 100 to 60000 ms, got 99` },
    { path: "/x/2", message: `'x[2]' ${duration} from 100 to 60000 ms, got "61s"` },
  ]);
  const isValid = compile(bounded.registry);
  assertEquals([[100, 60_000], [99], [60_001]].map((x) => isValid({ type: "spy", x })), [true, false, false]);

  const define = () => spy({ x: { kind: "durations", description: "", default: ["1s", -1] } });
  assertThrows(define, RangeError, `Cannot define limiter "spy": 'x.default[1]' ${duration} of at least 0 ms, got -1`);
});

Deno.test("each invalid member of a retry budget is reported at its place", () => {
  const { build } = spy({ x: { kind: "retryBudget", description: "" } });
  const number = "must be a non-negative finite number";
  assertEquals(issuesOf(() => build({ x: { ratio: -1, rate: 2 } })), [
    { path: "/x/ratio", message: `'x.ratio' ${number}, got -1` },
    { path: "/x/minRate", message: `'x.minRate' ${number}, got undefined` },
    { path: "/x/rate", message: "'x.rate' must be left out, as a retry budget has only 'ratio' and 'minRate', got 2" },
  ]);
});

Deno.test("each invalid member of a retention is reported at its place", () => {
  const { build } = spy({ x: { kind: "retention", description: "" } });
  const duration = 'must be a duration such as "250ms", "1h30m" or a number of milliseconds of at least 1 ms';
  assertEquals(issuesOf(() => build({ x: { max: 0, maxAge: "0.5ms", age: 2 } })), [
    { path: "/x/max", message: "'x.max' must be a positive integer, got 0" },
    { path: "/x/maxAge", message: `'x.maxAge' ${duration}, got "0.5ms"` },
    { path: "/x/age", message: "'x.age' must be left out, as a retention has only 'max' and 'maxAge', got 2" },
  ]);
  assertEquals(issuesOf(() => build({ x: { maxAge: "1h" } })), [
    { path: "/x/max", message: "'x.max' must be a positive integer, got undefined" },
  ]);
});

Deno.test("each invalid member of a rate is reported at its place", () => {
  const { build, registry } = spy({ x: { kind: "rate", description: "" } });
  const validate = compile(registry);
  const rate = "must be a number from 0.000001 to 1000000";
  const burst = "must be an integer from 1 to 1000000";
  for (
    const [value, ...messages] of [
      [{ rate: 0, burst: 1 }, `'x.rate' ${rate}, got 0`],
      [{ rate: Infinity, burst: 1 }, `'x.rate' ${rate}, got Infinity`],
      [{ rate: "5", burst: 1 }, `'x.rate' ${rate}, got "5"`],
      [{ rate: 1, burst: 0 }, `'x.burst' ${burst}, got 0`],
      [{ rate: 1, burst: 1.5 }, `'x.burst' ${burst}, got 1.5`],
      [{ rate: 1, burst: 1e6 + 1 }, `'x.burst' ${burst}, got 1000001`],
      [{}, `'x.rate' ${rate}, got undefined`, `'x.burst' ${burst}, got undefined`],
      [{ rate: 1, burst: 1, per: "s" }, `'x.per' must be left out, as a rate has only 'rate' and 'burst', got "s"`],
    ] as const
  ) {
    const issues = issuesOf(() => build({ x: value }));
    assertEquals(issues.map(({ message }) => message), messages);
    for (const { path, message } of issues) assertEquals(path, `/x/${/x\.(\w+)/.exec(message)![1]}`);
    if (!Object.values(value).includes(Infinity)) assertFalse(validate({ type: "spy", x: value }));
  }
});

Deno.test("numbers are finite, except for an option whose declaration allows infinity", () => {
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
    assertStringIncludes(issue!.message, `got ${x}`);
  }
});

Deno.test("create receives a limiter option as a built limiter", () => {
  const { build, created } = spy({ inner: { kind: "limiter", description: "" } });
  build({ inner: { type: "exponential", baseDelay: 3, maxDelay: 9 } });
  const { inner } = created[0]!.options;
  assertEquals([inner.when("a"), inner.when("a")], [3, 6]);

  for (const x of [null, 5, true, [], [{ type: "bucket" }], new Map(), () => CONSTANT]) {
    const [issue] = issuesOf(() => build({ inner: x }));
    assertEquals(issue?.path, "/inner");
    assertStringIncludes(issue!.message, "'inner' must be a limiter or the name of one, got ");
  }
  assertEquals(issuesOf(() => build({})), [{ path: "/inner", message: "missing required option 'inner'" }]);
  assertEquals(created.length, 1);
});

Deno.test("create receives an option with a list of limiters as built limiters, in order", () => {
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

  const two = "'some' must be a list of 2 to 1000 limiters, got";
  assertEquals(issuesOf(() => build({ some: [] })), [{ path: "/some", message: `${two} an array` }]);
  assertEquals(issuesOf(() => build({ some: [constant(1)] })), [{ path: "/some", message: `${two} an array` }]);
  assertEquals(issuesOf(() => build({ some: constant(1) })), [{ path: "/some", message: `${two} an object` }]);
  assertEquals(issuesOf(() => build({ some: "ab" })), [{ path: "/some", message: `${two} "ab"` }]);
  const list = "'any' must be a list of 0 to 1000 limiters, got {}";
  const good = [constant(1), constant(2)];
  assertEquals(issuesOf(() => build({ some: good, any: "x" })), [{ path: "/any", message: list.replace("{}", `"x"`) }]);
  assertEquals(issuesOf(() => build({ some: [constant(1), null, 7, constant(1)] })), [
    { path: "/some/1", message: "'some[1]' must be a limiter or the name of one, got null" },
    { path: "/some/2", message: "'some[2]' must be a limiter or the name of one, got 7" },
  ]);
});

Deno.test("a definition with several options receives all of them, and defaults for omitted ones", () => {
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
