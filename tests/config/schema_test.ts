/**
 * Tests that the JSON Schema and `loadConfig` agree on documents. `WORKQUEUE_RUNS` and `WORKQUEUE_SEED` work as in
 * `fuzz_test.ts`.
 */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import process from "node:process";
import {
  ConfigError,
  type ConfigIssue,
  defineLimiter,
  disciplines,
  type Field,
  limiters,
  loadConfig,
  parseDuration,
  throttles,
} from "@workqueue/core";
import { configSchema, queueOptions } from "@workqueue/core/config";
import { DocumentMaker, HOSTILE_VALUES, type Json } from "./document_maker.ts";

/** Number of documents. Of bugs planted in readers and schemas, the rarest was found after 630 documents. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 3000);
const SEED = Number(process.env["WORKQUEUE_SEED"] ?? Date.now() % 2 ** 31);

/** Limiter with options of kinds and ranges that no built-in limiter has. */
const custom = defineLimiter({
  type: "custom",
  description: "Waits for nothing.",
  options: {
    name: { kind: "string", minLength: 2, maxLength: 3, description: "A text." },
    mode: { kind: "enum", values: ["full", "equal"], default: "full", description: "One of two." },
    strict: { kind: "boolean", required: false, description: "Yes or no." },
    any: { kind: "number", required: false, description: "Any number." },
    part: { kind: "number", min: -1, max: 1, default: 0, description: "A number." },
    steps: { kind: "integer", default: 1, description: "A whole number." },
    debt: { kind: "duration", min: -1000, max: 1000, default: 0, description: "A duration that may be negative." },
    speed: { kind: "rate", required: false, description: "A rate." },
    pauses: { kind: "durations", min: 1, max: 60_000, default: ["1s"], description: "Durations." },
    others: { kind: "limiters", minItems: 2, required: false, description: "A list." },
  },
  create: () => ({ when: () => 0, forget() {}, numRequeues: () => 0 }),
});
const registry = limiters.extend().register(custom);

// `strictNumbers: false`, because the schema must reject infinite numbers itself, without help from the validator.
const isValid = new Ajv2020({ strict: true, strictNumbers: false }).compile(
  configSchema({ limiters: registry }),
);

const BUCKET = { type: "bucket", rate: 1, burst: 1 };

/**
 * Problems that `loadConfig` finds but a schema can't describe. Each problem has an example document, and a pattern
 * that matches its message.
 */
const BEYOND_SCHEMA: Record<string, {
  example: Json;
  message: RegExp;
  is?: (value: unknown) => boolean;
  /** Whether `loadConfig` skips the parts inside a value that has this problem. */
  endsReading?: true;
}> = {
  "a name has to be that of a limiter": {
    example: { queues: { a: { limiter: "nobody" } } },
    message: /^".*" is not the name of a (limiter|throttle) here/,
  },
  "names must not lead round in a circle": {
    example: { limiters: { a: "b", b: "a" } },
    message: /^(limiters|throttles) must not refer to each other in a circle/,
  },
  "one option must not be less than another": {
    example: { limiters: { a: { type: "exponential", baseDelay: 2, maxDelay: 1 } } },
    message: /^'maxDelay' must not be less than 'baseDelay'/,
  },
  "a throttle must not have the name of a limiter with a bucket": {
    example: { limiters: { a: BUCKET }, throttles: { a: BUCKET } },
    message: /^".*" is the name of a limiter with a bucket/,
  },
  "one option must be between two others": {
    example: { throttles: { a: { type: "aimd", min: 1, max: 5, initial: 6 } } },
    message: /^'initial' must be between 'min' and 'max'/,
  },
  "the largest limit must not be less than the smallest": {
    example: { throttles: { a: { type: "aimd", min: 2, max: 1 } } },
    message: /^'max' must not be less than 'min'/,
  },
  "one option must be greater than another": {
    example: { queues: { a: { discipline: { type: "priority", min: 1, max: 1 } } } },
    message: /^'max' must be greater than 'min'/,
  },
  "a duration that is a text has bounds": {
    example: { queues: { a: { timeout: "0.5ms" } } },
    message: / must be a duration .* ms, got "/,
    is: isDuration,
  },
  "a negative duration that is a text has bounds where it is allowed": {
    example: { limiters: { a: { type: "custom", name: "ab", debt: "-1001ms" } } },
    message: /^'debt' must be a duration .* ms, got "-/,
    is: (value) => isDuration(String(value).slice(1)),
  },
  "limiters are nested to a depth": {
    example: { limiters: { a: nested(34) } },
    message: / must not be nested in more than 32 other limiters$/,
    endsReading: true,
  },
  "a limiter asks a number of others": {
    example: { limiters: { a: { type: "max-of", limiters: Array(6).fill(listOf(999, BUCKET)) } } },
    message: / is one of more than 5000 in one limiter$/,
    endsReading: true,
  },
  "a limiter asks a number of others, by name too": {
    example: { limiters: { a: listOf(999, BUCKET), b: listOf(6, "a") } },
    message: /^".*" uses more than 5000 limiters$/,
  },
};

