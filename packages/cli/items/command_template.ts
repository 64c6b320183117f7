import { posix } from "node:path";
import type { Line } from "./backlog.ts";
import { warningsAbout } from "./command_warnings.ts";

/** Named parts of a line, such as the members of a JSON object. */
export interface Fields {
  /**
   * Pattern of a placeholder. The first group is the name of a field, or empty for the whole line. The second group is
   * an operation, such as `/` in `{/}`.
   */
  readonly placeholder: RegExp;
  /** Description of a valid line: `"a JSON object"`. */
  readonly whole: string;
  /** Returns the named fields that the line has; `undefined` if the line is invalid. May return other fields, too. */
  read(text: string, names: readonly string[]): ReadonlyMap<string, string> | undefined;
  /** Returns a field's name in messages: `"member 'id'"`. */
  nameOf(field: string): string;
}

/** Options of a {@linkcode CommandTemplate}. */
export interface TemplateOptions {
  /** Fields that the command's placeholders can name; `undefined` for plain lines. */
  readonly fields: Fields | undefined;
  /** Text that stands for the item instead of `{}`; `undefined` for the placeholders in braces. */
  readonly replaces: string | undefined;
  /** Whether the item is appended to a command without placeholders. */
  readonly appends: boolean;
}

/** Placeholder in an argument of a command. */
interface Placeholder {
  /** Name of a field, or empty for the whole line. */
  readonly field: string;
  /** Function that returns the value of the placeholder. */
  readonly valueOf: Operation;
}

type Operation = (text: string, line: Line, slot: number) => string;

/** Operations of placeholders. Each key is the text between the placeholder's braces, after the name of a field. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  "": (text) => text,
  ".": (text) => withoutExtension(text),
  "/": (text) => posix.basename(text),
  "//": (text) => posix.dirname(text),
  "/.": (text) => withoutExtension(posix.basename(text)),
  "#": (_text, { number }) => String(number),
  "%": (_text, _line, slot) => String(slot),
};
/**
 * Half of a surrogate pair. An argument can't contain an unpaired half: the command would receive a different
 * character.
 */
const LONE_SURROGATE = /\p{Surrogate}/u;
const PLACEHOLDER = /\{()(\/\/|\/\.|[./#%]|)\}/;
/** Placeholder for a part of a path. A JSON line is not a path. */
const PATH_PLACEHOLDER = /\{(\/\/|\/\.|[./])\}/;
/** Placeholder for the whole line, which is appended to a command without placeholders. */
const WHOLE_LINE: Placeholder = { field: "", valueOf: OPERATIONS[""]! };

/** Command and its arguments, with placeholders for an item. */
export class CommandTemplate {
  /** Whether the path of the command depends on the item. */
  readonly hasPlaceholderInFile: boolean;
  /** Warnings about placeholders at which an item is not an argument of its own. */
  readonly warnings: readonly string[];
  readonly #fields: Fields | undefined;
  /** Pieces of each argument. */
  readonly #args: readonly (string | Placeholder)[][];
  /** Names of the fields that a line must have. */
  readonly #names: readonly string[];

  /** Parses a command. With JSON lines, the command must not have placeholders for parts of a path. */
  constructor(command: readonly string[], { fields, replaces, appends }: TemplateOptions) {
    this.#fields = fields;
    const placeholder = fields?.placeholder ?? placeholderOf(replaces);
    this.warnings = warningsAbout(command, placeholder);
    const args = command.map((arg) => parse(arg, placeholder));
    const isFixed = args.every((pieces) => pieces.length === 1);
    this.#args = isFixed && appends ? [...args, [WHOLE_LINE]] : args;
    this.hasPlaceholderInFile = args[0]!.length > 1;
    const names = args.flat().map((piece) => typeof piece === "string" ? "" : piece.field);
    this.#names = [...new Set(names)].filter((name) => name !== "");
  }

  /**
   * Returns the reason why a line can't be an item, such as `"not a JSON object"`; `undefined` if the line can be an
   * item.
   */
  fault(text: string): string | undefined {
    if (this.#fields === undefined) return undefined;
    const { whole, nameOf } = this.#fields;
    const fields = this.#fields.read(text, this.#names);
    if (fields === undefined) return `not ${whole}`;
    const missing = this.#names.find((name) => !fields.has(name));
    if (missing !== undefined) return `no ${nameOf(missing)}`;
    const broken = this.#names.find((name) => LONE_SURROGATE.test(fields.get(name)!));
    return broken === undefined ? undefined : `unpaired surrogate in ${nameOf(broken)}`;
  }

  /** Returns the command for an item. `slot` is the number of the slot in which the command runs. */
  fill(line: Line, slot: number): string[] {
    const fields = this.#names.length > 0 ? this.#fields!.read(line.text, this.#names)! : undefined;
    const textOf = (piece: string | Placeholder) => {
      if (typeof piece === "string") return piece;
      return piece.valueOf(piece.field === "" ? line.text : fields!.get(piece.field)!, line, slot);
    };
    return this.#args.map((pieces) => pieces.map(textOf).join(""));
  }
}

/**
 * Returns the pattern of placeholders for plain lines. An operation after a text of the user ends a word, so that
 * `STR.bak` and `STR/file` have the whole item, as with xargs.
 *
 * @param replaces The text that stands for the item; `undefined` for the placeholders in braces.
 */
function placeholderOf(replaces: string | undefined): RegExp {
  if (replaces === undefined || replaces === "{}") return PLACEHOLDER;
  const text = replaces.replace(/[\\^$.*+?()[\]{}|\/-]/g, "\\$&");
  return new RegExp(`${text}()((?:\\/\\/|\\/\\.|\\/(?![/.])|[.#%])(?![\\p{L}\\p{N}_*?/-])|)`, "u");
}

/** Splits an argument into text and placeholders. */
function parse(arg: string, placeholder: RegExp): (string | Placeholder)[] {
  const pieces: (string | Placeholder)[] = [];
  const texts = arg.split(placeholder); // text, field, operation, text …
  for (let i = 0; i < texts.length; i += 3) {
    if (i > 0) pieces.push({ field: texts[i - 2]!, valueOf: OPERATIONS[texts[i - 1]!]! });
    pieces.push(texts[i]!);
  }
  return pieces;
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
