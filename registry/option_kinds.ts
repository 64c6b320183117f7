/**
 * Kinds of option that are plain data: how a value of each kind is read, and the words for its rule.
 *
 * Each kind is a value of its own, so that a program that creates a limiter in code contains only the kinds of that
 * limiter's options. Configs need all kinds: see `plain_values.ts`.
 *
 * @module
 */

import { DURATION_RULE, tryParseDuration } from "../lib/base/duration.ts";
import { inspect } from "../lib/base/errors.ts";
import { escapePointer, isPlainObject, own, PROTOTYPE_NAMES, withoutAbsent } from "../lib/base/objects.ts";
import type {
  BooleanField,
  DurationField,
  DurationsField,
  EnumField,
  IntegerField,
  NumberField,
  RateField,
  RetentionField,
  RetryBudgetField,
  StringField,
  WeightsField,
} from "./fields.ts";

/** A kind of option. `F` is the type of the declarations of such options. */
export interface OptionKind<F = never> {
  /** Reads the value of an option. Returns `undefined` if the value breaks the rule. */
  read(field: F, value: unknown): unknown;
  /** Returns the rule, as a phrase: "must be …". */
  rule(field: F): string;
  /** Returns the problems inside a value that `read` refused. Absent if a value has no inside. */
  offencesIn?(field: F, option: string, value: unknown): Offence[];
  /** Whether values are parts. A missing part is reported like a wrong one, because most functions take it by place. */
  readonly isPart?: true;
}

/** A value that breaks a rule: the value of an option, or a value inside it. */
export interface Offence {
  readonly option: string;
  /** JSON Pointer, relative to the option's value. */
  readonly path: string;
  readonly rule: string;
  readonly value: unknown;
}

/** String for an unlimited duration in a config. */
export const UNLIMITED = "unlimited";

/** Smallest and largest allowed weight. The bounds keep computed values finite. */
export const MIN_WEIGHT = 0.001;
export const MAX_WEIGHT = 1000;

/** Smallest rate, and largest rate and burst. */
export const MIN_RATE = 1e-6;
export const MAX_RATE = 1e6;

/** Maximum length of a list. */
export const MAX_ITEMS = 1000;

/** Reports whether an option accepts infinity. */
export function isInfinite({ infinite = false, max }: DurationField | NumberField): boolean {
  return infinite && max === undefined;
}

/** Durations. A duration is read as a number of milliseconds. */
export const durationKind: OptionKind<DurationField> = {
  /**
   * Reads a duration. If negative durations aren't allowed, a string with a minus sign is refused, even `"-0s"`: the
   * pattern of a JSON Schema can't detect that `"-0s"` is zero.
   */
  read({ min = 0, max, infinite }, value) {
    if (infinite && (value === UNLIMITED || value === Infinity)) return max === undefined ? Infinity : undefined;
    if (min >= 0 && typeof value === "string" && value.startsWith("-")) return undefined;
    return within(tryParseDuration(value), min, max);
  },
  rule: (field) =>
    DURATION_RULE + bounds(field.min ?? 0, field.max, " ms") + (isInfinite(field) ? `, or ${inspect(UNLIMITED)}` : ""),
};

/** Whole numbers. */
export const integerKind: OptionKind<IntegerField> = {
  read: ({ min, max }, value) => Number.isSafeInteger(value) ? within(value, min, max) : undefined,
  rule({ min, max }) {
    if (max === undefined && min === 0) return "must be a non-negative integer";
    if (max === undefined && min === 1) return "must be a positive integer";
    return `must be an integer${bounds(min, max)}`;
  },
};

/** Numbers. */
export const numberKind: OptionKind<NumberField> = {
  read: (field, value) =>
    Number.isFinite(value) || (value === Infinity && isInfinite(field))
      ? within(value, field.min, field.max)
      : undefined,
  rule({ min, max, infinite = false }) {
    const number = infinite || max !== undefined ? "number" : "finite number";
    return max === undefined && min === 0
      ? `must be a non-negative ${number}`
      : `must be a ${number}${bounds(min, max)}`;
  },
};

/** Booleans. */
export const booleanKind: OptionKind<BooleanField> = {
  read: (_, value) => typeof value === "boolean" ? value : undefined,
  rule: () => "must be true or false",
};

/** Strings. Their length is counted in code points, as in JSON Schema. */
export const stringKind: OptionKind<StringField> = {
  read: ({ minLength, maxLength }, value) =>
    typeof value === "string" && within(countCharacters(value), minLength, maxLength) !== undefined ? value : undefined,
  rule({ minLength, maxLength }) {
    if (maxLength === undefined && minLength === 1) return "must be a non-empty string";
    return "must be a string" + bounds(minLength, maxLength, " characters");
  },
};

/** Strings from a list. */
export const enumKind: OptionKind<EnumField> = {
  read: ({ values }, value) => values.includes(value as string) ? value : undefined,
  rule: ({ values }) => `must be one of ${values.map(inspect).join(", ")}`,
};

/** Weights by name. They are read as a `Map`. */
export const weightsKind: OptionKind<WeightsField> = {
  read: (_, value) =>
    isPlainObject(value) && weightOffences("", value).length === 0 ? new Map(Object.entries(value)) : undefined,
  rule: () => `must be an object of numbers${bounds(MIN_WEIGHT, MAX_WEIGHT)} by name`,
  offencesIn: (_, option, value) => isPlainObject(value) ? weightOffences(option, value) : [],
};

function weightOffences(option: string, weights: Record<string, unknown>): Offence[] {
  return Object.entries(weights).flatMap(([name, weight]) => {
    const rule = weightRule(name, weight);
    return rule === undefined
      ? []
      : [{ option: `${option}.${name}`, path: `/${escapePointer(name)}`, rule, value: weight }];
  });
}

