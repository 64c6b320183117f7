import type { ConfigIssue } from "@workqueue/core";

/** Location in a text. */
export interface Place {
  /** Line, from 1. */
  readonly line: number;
  /** Column, from 1, in UTF-16 code units. */
  readonly column: number;
}

/** Finds the line and column of an offset in a text. */
export class Lines {
  /** Offset of the beginning of each line. */
  readonly #starts = [0];

  constructor(text: string) {
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) this.#starts.push(end + 1);
  }

  place(offset: number): Place {
    let line = 0; // binary search for the last line that begins at the offset or before it
    for (let after = this.#starts.length; line + 1 < after;) {
      const middle = (line + after) >> 1;
      if (this.#starts[middle]! <= offset) line = middle;
      else after = middle;
    }
    return { line: line + 1, column: offset - this.#starts[line]! + 1 };
  }
}

/** Parsed document, with the locations of its nodes. */
export interface Tree<Node> {
  readonly root: Node;
  /** Returns the offset of the beginning of a node. */
  offsetOf(node: Node): number;
  /**
   * Returns a member of an object, or an element of a list. Returns `undefined` if there is no member or element with
   * that name. A list element has no name, so its `name` node is the element itself.
   */
  find(node: Node, name: string): { readonly name: Node; readonly value: Node } | undefined;
}

/**
 * Returns the offset of the member name or list element that a JSON Pointer refers to. If a part of the pointer doesn't
 * exist in the document, returns the offset of the last part that exists.
 */
export function locate<Node>(tree: Tree<Node>, pointer: string): number {
  let nearest = tree.root;
  let node = tree.root;
  for (const token of pointer.split("/").slice(1)) {
    const found = tree.find(node, token.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (found === undefined) break;
    nearest = found.name;
    node = found.value;
  }
  return tree.offsetOf(nearest);
}

/**
 * Creates a function that returns the location of an issue in a text, or `undefined` if the location is unknown. The
 * function calls `parse` only for the first issue, because most texts have none.
 */
export function createLocate<Node>(
  text: string,
  parse: () => Tree<Node>,
): (issue: ConfigIssue) => Place | undefined {
  let found: { readonly tree: Tree<Node>; readonly lines: Lines } | undefined;
  return ({ path }) => {
    try {
      found ??= { tree: parse(), lines: new Lines(text) };
    } catch {
      return undefined; // the text is empty, or it is nested too deeply for the parser
    }
    return found.lines.place(locate(found.tree, path));
  };
}
