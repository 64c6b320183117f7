import { posix } from "node:path";
import type { Line } from "./backlog.ts";

/** How a {@linkcode CommandTemplate} is read. */
export interface TemplateOptions {
  /** Whether a line is an object of JSON, whose members have placeholders of their names. */
  readonly isJson: boolean;
  /** Whether the item is appended where the command has no placeholder. */
  readonly appends: boolean;
}

/** What stands for an item, or a part of it, in a command, by what is between the braces. */
const OF_LINES: Readonly<Record<string, (line: Line) => string>> = {
  "": ({ text }) => text,
  ".": ({ text }) => withoutExtension(text),
  "/": ({ text }) => posix.basename(text),
  "//": ({ text }) => posix.dirname(text),
  "/.": ({ text }) => withoutExtension(posix.basename(text)),
  "#": ({ number }) => String(number),
};
const PLACEHOLDER = /\{(\/\/|\/\.|[./#]|)\}/;
const JSON_PLACEHOLDER = /\{(#|[\p{L}_][\p{L}\p{N}_-]*|)\}/u;

/** A command and its arguments, with placeholders for an item. */
export class CommandTemplate {
  /** Whether what is run differs from item to item. */
  readonly hasPlaceholderInFile: boolean;
  readonly #isJson: boolean;
  /** Each argument, split: a text, the inside of a placeholder, a text, and so on. */
  readonly #args: readonly string[][];
  /** The members that lines of JSON must have. */
  readonly #members: readonly string[];

  /** Reads a command. */
  constructor(command: readonly string[], { isJson, appends }: TemplateOptions) {
    this.#isJson = isJson;
    const args = command.map((arg) => arg.split(isJson ? JSON_PLACEHOLDER : PLACEHOLDER));
    const isFixed = args.every((pieces) => pieces.length === 1);
    this.#args = isFixed && appends ? [...args, ["", "", ""]] : args;
    this.hasPlaceholderInFile = args[0]!.length > 1;
    const names = this.#args.flatMap((pieces) => pieces.filter((_, index) => index % 2 === 1));
    this.#members = isJson ? [...new Set(names)].filter((name) => name !== "" && name !== "#") : [];
  }

  /** Says what it is that keeps a line from being an item; `undefined` if it can be one. */
  fault(text: string): string | undefined {
    if (!this.#isJson) return undefined;
    const value = parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "no JSON object";
    const missing = this.#members.find((name) => !Object.hasOwn(value, name));
    return missing === undefined ? undefined : `an object without '${missing}'`;
  }

  /** The command for an item. */
  fill(line: Line): string[] {
    const value = this.#members.length > 0 ? JSON.parse(line.text) : undefined;
    const valueOf = (name: string) => this.#members.includes(name) ? textOf(value[name]) : OF_LINES[name]!(line);
    return this.#args.map((pieces) => pieces.map((piece, index) => index % 2 === 0 ? piece : valueOf(piece)).join(""));
  }
}

/** A text as it is, so that it can be an argument; all else as JSON. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `undefined` for what is not valid JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A name that begins with a dot is no extension. */
function withoutExtension(path: string): string {
  return path.replace(/(?<=[^/])\.[^/.]+$/, "");
}
