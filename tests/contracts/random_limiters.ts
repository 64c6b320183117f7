/**
 * Generator of limiter configs, from the options that the types of a registry declare. A new type is generated without
 * being listed here.
 */

import type { BuiltInOptions, Field, LimiterRegistry } from "@workqueue/core";
import fc from "fast-check";

type BuiltInType = keyof BuiltInOptions;
type LimiterField = Field<"limiter">;

/** Values of options of built-in limiters, in place of those that their kinds have. */
export type OptionValues = {
  readonly [Type in BuiltInType]?: { readonly [Option in keyof BuiltInOptions[Type]]?: fc.Arbitrary<unknown> };
};

/** Settings of a generator. */
export interface RandomLimiters {
  readonly registry: LimiterRegistry;
  /** Names of limiters to which a config may refer, except for the limiter inside a template. */
  readonly names: readonly string[];
  /** Values of durations. */
  readonly delay: fc.Arbitrary<number>;
  readonly values: OptionValues;
}

/** Relative frequency of some types. That of any other type is 2. */
const WEIGHTS: Readonly<Record<string, number>> = {
  "exponential": 3,
  "bucket": 4,
  "max-of": 3,
  "max-wait": 1,
  "jitter": 1,
};

/** Types that must be around all other limiters in an engine. */
export const OUTERMOST: readonly BuiltInType[] = ["ignore-early"];

/** Generates a config that is not a name. */
export function limiterConfig({ registry, names, delay, values }: RandomLimiters): fc.Arbitrary<object> {
  const types = registry.types().filter((type) => !OUTERMOST.includes(type as BuiltInType))
    .toSorted((one, other) => Number(hasInner(registry, one)) - Number(hasInner(registry, other))); // for shrinking
  const { described } = fc.letrec<{ any: object | string; described: object }>((tie) => {
    const valueOf = (field: LimiterField): fc.Arbitrary<unknown> => {
      switch (field.kind) { // no `default` case: a kind without a case is a type error
        case "limiter":
          return tie(field.template === true ? "described" : "any");
        case "limiters":
          return fc.array(tie("any"), { minLength: field.minItems ?? 0, maxLength: 4 });
        case "duration":
          return delay.map((ms) => Math.min(Math.max(ms, field.min ?? 0), field.max ?? Infinity));
        case "durations":
          return fc.array(delay, { minLength: field.minItems ?? 0, maxLength: 5 });
        case "integer":
          return fc.integer({ min: field.min ?? 0, max: Math.min((field.min ?? 0) + 4, field.max ?? Infinity) });
        case "number":
          return fc.double({ min: field.min ?? 0, max: field.max ?? 1000, noNaN: true });
        case "boolean":
          return fc.boolean();
        case "string":
          return fc.constantFrom("/", "::", "é");
        case "enum":
          return fc.constantFrom(...field.values);
        case "weights":
          return fc.dictionary(fc.constantFrom("a", "b"), fc.integer({ min: 1, max: 3 }));
        case "rate":
          return fc.record({ rate: fc.integer({ min: 1, max: 20 }), burst: fc.integer({ min: 1, max: 5 }) });
        case "retryBudget":
          return fc.record({ ratio: fc.double({ min: 0, max: 1, noNaN: true }), minRate: fc.nat(9) });
        case "retention":
          return fc.integer({ min: 1, max: 9 });
      }
    };
    const arbitraryOf = (type: string, option: string, field: LimiterField) => {
      const own = (values as Record<string, Record<string, fc.Arbitrary<unknown>>>)[type]?.[option];
      const value = own ?? valueOf(field);
      return field.required === false || "default" in field ? fc.option(value, { nil: undefined }) : value;
    };
    const name = names.length === 0 ? [] : [{ weight: 2, arbitrary: fc.constantFrom(...names) }];
    const described = fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      ...types.map((type) => {
        const options = Object.entries<LimiterField>(registry.get(type)!.options)
          .map(([option, field]) => [option, arbitraryOf(type, option, field)]);
        const arbitrary = fc.record({ type: fc.constant(type), ...Object.fromEntries(options) });
        return { weight: WEIGHTS[type] ?? 2, arbitrary };
      }),
    );
    return { described, any: fc.oneof(...name, { weight: 6, arbitrary: tie("described") }) } as never;
  });
  return described;
}

function hasInner(registry: LimiterRegistry, type: string): boolean {
  return Object.values(registry.get(type)!.options).some(({ kind }) => kind === "limiter" || kind === "limiters");
}
