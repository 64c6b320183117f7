import { DURATION, MAX_DURATION_LENGTH } from "../lib/base/duration.ts";
import type { Field, Fields } from "./fields.ts";
import { MAX_ITEMS, own } from "./read_options.ts";

/** The JSON Schema of one option. */
function fieldSchema(field: Field): Record<string, unknown> {
  const { description } = field;
  const defaultValue = own(field, "default");
  const common = defaultValue === undefined ? { description } : { description, default: defaultValue };
  switch (field.kind) {
    case "duration":
      return { ...common, ...durationSchema(field.min ?? 0, field.max) };
    case "integer":
      return {
        ...common,
        type: "integer",
        minimum: field.min ?? Number.MIN_SAFE_INTEGER,
        maximum: field.max ?? Number.MAX_SAFE_INTEGER,
      };
    case "number":
      return { ...common, type: "number", ...defined({ minimum: field.min, maximum: field.max }) };
    case "boolean":
      return { ...common, type: "boolean" };
    case "string":
      return { ...common, type: "string", ...defined({ minLength: field.minLength, maxLength: field.maxLength }) };
    case "enum":
      return { ...common, enum: field.values };
    case "limiter":
      return { ...common, $ref: "#/$defs/limiterOrName" };
    case "limiters":
      return {
        ...common,
        type: "array",
        items: { $ref: "#/$defs/limiterOrName" },
        minItems: field.minItems ?? 0,
        maxItems: MAX_ITEMS,
      };
  }
}

/** The JSON Schema of an object of options. */
export function optionsSchema(fields: Fields): Record<string, unknown> {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([option, field]) => [option, fieldSchema(field)])),
    required: entries.filter(([, field]) => isRequired(field)).map(([option]) => option),
    additionalProperties: false,
  };
}

function isRequired(field: Field): boolean {
  return own(field, "default") === undefined && own(field, "required") !== false;
}

/** A schema cannot compare durations that are texts: their bounds are checked on loading only. */
function durationSchema(min: number, max: number | undefined): Record<string, unknown> {
  return {
    type: ["string", "number"],
    ...defined({ minimum: min, maximum: max }),
    pattern: min < 0 ? DURATION.source : DURATION.source.replace("[+-]", "\\+"),
    maxLength: MAX_DURATION_LENGTH,
    examples: ["250ms", "1h30m"],
  };
}

function defined(keywords: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(keywords).filter((entry): entry is [string, number] => entry[1] !== undefined),
  );
}
