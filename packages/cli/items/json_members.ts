import { type Node, parseTree } from "jsonc-parser";

/** What is a member of an object of JSON, by its name: a text as it is, all else as it is written. */
export type Members = ReadonlyMap<string, string>;

/**
 * Reads an object of JSON. Numbers are left as they are written: a large id would be another one as a number of JavaScript.
 *
 * @param text The text.
 * @returns The members; `undefined` if the text is no object, or too deep for the parser.
 */
export function readMembers(text: string): Members | undefined {
  const properties = isObject(text) ? propertiesOf(text) : undefined;
  return properties && new Map(properties.map(([name, value]) => [name.value, textOf(value, text)]));
}

function propertiesOf(text: string): [name: Node, value: Node][] | undefined {
  try {
    return parseTree(text)!.children!.map(({ children }) => children as [Node, Node]);
  } catch {
    return undefined; // the stack is too small for it
  }
}

function textOf({ type, value, offset, length }: Node, text: string): string {
  return type === "string" ? value : text.slice(offset, offset + length);
}

function isObject(text: string): boolean {
  try {
    const value = JSON.parse(text); // which takes nothing but JSON
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
