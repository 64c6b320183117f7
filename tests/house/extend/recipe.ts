/**
 * Recipes of `CONTRIBUTING.md`, as data: the steps of each recipe, with the code of an example.
 *
 * @module
 */

/**
 * Rounds of the test. In each round, the tree lacks the steps of this round, and a command must name what is missing:
 *
 * - `"modules"`: Deno, which loads the lists of modules, and runs the declarations of scripts.
 * - `"lists"` and `"entries"`: the type checker. A list requires the entries of the parts that it lists, so these are
 *   rounds of their own.
 * - `"generate"`: `deno task generate`.
 * - `"tests"`: the tests.
 */
export type Round = "modules" | "lists" | "entries" | "generate" | "tests";

/** Edit of a file: a text of the file, and the text that replaces it. */
export type Edit = readonly [text: string, replacement: string];

/** Returns the edit that inserts a text after another. */
export function insertAfter(text: string, inserted: string): Edit {
  return [text, text + inserted];
}

/** Step of a recipe: a new file, or edits of a file. */
export interface Step {
  /** Path of the file, in which NAME stands for the name of the part. */
  readonly path: string;
  /** Text of a new file. */
  readonly text?: string;
  /** Edits of a file. Each replaced text occurs once in the file. */
  readonly edits?: readonly Edit[];
  /** Round in which the step is left out. */
  readonly round: Round;
  /**
   * Text that the round's command prints if the step is left out. For an entry, the file of a type error that also has
   * the name of the example.
   */
  readonly says: string;
  /** Whether only the tests on Redis notice that the step is left out. */
  readonly needsRedis?: true;
}

/** Recipe: a section of `CONTRIBUTING.md`. */
export interface Recipe {
  /** Heading of the section. */
  readonly heading: string;
  /** Name of the example in paths. */
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Returns the path of a step's file. */
export function pathOf({ name }: Recipe, { path }: Step): string {
  return path.replaceAll("NAME", name);
}

/** Returns a file's text after a step. `before` is `undefined` if there is no such file. */
export function textAfter({ text, edits }: Step, path: string, before: string | undefined): string {
  if (text === undefined) return edited(path, before, edits!);
  if (before !== undefined) throw new Error(`Cannot follow recipe: ${path} exists already`);
  return text;
}

/** Returns a file's text after edits. */
export function edited(path: string, before: string | undefined, edits: readonly Edit[]): string {
  let text = before;
  for (const [old, replacement] of edits) {
    const parts = text?.split(old) ?? [];
    if (parts.length !== 2) throw new Error(`Cannot follow recipe: ${path} does not contain this once: ${old}`);
    text = parts.join(replacement);
  }
  return text!;
}
