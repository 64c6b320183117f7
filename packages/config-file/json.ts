import type { ConfigIssue } from "@workqueue/core";
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type Parsed, problemAt, type Unparsed } from "./parsed.ts";
import { Lines, locate, type Place, type Tree } from "./places.ts";

/**
 * Leaves JSON unparsed, because the core finds more mistakes in a text than in a parsed value, and reports the places
 * of syntax errors.
 */
export function parseJson(text: string): Parsed {
  const locateNamed = createLocate(text, () => parseTree(text));
  return {
    document: text,
    locate(issue) {
      const [, line, column] = /^the text is not JSON: .* at line (\d+), column (\d+)$/.exec(issue.message) ?? [];
      return line === undefined ? locateNamed(issue) : { line: Number(line), column: Number(column) };
    },
  };
}

/**
 * Parses JSONC through a syntax tree. Objects created from the tree have no prototype, so `__proto__` is an ordinary
 * key.
 */
export function parseJsonc(text: string): Parsed | Unparsed {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors; // later errors are often consequences of the first error
  if (first !== undefined) {
    return { problems: [problemAt(new Lines(text).place(first.offset), printParseErrorCode(first.error))] };
  }
  return { document: tree && getNodeValue(tree), locate: createLocate(text, () => tree) };
}

/** Creates a function that returns the place of an issue. On its first call, the function calls `parse`. */
function createLocate(text: string, parse: () => Node | undefined): (issue: ConfigIssue) => Place | undefined {
  let found: { readonly tree: Tree<Node>; readonly lines: Lines } | undefined;
  return ({ path }) => {
    try {
      found ??= { tree: treeOf(parse()!), lines: new Lines(text) };
    } catch {
      return undefined; // the text is empty, or it is nested too deeply for the parser
    }
    return found.lines.place(locate(found.tree, path));
  };
}

function treeOf(root: Node): Tree<Node> {
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
