import { type Node, parseTree } from "jsonc-parser";
import type { Fields } from "./command_template.ts";

/** Members of JSON objects as fields of lines. */
export const jsonMembers: Fields = {
  placeholder: /\{([\p{L}_][\p{L}\p{N}_.-]*|)((?<=\{)[#%]|)\}/u,
  whole: "a JSON object",
  read: readMembers,
  nameOf: (member) => `member '${member}'`,
};

/**
 * Reads a JSON object. Decodes strings, and keeps any other value as its source text, because JavaScript would round
 * large IDs.
 *
 * @param text The text.
 * @returns The members; `undefined` if the text is not a JSON object or is nested too deeply for the parser.
 */
function readMembers(text: string): ReadonlyMap<string, string> | undefined {
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
