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
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.#starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  }

  place(offset: number): Place {
    const index = this.#starts.findLastIndex((start) => start <= offset);
    return { line: index + 1, column: offset - this.#starts[index]! + 1 };
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
