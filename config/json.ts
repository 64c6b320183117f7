/** Where and why a text is not JSON. */
export interface JsonError {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** What was expected there. */
  readonly expected: string;
}

const SPACE = /[ \t\n\r]*/y;
// deno-lint-ignore no-control-regex -- they must not stand in a string unescaped
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Parses JSON, and says where the text goes wrong if it does.
 *
 * The runtimes' `JSON.parse` word that differently, and some do not say where.
 */
export function parseJson(text: string): { value: unknown } | { error: JsonError } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { error: findError(text) };
  }
}

/** Walks through the text as the grammar of RFC 8259 does. Open brackets are on a stack of our own: depth is no matter. */
function findError(text: string): JsonError {
  let at = 0;
  let expected = "";
  const open: ("{" | "[")[] = [];

  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  /** Takes one of these characters, or notes that they were expected. */
  const take = (...characters: string[]) => {
    skip(SPACE);
    const character = text[at] ?? "";
    if (characters.includes(character)) return text[at++]!;
    expected = characters.map((c) => `'${c}'`).join(" or ");
    return undefined;
  };
  const takeKey = () => {
    skip(SPACE);
    if (skip(STRING)) return take(":") !== undefined;
    expected = "a key in double quotes";
    return false;
  };
  /** Takes a scalar or an opening bracket; tells whether a value is complete then, or undefined if there is none. */
  const takeValue = (): "complete" | "opened" | undefined => {
    skip(SPACE);
    if (skip(STRING) || skip(SCALAR)) return "complete";
    const bracket = text[at];
    if (bracket !== "{" && bracket !== "[") {
      expected = "a value";
      return undefined;
    }
    at++;
    skip(SPACE);
    if (text[at] === (bracket === "{" ? "}" : "]")) {
      at++;
      return "complete";
    }
    open.push(bracket);
    return "opened";
  };

  walk: while (true) {
    if (open.at(-1) === "{" && !takeKey()) break;
    const value = takeValue();
    if (value === undefined) break;
    if (value === "opened") continue;
    while (true) {
      const bracket = open.at(-1);
      if (bracket === undefined) {
        expected = "the end";
        skip(SPACE);
        break walk;
      }
      const next = take(",", bracket === "{" ? "}" : "]");
      if (next === undefined) break walk;
      if (next === ",") break;
      open.pop();
    }
  }
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: before.at(-1)!.length + 1, expected };
}
