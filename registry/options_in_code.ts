import { requireOptions, requireRules, type Rule } from "../lib/base/arguments.ts";
import { argumentError, invalidArgument } from "../lib/base/errors.ts";
import { pick } from "../lib/base/objects.ts";
import { type BuildContext, partContextOf, type PartDefinition, type PartKind } from "./definition.ts";
import type { Field, Fields, OptionsOf, PartsField, PlainField } from "./fields.ts";
import type { OptionKind } from "./option_kinds.ts";
import { missingOption, offencesOf } from "./plain_values.ts";

/** The kinds of a definition's options, by name. */
export type KindsOf<F> = F extends { readonly [option: string]: { readonly kind: infer K extends string } }
  ? { readonly [Kind in K]: OptionKind }
  : never;

/** Rules for the members of the build context that code passes as options. */
export type ContextRules = { readonly [M in keyof BuildContext]?: Rule };

/**
 * Creates a part from options given in code. Throws an error for the first problem. In place of the config of a nested
 * part, code passes the part itself. In place of a template, code passes a function that creates a part.
 *
 * @param kinds The kinds of the definition's options. The caller names them, so that a program doesn't contain others.
 * @param contextRules The members of the build context that code passes as options, with their rules.
 */
export function createInCode<Word extends string, Part, F extends Fields<Word>>(
  word: Word,
  definition: PartDefinition<Word, Part, string, F>,
  kinds: KindsOf<F>,
  input: object,
  contextRules: ContextRules = {},
): Part {
  const action = actionOf(word, definition);
  requireOptions(action, input, [...Object.keys(definition.options), ...Object.keys(contextRules)]);
  const given = input as Readonly<Record<string, unknown>>;
  const context = pick(given, Object.keys(contextRules));
  requireRules(action, context, contextRules as Record<string, Rule>);

  const options: Record<string, unknown> = {};
  const byName = kinds as Readonly<Record<string, OptionKind<Field<string>>>>;
  for (const [option, field] of Object.entries<Field<string>>(definition.options)) {
    options[option] = readInCode(action, byName[field.kind]!, option, field, given[option]);
  }
  const broken = definition.check?.(options as never);
  if (broken !== undefined) throw invalidArgument(action, broken.option, broken.rule, options[broken.option]);
  return definition.create(options as OptionsOf<F, Record<Word, Part>>, partContextOf(context));
}

/** Returns a description of the current action for error messages, such as `create bucket limiter`. */
export function actionOf(word: string, { type }: { type: string }): string {
  return `create ${type} ${word}`;
}

function readInCode(
  action: string,
  kind: OptionKind<Field<string>>,
  option: string,
  field: Field<string>,
  given: unknown,
): unknown {
  const value = given === undefined ? (field as PlainField).default : given;
  if (value === undefined && field.required === false) return undefined;
  if (value === undefined && !kind.isPart) throw argumentError(action, missingOption(option, field.description));
  const read = kind.read(field, value);
  if (read !== undefined) return read;
  const [offence] = offencesOf(kind, field, option, value);
  throw invalidArgument(action, offence.option, offence.rule, offence.value);
}

/** Returns the kind of an option that is a part. */
export function onePart(kind: PartKind): OptionKind {
  return {
    isPart: true,
    read: (_, value) => kind.is(value) ? value : undefined,
    rule: () => `must be a ${kind.name}`,
  };
}

/** Returns the kind of an option that is a template of a part. */
export function partTemplate(kind: PartKind): OptionKind {
  return {
    isPart: true,
    read: (_, value) => typeof value === "function" ? value : undefined,
    rule: () => `must be a function that makes a ${kind.name}`,
  };
}

/** Returns the kind of an option that is a list of parts. */
export function partList(kind: PartKind): OptionKind<PartsField<string>> {
  return {
    isPart: true,
    read: ({ minItems = 0 }, value) =>
      Array.isArray(value) && value.length >= minItems && value.every((each) => kind.is(each)) ? [...value] : undefined,
    rule({ minItems = 0 }) {
      const count = minItems === 0 ? "a list of" : minItems === 1 ? "one or more" : `${minItems} or more`;
      return `must be ${count} ${kind.name}s`;
    },
  };
}
