/**
 * How a limiter is defined, so that a registry can build it from a config.
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import { brokenRule, inspect, invalidArgument } from "../lib/base/errors.ts";
import type { Field, Fields, OptionsOf, PlainOptionsOf } from "./fields.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { isPlainObject, own, type Reader, readField, readOptions } from "./read_options.ts";

/** What a limiter is built with beside its options. */
export interface BuildContext {
  /**
   * Where time comes from.
   *
   * @default {systemClock}
   */
  readonly clock?: Clock | undefined;
}

/** A rule between options that does not hold. */
export interface BrokenRule {
  /** The option to blame. */
  readonly option: string;
  /** What it must be: `"must not be less than 'baseDelay'"`. */
  readonly rule: string;
}

/** A type of limiter: what it is called, which options it takes, and how it is made of them. */
export interface LimiterDefinition<Type extends string = string, F extends Fields = Fields> {
  /** The value of `type` in a config. */
  readonly type: Type;
  /** What the limiter does, in a sentence; shown by editors. */
  readonly description: string;
  /** The options it takes. */
  readonly options: F;
  /** Says which rule between options is broken, if any. Each option by itself was checked before. */
  check?(options: PlainOptionsOf<F>): BrokenRule | undefined;
  /** Makes the limiter of options that were checked. What it throws is reported with its place in the config. */
  create(options: OptionsOf<F>, context: BuildContext): RateLimiter;
}

/**
 * Defines a type of limiter, to be registered with {@linkcode LimiterRegistry}.
 *
 * The options are declared as plain data. Their TypeScript types in `create`, their validation and their
 * JSON Schema come from that declaration. The kinds are `"duration"`, `"integer"`, `"number"`, `"boolean"`,
 * `"string"`, `"enum"` (one of `values`), `"limiter"` and `"limiters"`; see {@linkcode Field} for their
 * bounds. An option is required unless it has a `default` or says `required: false`.
 *
 * @example Usage
 * ```ts
 * import { defineLimiter, limiters } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const linear = defineLimiter({
 *   type: "linear",
 *   description: "Adds the same to the delay with each failure.",
 *   options: {
 *     step: { kind: "duration", min: 1, description: "What each failure adds." },
 *   },
 *   create({ step }) {
 *     const failures = new Map<unknown, number>();
 *     const count = (key: unknown) => failures.get(key) ?? 0;
 *     return {
 *       when(item, key = item) {
 *         failures.set(key, count(key) + 1);
 *         return count(key) * step;
 *       },
 *       forget: (item, key = item) => void failures.delete(key),
 *       numRequeues: (item, key = item) => count(key),
 *     };
 *   },
 * });
 *
 * const registry = limiters.extend().register(linear);
 * const limiter = registry.build({ type: "linear", step: "1s" });
 * assertEquals([limiter.when("a"), limiter.when("a")], [1000, 2000]);
 * ```
 *
 * @typeParam Type The literal type of the name.
 * @typeParam F The declarations of the options.
 * @param definition The definition.
 * @returns The same, checked.
 * @throws {TypeError} If a part of the definition is missing or of the wrong type, or a default breaks its
 * own rule.
 */
export function defineLimiter<const Type extends string, const F extends Fields>(
  definition: LimiterDefinition<Type, F>,
): LimiterDefinition<Type, F> {
  const action = "define limiter";
  if (!isObject(definition)) throw invalidArgument(action, "definition", "must be an object", definition);
  const { type, description, options, create } = definition;
  if (typeof type !== "string" || type === "") {
    throw invalidArgument(action, "type", "must be a non-empty string", type);
  }
  if (typeof description !== "string") throw invalidArgument(action, "description", "must be a string", description);
  if (typeof create !== "function") throw invalidArgument(action, "create", "must be a function", create);
  if (!isObject(options)) throw invalidArgument(action, "options", "must be an object", options);
  for (const [option, field] of Object.entries(options)) checkField(`${action} ${inspect(type)}`, option, field);
  return definition;
}

const KINDS: ReadonlySet<Field["kind"]> = new Set(
  ["duration", "integer", "number", "boolean", "string", "enum", "limiter", "limiters"] as const,
);

function checkField(action: string, option: string, field: Field): void {
  if (option === "type") {
    throw new TypeError(`Cannot ${action} as 'type' names the limiter and is no option`);
  }
  if (!isObject(field) || !KINDS.has(field.kind)) {
    const rule = `must have a kind of ${[...KINDS].join(", ")}`;
    throw invalidArgument(action, option, rule, isObject(field) ? field.kind : field);
  }
  if (typeof field.description !== "string") {
    throw invalidArgument(action, `${option}.description`, "must be a string", field.description);
  }
  if (field.kind === "enum" && !Array.isArray(field.values)) {
    throw invalidArgument(action, `${option}.values`, "must be a list of strings", field.values);
  }
  if (Object.hasOwn(field, "default")) {
    readField(field, `${option}.default`, own(field, "default"), "", new Thrower(action));
  }
}

/** Throws the first problem it is told of: an error in code, unlike one in a document, is mended one by one. */
class Thrower implements Reader {
  constructor(readonly action: string) {}

  fail(_path: string, message: string, value?: unknown): never {
    const ErrorClass = typeof value === "number" ? RangeError : TypeError;
    throw new ErrorClass(`Cannot ${this.action} as ${message}`);
  }

  limiter(option: string, value: unknown, path: string): never {
    return this.fail(path, brokenRule(option, "must be given in code as a limiter", value), value);
  }
}

/** Checks options that were given in code. */
export function checkOptions<F extends Fields>(action: string, fields: F, input: object): OptionsOf<F> {
  if (!isPlainObject(input)) throw invalidArgument(action, "options", "must be an object", input);
  return readOptions(fields, input, "", new Thrower(action)).make();
}

/** Makes a limiter of options that were given in code. */
export function createFrom<F extends Fields>(
  definition: LimiterDefinition<string, F>,
  input: object,
  context: BuildContext = {},
): RateLimiter {
  const action = `create ${definition.type} limiter`;
  const options = checkOptions(action, definition.options, input);
  const broken = definition.check?.(options as unknown as PlainOptionsOf<F>);
  if (broken !== undefined) {
    throw invalidArgument(action, broken.option, broken.rule, (options as Record<string, unknown>)[broken.option]);
  }
  return definition.create(options, context);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