function weightRule(name: string, weight: unknown): string | undefined {
  if (PROTOTYPE_NAMES.includes(name)) return "must be left out, as that means something to JavaScript objects";
  return typeof weight === "number" && within(weight, MIN_WEIGHT, MAX_WEIGHT) !== undefined
    ? undefined
    : `must be a number${bounds(MIN_WEIGHT, MAX_WEIGHT)}`;
}

/** Members of a rate. */
export const RATE_MEMBERS = {
  rate: { kind: "number", min: MIN_RATE, max: MAX_RATE, description: "Number per second, on average." },
  burst: { kind: "integer", min: 1, max: MAX_RATE, description: "Maximum number at once." },
} as const satisfies Members;

/** Members of a retry budget. */
export const RETRY_BUDGET_MEMBERS = {
  ratio: { kind: "number", min: 0, description: "Retries for each first attempt of the last ten seconds." },
  minRate: { kind: "number", min: 0, description: "Retries per second that are always allowed." },
} as const satisfies Members;

/** Members of a retention that is an object. */
export const RETENTION_MEMBERS = {
  max: { kind: "integer", min: 1, description: "Maximum number of items. The oldest are dropped first." },
  maxAge: { kind: "duration", min: 1, required: false, description: "Maximum time for which an item is kept." },
} as const satisfies Members;

/** Rates. */
export const rateKind: OptionKind<RateField> = /* @__PURE__ */ objectKind("a rate", RATE_MEMBERS, {
  number: numberKind,
  integer: integerKind,
});

/** Retry budgets. */
export const retryBudgetKind: OptionKind<RetryBudgetField> = /* @__PURE__ */ objectKind(
  "a retry budget",
  RETRY_BUDGET_MEMBERS,
  { number: numberKind },
);

const retentionObject = /* @__PURE__ */ objectKind("a retention", RETENTION_MEMBERS, {
  integer: integerKind,
  duration: durationKind,
});

/** Retentions. The `maxAge` of an object is read as a number of milliseconds. */
export const retentionKind: OptionKind<RetentionField> = {
  read: (field, value) =>
    isPlainObject(value) ? retentionObject.read(field, value) : integerKind.read(RETENTION_MEMBERS.max, value),
  rule: () => "must be a positive integer, or an object with 'max' and 'maxAge'",
  offencesIn: (field, option, value) => retentionObject.offencesIn(field, option, value),
};

/** Declarations of the members of an option that is an object. */
type Members = Readonly<Record<string, NumberField | IntegerField | DurationField>>;

/**
 * Returns the kind of an option that is an object with these members, and nothing else. `what` names such an object,
 * and `kinds` are the kinds of the members.
 */
function objectKind(
  what: string,
  members: Members,
  kinds: Readonly<Record<string, OptionKind>>,
): Required<Omit<OptionKind<unknown>, "isPart">> {
  const names = Object.keys(members);
  const both = names.map((name) => `'${name}'`).join(" and ");
  const read = (name: string, value: unknown) => kinds[members[name]!.kind]!.read(members[name] as never, value);
  const offencesIn = (option: string, given: Record<string, unknown>): Offence[] =>
    [...new Set([...names.filter((name) => members[name]!.required !== false), ...Object.keys(given)])]
      .filter((name) => !names.includes(name) || read(name, own(given, name)) === undefined)
      .map((name) => ({
        option: `${option}.${name}`,
        path: `/${escapePointer(name)}`,
        rule: names.includes(name)
          ? kinds[members[name]!.kind]!.rule(members[name] as never)
          : `must be left out, as ${what} has only ${both}`,
        value: own(given, name),
      }));
  return {
    read: (_, value) =>
      isPlainObject(value) && offencesIn("", value).length === 0
        ? withoutAbsent(Object.fromEntries(names.map((name) => [name, read(name, value[name])])))
        : undefined,
    rule: () => `must be an object with ${both}`,
    offencesIn: (_, option, value) => isPlainObject(value) ? offencesIn(option, value) : [],
  };
}

/** Lists of durations. They are read as numbers of milliseconds. */
export const durationsKind: OptionKind<DurationsField> = {
  read(field, value) {
    if (!hasLength(field, value)) return undefined;
    const durations = Array.from(value, (each) => durationKind.read(durationOf(field), each));
    return durations.includes(undefined) ? undefined : durations;
  },
  rule: ({ minItems = 0 }) => `must be a list of ${minItems} to ${MAX_ITEMS} durations`,
  offencesIn(field, option, value) {
    if (!hasLength(field, value)) return [];
    const one = durationOf(field);
    return Array.from(value, (each, i) => ({
      option: `${option}[${i}]`,
      path: `/${i}`,
      rule: durationKind.rule(one),
      value: each,
    })).filter(({ value }) => durationKind.read(one, value) === undefined);
  },
};

function hasLength({ minItems = 0 }: DurationsField, value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length >= minItems && value.length <= MAX_ITEMS;
}

/** Returns the declaration of one duration of a list. */
function durationOf({ min, max }: DurationsField): DurationField {
  return { kind: "duration", description: "", min, max };
}

/** Returns a number if it is within bounds; otherwise `undefined`. */
function within(value: unknown, min = -Infinity, max = Infinity): number | undefined {
  return (value as number) >= min && (value as number) <= max ? value as number : undefined; // not for NaN
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function bounds(min: number | undefined, max: number | undefined, unit = ""): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}${unit}`;
  if (min !== undefined) return ` of at least ${min}${unit}`;
  return max === undefined ? "" : ` of at most ${max}${unit}`;
}
