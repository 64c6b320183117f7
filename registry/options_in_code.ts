import { requireOptions } from "../lib/base/arguments.ts";
import { argumentError, invalidArgument } from "../lib/base/errors.ts";
import { type BuildContext, findPartKind, type PartDefinition, type PartKind, requireContext } from "./definition.ts";
import type { Field, Fields, OptionsOf, PartField, PartsField, PlainField } from "./fields.ts";
import { missingOption, offencesOf, readPlainValue } from "./plain_values.ts";

/**
 * Creates a part from options given in code. Throws an error for the first problem. In place of the config of a nested
 * part, code passes the part itself. In place of a template, code passes a function that creates a part.
 *
 * @param contextOptions The members of the build context that code passes as options.
 */
export function createInCode<Word extends string, Part, F extends Fields<Word>>(
  kind: PartKind<Word, Part>,
  definition: PartDefinition<Word, Part, string, F>,
  input: object,
  ...contextOptions: (keyof BuildContext)[]
): Part {
  const action = actionOf(kind, definition);
  requireOptions(action, input, [...Object.keys(definition.options), ...contextOptions]);
  const given = input as Readonly<Record<string, unknown>>;
  const context: BuildContext = Object.fromEntries(contextOptions.map((option) => [option, given[option]]));
  requireContext(action, context);

  const options: Record<string, unknown> = {};
  for (const [option, field] of Object.entries<Field<string>>(definition.options)) {
    options[option] = readInCode(kind, action, option, field, given[option]);
  }
  const broken = definition.check?.(options as never);
  if (broken !== undefined) throw invalidArgument(action, broken.option, broken.rule, options[broken.option]);
  return definition.create(options as OptionsOf<F, Record<Word, Part>>, context);
}

/** Returns a description of the current action for error messages, such as `create bucket limiter`. */
export function actionOf({ word }: PartKind, { type }: { type: string }): string {
  return `create ${type} ${word}`;
}

function readInCode(kind: PartKind, action: string, option: string, field: Field<string>, given: unknown): unknown {
  const value = given === undefined ? (field as PlainField).default : given;
  if (value === undefined && field.required === false) return undefined;
  const parts = findPartKind([kind], field.kind);
  if (parts === undefined) {
    const plain = field as PlainField;
    if (value === undefined) throw argumentError(action, missingOption(option, field.description));
    const read = readPlainValue(plain, value);
    if (read !== undefined) return read;
    const [offence] = offencesOf(plain, option, value);
    throw invalidArgument(action, offence.option, offence.rule, offence.value);
  }
  if (!parts.isList) {
    if ((field as PartField<string>).template) {
      const rule = `must be a function that makes a ${kind.name}`;
      if (typeof value !== "function") throw invalidArgument(action, option, rule, value);
      return value;
    }
    if (!kind.is(value)) throw invalidArgument(action, option, `must be a ${kind.name}`, value);
    return value;
  }
  const { minItems = 0 } = field as PartsField<string>;
  if (!Array.isArray(value) || value.length < minItems || !value.every((each) => kind.is(each))) {
    const count = minItems === 0 ? "a list of" : minItems === 1 ? "one or more" : `${minItems} or more`;
    throw invalidArgument(action, option, `must be ${count} ${kind.name}s`, value);
  }
  return [...value];
}
