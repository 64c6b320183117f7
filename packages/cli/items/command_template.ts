import { posix } from "node:path";
import type { Line } from "./backlog.ts";
import type { Members } from "./json_members.ts";

/** Options of a {@linkcode CommandTemplate}. */
export interface TemplateOptions {
  /**
   * Reads a line as a JSON object whose members fill the placeholders with the same names; `undefined` for plain lines.
   */
  readonly readMembers: ((text: string) => Members | undefined) | undefined;
  /** Whether the item is appended to a command without placeholders. */
  readonly appends: boolean;
}

/**
 * Functions that return the value of a placeholder, given a plain line. Each key is the text between the placeholder's
 * braces.
 */
const OF_LINES: Readonly<Record<string, (line: Line) => string>> = {
  "": ({ text }) => text,
  ".": ({ text }) => withoutExtension(text),
  "/": ({ text }) => posix.basename(text),
  "//": ({ text }) => posix.dirname(text),
  "/.": ({ text }) => withoutExtension(posix.basename(text)),
  "#": ({ number }) => String(number),
};
/**
 * Half of a surrogate pair. An argument can't contain an unpaired half: the command would receive a different
 * character.
 */
const LONE_SURROGATE = /\p{Surrogate}/u;
const PLACEHOLDER = /\{(\/\/|\/\.|[./#]|)\}/;
const JSON_PLACEHOLDER = /\{(#|[\p{L}_][\p{L}\p{N}_.-]*|)\}/u;
/** Placeholder for a part of a path. A JSON line is not a path. */
const PATH_PLACEHOLDER = /\{(\/\/|\/\.|[./])\}/;

/** Command and its arguments, with placeholders for an item. */
export class CommandTemplate {
  /** Whether the path of the command depends on the item. */
  readonly hasPlaceholderInFile: boolean;
  readonly #readMembers: TemplateOptions["readMembers"];
  /** Pieces of each argument, alternating between literal text and the text inside a placeholder. */
  readonly #args: readonly string[][];
  /** Names of the members that a JSON line must have. */
  readonly #members: readonly string[];

  /** Parses a command. With JSON lines, the command must not have placeholders for parts of a path. */
  constructor(command: readonly string[], { readMembers, appends }: TemplateOptions) {
    this.#readMembers = readMembers;
    const isJson = readMembers !== undefined;
    const args = command.map((arg) => arg.split(isJson ? JSON_PLACEHOLDER : PLACEHOLDER));
    const isFixed = args.every((pieces) => pieces.length === 1);
    this.#args = isFixed && appends ? [...args, ["", "", ""]] : args;
    this.hasPlaceholderInFile = args[0]!.length > 1;
    const names = this.#args.flatMap((pieces) => pieces.filter((_, index) => index % 2 === 1));
    this.#members = isJson ? [...new Set(names)].filter((name) => name !== "" && name !== "#") : [];
  }

  /**
   * Returns the reason why a line can't be an item, such as `"not a JSON object"`; `undefined` if the line can be an
   * item.
   */
  fault(text: string): string | undefined {
    if (this.#readMembers === undefined) return undefined;
    const members = this.#readMembers(text);
    if (members === undefined) return "not a JSON object";
    const missing = this.#members.find((name) => !members.has(name));
    if (missing !== undefined) return `no member '${missing}'`;
    const broken = this.#members.find((name) => LONE_SURROGATE.test(members.get(name)!));
    return broken === undefined ? undefined : `unpaired surrogate in member '${broken}'`;
  }

  /** Returns the command for an item. */
  fill(line: Line): string[] {
    const members = this.#members.length > 0 ? this.#readMembers!(line.text) : undefined;
    const valueOf = (name: string) => this.#members.includes(name) ? members!.get(name)! : OF_LINES[name]!(line);
    return this.#args.map((pieces) => pieces.map((piece, index) => index % 2 === 0 ? piece : valueOf(piece)).join(""));
  }
}

/**
 * Returns the first placeholder for a part of a path, such as `"{/}"`; `undefined` if there is none. JSON lines can't
 * fill such a placeholder.
 */
export function pathPlaceholderIn(command: readonly string[]): string | undefined {
  return PATH_PLACEHOLDER.exec(command.join("\0"))?.[0];
}

/** Returns the path without its extension. A dot at the start of a name doesn't begin an extension. */
function withoutExtension(path: string): string {
  return path.replace(/(?<=[^/])\.[^/.]+$/, "");
}