function listOf(count: number, limiter: Json): Json {
  return { type: "max-of", limiters: Array(count).fill(limiter) };
}

function nested(depth: number): Json {
  return depth === 1 ? BUCKET : listOf(1, nested(depth - 1));
}

/** Reports whether a text is a non-negative duration. */
function isDuration(value: unknown): boolean {
  try {
    parseDuration(value as string);
    return !String(value).startsWith("-");
  } catch {
    return false;
  }
}

/** Returns the name of the entry in `BEYOND_SCHEMA` that matches a problem, if any. */
function beyondSchema({ path, message }: ConfigIssue, document: Json): string | undefined {
  const found = Object.entries(BEYOND_SCHEMA).find(([, { message: pattern, is = () => true }]) =>
    pattern.test(message) && is(valueAt(path, document))
  );
  return found?.[0];
}

function valueAt(path: string, document: Json): unknown {
  const keys = path.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], document);
}

function issuesOf(document: Json): readonly ConfigIssue[] {
  try {
    loadConfig(document as object, { limiters: registry });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
}

/** Checks that the schema and `loadConfig` agree on a document. */
function check(document: Json): "valid" | "invalid" | "beyond schema" {
  const issues = issuesOf(document);
  const parts = issues.map((issue) => beyondSchema(issue, document));
  const others = issues.filter((_, i) => parts[i] === undefined);
  const shown = () => `${JSON.stringify(document).slice(0, 5000)}\n${issues.map(({ message }) => message).join("\n")}`;
  if (isValid(document)) {
    assert(others.length === 0, `valid, but refused: ${shown()}`);
    return issues.length === 0 ? "valid" : "beyond schema";
  }
  const isRefused = others.length > 0 || parts.some((part) => BEYOND_SCHEMA[part!]?.endsReading);
  assert(isRefused, `not valid, but loaded but for what a schema cannot say: ${shown()}\n${errors()}`);
  return "invalid";
}

function errors(): string {
  return JSON.stringify(isValid.errors, undefined, 2);
}

for (const [part, { example }] of Object.entries(BEYOND_SCHEMA)) {
  Deno.test(`a schema cannot say that ${part}`, () => {
    assert(isValid(example), errors());
    assertEquals(issuesOf(example).map((issue) => beyondSchema(issue, example)), [part]);
  });
}

type AnyField = Field<"limiter" | "discipline" | "throttle">;

/**
 * Yields every option, with a function that returns a document whose only possible error is the given value of the
 * option.
 */
function* everyOption(): Generator<{ name: string; field: AnyField; set: (value: Json) => Json }, void, void> {
  const maker = new DocumentMaker(1, registry);
  for (const [option, field] of Object.entries(queueOptions)) {
    yield { name: option, field, set: (value) => ({ queues: { a: { [option]: value } } }) };
  }
  for (const type of registry.types()) {
    const { options } = registry.get(type)!;
    const config = { type, ...maker.options(options, [], 1) };
    if (type === "exponential") Object.assign(config, { baseDelay: 0, maxDelay: Number.MAX_VALUE });
    for (const [option, field] of Object.entries(options)) {
      yield { name: `${type}.${option}`, field, set: (value) => ({ limiters: { a: { ...config, [option]: value } } }) };
    }
  }
  for (const type of throttles.types()) {
    const { options } = throttles.get(type)!;
    const config = { type, ...maker.options(options, [], 1) };
    if ("max" in config) Object.assign(config, { min: 1, max: Number.MAX_SAFE_INTEGER, initial: undefined });
    for (const [option, field] of Object.entries(options)) {
      const set = (value: Json) => ({ throttles: { a: { ...config, [option]: value } } });
      yield { name: `${type}.${option}`, field, set };
    }
  }
  for (const type of disciplines.types()) {
    const { options } = disciplines.get(type)!;
    const config = { type, ...maker.options(options, [], 1) };
    if (type === "priority") Object.assign(config, { min: -1e9, max: 1e9 });
    for (const [option, field] of Object.entries(options)) {
      const set = (value: Json) => ({ queues: { a: { discipline: { ...config, [option]: value } } } });
      yield { name: `${type}.${option}`, field, set };
    }
  }
}

/** Returns values at and near the bounds of an option's range, as numbers and as strings. */
function edgesOf(field: AnyField): Json[] {
  const bounds = Object.values(field).filter((bound) => typeof bound === "number");
  const numbers = bounds.flatMap((bound) => [bound - 1, bound - 0.5, bound, bound + 0.5, bound + 1]);
  return [
    ...field.kind === "enum" ? field.values : [BUCKET],
    { rate: 1, burst: 1 },
    { type: "priority" },
    { a: 0.5 },
    { a: 1e-7 },
    { a: 1000 },
    { a: 1001 },
    ...numbers,
    ...numbers.map((number) => `${number}ms`),
    ...numbers.filter((number) => number > 0 && number < 10).map((number) => "😀".repeat(number)),
    ...[0, 1, 2, 3, 1000, 1001].map((length) => Array<Json>(length).fill(BUCKET)),
    ...[0, 1, 2, 3, 1000, 1001].map((length) => Array<Json>(length).fill("1s")),
    ...[...numbers, "soon", null].map((item) => ["1s", item]),
    ...numbers.flatMap((number) => [{ rate: number, burst: 1 }, { rate: 1, burst: number }]),
    ...[{ ratio: 0, minRate: 0 }, { ratio: -1, minRate: 0 }, { ratio: 0.1 }, { ratio: 1, minRate: 1, more: 1 }],
    ...[{ max: 1 }, { max: 0 }, { max: 1, maxAge: "1h" }, { max: 1, maxAge: "soon" }],
    ...[{ maxAge: 1 }, { max: 1, more: 1 }],
    ...[{ rate: 1 }, { burst: 1 }, { rate: 1, burst: 1, more: 1 }],
    ...[0, 1, 99, 100, 101].map((length) => "1ms".padStart(length, "0")),
  ];
}

/** Unusual numbers, parsed from text because a double can't represent all of them. */
const NUMBERS = ["1e999", "-1e999", "-0", "1.0", "1e2", "9007199254740991", "9007199254740991.4", "9007199254740991.6"]
  .map((number) => JSON.parse(number) as number);

Deno.test("every type and every option has a description", () => {
  for (const registry of [limiters, disciplines, throttles]) {
    for (const type of registry.types()) {
      const { description, options } = registry.get(type)!;
      for (
        const [name, text] of [
          ["", description],
          ...Object.entries(options).map(([name, field]) => [name, field.description]),
        ]
      ) {
        assert((text ?? "").length > 0, `${type} ${name}`);
      }
    }
  }
});

Deno.test("for each option, the values that the schema accepts load, and no others", () => {
  for (const { name, field, set } of everyOption()) {
    const verdicts = new Set([...HOSTILE_VALUES, ...NUMBERS, ...edgesOf(field)].map((value) => check(set(value))));
    assert(verdicts.has("valid") && verdicts.has("invalid"), `${name}: the values are no good`);
  }
});

Deno.test("thousands of randomly broken documents load if the schema accepts them, and only then", () => {
  const counts = { "valid": 0, "invalid": 0, "beyond schema": 0 };
  fc.assert(
    fc.property(fc.noShrink(fc.integer()), (seed) => {
      const maker = new DocumentMaker(seed, registry);
      const document = maker.document();
      for (let edits = maker.below(3); edits > 0; edits--) maker.edit(document, true);
      const text = JSON.stringify(document);
      counts[check(parse(maker.corrupt(text)) ?? JSON.parse(text))]++;
    }),
    { numRuns: RUNS, seed: SEED },
  );
  assert(Math.min(...Object.values(counts)) > RUNS / 100, JSON.stringify(counts)); // the documents must vary enough
});

/** Returns the parsed text, or `undefined` if the text is not JSON and a schema can't check it. */
function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

Deno.test("a misspelled type has one error, and those of the parts around it", () => {
  const unknown = { type: "exponentail", baseDelay: "5s", maxDelay: "1m" };
  for (
    const document of [
      { limiters: { retry: unknown } },
      { throttles: { api: { type: "braker" } } },
      { queues: { mail: { discipline: { type: "fare", separator: "/" } } } },
    ]
  ) {
    assertFalse(isValid(document));
    const [first, ...others] = isValid.errors!.map(({ message }) => message);
    assertEquals(first, "must be equal to one of the allowed values");
    assertEquals(others.filter((message) => message !== 'must match "else" schema'), []);
  }
});
