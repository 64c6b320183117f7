import { DURATION, MAX_DURATION_LENGTH } from "../lib/base/duration.ts";
import { own, PROTOTYPE_NAMES } from "../lib/base/objects.ts";
import { findPartKind, type PartDefinition, type PartKind } from "./definition.ts";
import type { Field, Fields, PartField, PartsField, PlainField } from "./fields.ts";
import {
  isInfinite,
  MAX_ITEMS,
  MAX_WEIGHT,
  MIN_WEIGHT,
  RATE_MEMBERS,
  RETENTION_MEMBERS,
  RETRY_BUDGET_MEMBERS,
  UNLIMITED,
} from "./option_kinds.ts";

/** Version of JSON Schema that all schemas of this package use. */
export const SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema";

/**
 * Returns the definitions that are referenced in the schemas of options: the JSON Schema of a part, and the JSON Schema
 * of an option that takes a part or its name.
 */
export function partSchemas<Word extends string, Part>(
  kind: PartKind<Word, Part>,
  definitions: readonly PartDefinition<Word, Part>[],
): Record<string, unknown> {
  const { word, hasNames } = kind;
  const part = kind.onlyType === undefined
    ? typedSchema(kind, definitions)
    : optionsSchema(definitions[0]!.options, [kind]);
  if (!hasNames) return { [word]: part };
  return { [word]: part, [`${word}OrName`]: { if: { type: "string" }, else: { $ref: `#/$defs/${word}` } } };
}

/** Returns the JSON Schema of a part whose config has a `type`. */
function typedSchema(
  kind: PartKind,
  definitions: readonly Pick<PartDefinition<string, unknown>, "type" | "description" | "options">[],
): Record<string, unknown> {
  return {
    type: "object",
    properties: {
      type: {
        description: `Type of the ${kind.word}. The other options depend on it.`,
        anyOf: definitions.map(({ type, description }) => ({ const: type, description })),
      },
    },
    ...(kind.defaultType === undefined && { required: ["type"] }),
    allOf: [
      // At an unknown type, validators stop here
      { properties: { type: { enum: definitions.map(({ type }) => type) } } },
      ...definitions.map(({ type, description, options }) => {
        const { properties, ...rest } = optionsSchema(options, [kind]);
        return {
          if: { properties: { type: { const: type } }, ...(type !== kind.defaultType && { required: ["type"] }) },
          then: { description, properties: { type: true, ...properties as object }, ...rest },
        };
      }),
    ],
  };
}

/** Returns the JSON Schema of an object of options. */
export function optionsSchema(fields: Fields<string>, kinds: readonly PartKind[]): Record<string, unknown> {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([option, field]) => [option, fieldSchema(field, kinds)])),
    required: entries.filter(([, field]) => isRequired(field)).map(([option]) => option),
    additionalProperties: false,
  };
}

function isRequired(field: Field<string>): boolean {
  return own(field, "default") === undefined && own(field, "required") !== false;
}

function fieldSchema(field: Field<string>, kinds: readonly PartKind[]): Record<string, unknown> {
  const { description } = field;
  const preset = own(field, "default");
  const common = preset === undefined ? { description } : { description, default: preset };
  const parts = findPartKind(kinds, field.kind);
  if (parts === undefined) return { ...common, ...plainSchema(field as PlainField) };
  const { word, hasNames } = parts.kind;
  const isTemplate = (field as PartField<string>).template === true;
  const $ref = hasNames && !isTemplate ? `#/$defs/${word}OrName` : `#/$defs/${word}`;
  if (!parts.isList) return { ...common, $ref };
  return {
    ...common,
    type: "array",
    items: { $ref },
    minItems: (field as PartsField<string>).minItems ?? 0,
    maxItems: MAX_ITEMS,
  };
}

/**
 * Returns the JSON Schema of a plain option. JSON has no infinity, but parsers read 1e999 as infinity. So numbers that
 * must be finite always have bounds.
 */
function plainSchema(field: PlainField): Record<string, unknown> {
  switch (field.kind) {
    case "duration":
      if (!isInfinite(field)) return durationSchema(field.min ?? 0, field.max ?? Number.MAX_VALUE);
      return { anyOf: [{ const: UNLIMITED }, durationSchema(field.min ?? 0)] };
    case "integer":
      return {
        type: "integer",
        minimum: field.min ?? Number.MIN_SAFE_INTEGER,
        maximum: field.max ?? Number.MAX_SAFE_INTEGER,
      };
    case "number": {
      const { min = -Number.MAX_VALUE, max = field.infinite ? undefined : Number.MAX_VALUE } = field;
      return { type: "number", ...defined({ minimum: min, maximum: max }) };
    }
    case "boolean":
      return { type: "boolean" };
    case "string":
      return { type: "string", ...defined({ minLength: field.minLength, maxLength: field.maxLength }) };
    case "enum":
      return { enum: field.values };
    case "weights":
      return {
        type: "object",
        propertyNames: { not: { enum: PROTOTYPE_NAMES } },
        additionalProperties: { type: "number", minimum: MIN_WEIGHT, maximum: MAX_WEIGHT },
      };
    case "durations":
      return {
        type: "array",
        items: durationSchema(field.min ?? 0, field.max ?? Number.MAX_VALUE),
        minItems: field.minItems ?? 0,
        maxItems: MAX_ITEMS,
      };
    case "rate":
      return optionsSchema(RATE_MEMBERS, []);
    case "retryBudget":
      return optionsSchema(RETRY_BUDGET_MEMBERS, []);
    case "retention":
      return { anyOf: [plainSchema(RETENTION_MEMBERS.max), optionsSchema(RETENTION_MEMBERS, [])] };
  }
}

/**
 * Returns the JSON Schema of a duration. A schema can't compare durations written as strings; their bounds are checked
 * only when a config is loaded.
 */
function durationSchema(minimum: number, maximum?: number): Record<string, unknown> {
  // Bun escapes non-ASCII characters in `source`, but the schema must be the same on all runtimes.
  const pattern = DURATION.source.replaceAll(/\\u([0-9A-F]{4})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
  return {
    anyOf: [
      {
        type: "string",
        pattern: minimum < 0 ? pattern : pattern.replace("[+-]", "\\+"),
        maxLength: MAX_DURATION_LENGTH,
      },
      { type: "number", ...defined({ minimum, maximum }) },
    ],
    examples: ["250ms", "1h30m"],
  };
}

function defined(keywords: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(keywords).filter((entry): entry is [string, number] => entry[1] !== undefined),
  );
}
