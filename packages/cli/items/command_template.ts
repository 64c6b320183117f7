import { posix } from "node:path";
import { UsageError } from "../system/usage_error.ts";
import type { Line } from "./backlog.ts";
import type { Members } from "./json_members.ts";

/** How a {@linkcode CommandTemplate} is read. */
export interface TemplateOptions {
  /** Reads a line, where each is an object of JSON whose members have placeholders of their names; else `undefined`. */
  readonly readMembers: ((text: string) => Members | undefined) | undefined;
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
/** No argument can have it: the command would be given something else. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const PLACEHOLDER = /\{(\/\/|\/\.|[./#]|)\}/;
const JSON_PLACEHOLDER = /\{(#|[\p{L}_][\p{L}\p{N}_.-]*|)\}/u;
/** Parts of a path, which a line of JSON is not. */
const PATH_PLACEHOLDER = /\{(\/\/|\/\.|[./])\}/;

/** A command and its arguments, with placeholders for an item. */
export class CommandTemplate {
  /** Whether what is run differs from item to item. */
  readonly hasPlaceholderInFile: boolean;
  readonly #readMembers: TemplateOptions["readMembers"];
  /** Each argument, split: a text, the inside of a placeholder, a text, and so on. */
  readonly #args: readonly string[][];
  /** The members that lines of JSON must have. */
  readonly #members: readonly string[];

  /** Reads a command. Throws a {@linkcode UsageError} if it asks for what lines of JSON have not. */
  constructor(command: readonly string[], { readMembers, appends }: TemplateOptions) {
    this.#readMembers = readMembers;
    const isJson = readMembers !== undefined;
    const [ofPath] = isJson ? PATH_PLACEHOLDER.exec(command.join("\0")) ?? [] : [];
    if (ofPath !== undefined) {
      throw new UsageError(`Cannot fill ${ofPath} as each line is an object of JSON: name a member of it, as {name}`);
    }
    const args = command.map((arg) => arg.split(isJson ? JSON_PLACEHOLDER : PLACEHOLDER));
    const isFixed = args.every((pieces) => pieces.length === 1);
    this.#args = isFixed && appends ? [...args, ["", "", ""]] : args;
    this.hasPlaceholderInFile = args[0]!.length > 1;
    const names = this.#args.flatMap((pieces) => pieces.filter((_, index) => index % 2 === 1));
    this.#members = isJson ? [...new Set(names)].filter((name) => name !== "" && name !== "#") : [];
  }

  /** Says what it is that keeps a line from being an item; `undefined` if it can be one. */
  fault(text: string): string | undefined {
    if (this.#readMembers === undefined) return undefined;
    const members = this.#readMembers(text);
    if (members === undefined) return "no JSON object";
    const missing = this.#members.find((name) => !members.has(name));
    if (missing !== undefined) return `an object without '${missing}'`;
    const broken = this.#members.find((name) => LONE_SURROGATE.test(members.get(name)!));
    return broken === undefined ? undefined : `an object whose '${broken}' has half of a character`;
  }

  /** The command for an item. */
  fill(line: Line): string[] {
    const members = this.#members.length > 0 ? this.#readMembers!(line.text) : undefined;
    const valueOf = (name: string) => this.#members.includes(name) ? members!.get(name)! : OF_LINES[name]!(line);
    return this.#args.map((pieces) => pieces.map((piece, index) => index % 2 === 0 ? piece : valueOf(piece)).join(""));
  }
}

/** A name that begins with a dot is no extension. */
function withoutExtension(path: string): string {
  return path.replace(/(?<=[^/])\.[^/.]+$/, "");
}
