import { inspect } from "@workqueue/core/internal";
import {
  createScanner,
  getNodeValue,
  type Node,
  type ParseError,
  type ParseOptions,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { MAX_DEPTH, type Parsed, problemAt, TOO_DEEP, type Unparsed } from "./parsed.ts";
import { createLocate, Lines, type Tree } from "./places.ts";

/** Messages for the errors of the JSONC parser. The keys are the parser's names for the errors. */
const MESSAGES: Readonly<Record<ReturnType<typeof printParseErrorCode>, string>> = {
  InvalidSymbol: "expected a value; a text must be in double quotes",
  InvalidNumberFormat: "this is not a number",
  PropertyNameExpected: "expected a key in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: "expected a colon after the key",
  CommaExpected: "expected a comma",
  CloseBraceExpected: "expected a closing brace",
  CloseBracketExpected: "expected a closing bracket",
  EndOfFileExpected: "expected the end of the text",
  InvalidCommentToken: "comments are not allowed",
  UnexpectedEndOfComment: "the comment has no end",
  UnexpectedEndOfString: "the string has no closing quote",
  UnexpectedEndOfNumber: "the number has no end",
  InvalidUnicode: "\\u must be followed by four hexadecimal digits",
  InvalidEscapeCharacter: "this character must not follow a backslash",
  InvalidCharacter: "a string must not contain control characters, such as line breaks",
  "<unknown ParseErrorCode>": "it has a syntax error",
};

/** Parses JSON. The value is that of `JSON.parse`, whose objects have a prototype. */
export function parseJson(text: string): Parsed | Unparsed {
  const parsed = parse(text, { disallowComments: true });
  return "problems" in parsed ? parsed : { ...parsed, document: JSON.parse(text) };
}

/** Parses JSONC. */
export function parseJsonc(text: string): Parsed | Unparsed {
  return parse(text, { allowTrailingComma: true });
}

/**
 * Parses a text through a syntax tree. Objects created from the tree have no prototype, so `__proto__` is an ordinary
 * key.
 */
function parse(text: string, options: ParseOptions): Parsed | Unparsed {
  const tooDeep = findTooDeep(text);
  if (tooDeep !== undefined) return { problems: [problemAt(new Lines(text).place(tooDeep), TOO_DEEP)] };
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, options);
  const [first] = errors; // later errors are often consequences of the first error
  if (first !== undefined) {
    return { problems: [problemAt(new Lines(text).place(first.offset), MESSAGES[printParseErrorCode(first.error)])] };
  }
  const repeated = tree === undefined ? [] : repeatedKeys(tree);
  if (repeated.length > 0) {
    const lines = new Lines(text);
    return {
      problems: repeated.map(({ offset, value }) =>
        problemAt(lines.place(offset), `${inspect(value)} is given twice in one object`)
      ),
    };
  }
  return { document: tree && getNodeValue(tree), locate: createLocate(text, () => treeOf(tree)) };
}

/** Returns the offset at which a text becomes nested too deeply, if any. Doesn't use recursion, but the parser does. */
function findTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true);
  for (let depth = 0; scanner.getPosition() < text.length;) {
    scanner.scan();
    const first = text[scanner.getTokenOffset()];
    if (first === "{" || first === "[") depth++;
    else if (first === "}" || first === "]") depth--;
    if (depth > MAX_DEPTH) return scanner.getTokenOffset();
  }
  return undefined;
}

/** Returns the keys that their object already has. */
function repeatedKeys({ type, children = [] }: Node): Node[] {
  const found = children.flatMap(repeatedKeys);
  if (type !== "object") return found;
  const names = new Set<string>();
  for (const { children: members } of children) {
    const key = members![0]!;
    if (names.has(key.value)) found.push(key);
    names.add(key.value);
  }
  return found;
}

function treeOf(root: Node | undefined): Tree<Node> {
  if (root === undefined) throw new Error("the text is empty");
  return {
    root,
    offsetOf: ({ offset }) => offset,
    find({ type, children = [] }, name) {
      if (type === "array") {
        const element = /^\d+$/.test(name) ? children[Number(name)] : undefined;
        return element && { name: element, value: element };
      }
      // If several members have the same name, the last member is used.
      const [key, value] = children.findLast(({ children }) => children![0]!.value === name)?.children ?? [];
      return key && value && { name: key, value };
    },
  };
}
