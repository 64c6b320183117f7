import type { Fields } from "./command_template.ts";

/** Placeholder for a line, a column, or a part of the path in a column. */
const PLACEHOLDER = /\{([1-9]\d*|)(\/\/|\/\.|[./]|(?<=\{)[#%]|)\}/;

/** Returns the regular expression for a separator of columns; `undefined` if the separator is invalid. */
export function separatorOf(text: string): RegExp | undefined {
  try {
    const separator = new RegExp(text, "u");
    return separator.test("") ? undefined : separator;
  } catch {
    return undefined;
  }
}

/**
 * Returns the columns of lines as fields, which are named `1`, `2` and so on.
 *
 * @param separator The separator, which {@linkcode separatorOf} accepts.
 */
export function columnFields(separator: string): Fields {
  const pattern = new RegExp(separator, "u");
  const groups = new RegExp(`${separator}|`, "u").exec("")!.length - 1;
  return {
    placeholder: PLACEHOLDER,
    read(line, names) {
      const indexes = names.map((name) => (Number(name) - 1) * (groups + 1)); // `split` also returns captured text
      const pieces = line.split(pattern, Math.max(...indexes) + 1); // a line can have millions of columns
      return new Map(
        names.map((name, i) => [name, pieces[indexes[i]!]!] as const).filter(([_, column]) => column !== undefined),
      );
    },
    whole: "a line",
    nameOf: (column) => `column ${column}`,
  };
}

/** Reports whether the command has a placeholder for a column. */
export function namesColumn(command: readonly string[]): boolean {
  return command.some((argument) => argument.split(PLACEHOLDER).some((piece, i) => i % 3 === 1 && piece !== ""));
}
