import type { PlainField } from "./fields.ts";
import {
  booleanKind,
  durationKind,
  durationsKind,
  enumKind,
  integerKind,
  numberKind,
  type Offence,
  type OptionKind,
  rateKind,
  retentionKind,
  retryBudgetKind,
  stringKind,
  weightsKind,
} from "./option_kinds.ts";

/** All kinds of option that are plain data, by name. */
export const PLAIN_KINDS: { readonly [K in PlainField["kind"]]: OptionKind<PlainField & { kind: K }> } = {
  duration: durationKind,
  integer: integerKind,
  number: numberKind,
  boolean: booleanKind,
  string: stringKind,
  enum: enumKind,
  weights: weightsKind,
  durations: durationsKind,
  rate: rateKind,
  retryBudget: retryBudgetKind,
  retention: retentionKind,
};

/** Returns the kind of an option. */
export function kindOf(field: PlainField): OptionKind<PlainField> {
  return PLAIN_KINDS[field.kind];
}

/** Returns the problems with a value that a kind's `read` refused. There is at least one problem. */
export function offencesOf<F>(
  kind: OptionKind<F>,
  field: F,
  option: string,
  value: unknown,
): readonly [Offence, ...Offence[]] {
  const [first = { option, path: "", rule: kind.rule(field), value }, ...others] =
    kind.offencesIn?.(field, option, value) ??
      [];
  return [first, ...others];
}

/** Returns the message for a required option that was omitted, as a phrase. `description` is a sentence or a phrase. */
export function missingOption(option: string, description: string): string {
  const phrase = description.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()).replace(/\.$/, "");
  return `missing required option '${option}'${phrase === "" ? "" : ` (${phrase})`}`;
}
