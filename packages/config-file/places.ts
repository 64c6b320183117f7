/** A place in a text. */
export interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

/** Finds the line and column of an offset in a text. */
export class Lines {
  /** Where each line begins. */
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.#starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  }

  place(offset: number): Place {
    const index = this.#starts.findLastIndex((start) => start <= offset);
    return { line: index + 1, column: offset - this.#starts[index]! + 1 };
  }
}

/** A document as a parser gives it that knows where everything stands. */
export interface Tree<Node> {
  readonly root: Node;
  /** Where a node begins: an offset in the text. */
  offsetOf(node: Node): number;
  /**
   * A member of an object, or an element of a list, which is its own name; `undefined` if there is none of that name.
   */
  find(node: Node, name: string): { readonly name: Node; readonly value: Node } | undefined;
}

/**
 * Where the name of what a JSON Pointer leads to begins; if there is no such thing, that of the nearest one around it.
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
