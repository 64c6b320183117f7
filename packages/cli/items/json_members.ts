import { type Node, parseTree } from "jsonc-parser";

/** Members of a JSON object, by name. A string is decoded. Any other value is kept as its source text. */
export type Members = ReadonlyMap<string, string>;

/**
 * Reads a JSON object. Keeps numbers as written because JavaScript would round large IDs.
 *
 * @param text The text.
 * @returns The members; `undefined` if the text is not a JSON object or is nested too deeply for the parser.
 */
export function readMembers(text: string): Members | undefined {
  const properties = isObject(text) ? propertiesOf(text) : undefined;
  return properties && new Map(properties.map(([name, value]) => [name.value, textOf(value, text)]));
}

function propertiesOf(text: string): [name: Node, value: Node][] | undefined {
  try {
    return parseTree(text)!.children!.map(({ children }) => children as [Node, Node]);
  } catch {
    return undefined; // the text is nested too deeply for the stack
  }
}

function textOf({ type, value, offset, length }: Node, text: string): string {
  return type === "string" ? value : text.slice(offset, offset + length);
}

function isObject(text: string): boolean {
  try {
    const value = JSON.parse(text); // `JSON.parse` is stricter than `parseTree`
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
