import { MAX_ISSUES_IN_MESSAGE } from "../lib/base/errors.ts";
import { escapePointer } from "../lib/base/objects.ts";

/** A position in a text. */
export interface Place {
  /** Line number, from 1. */
  readonly line: number;
  /** Column number, from 1, in UTF-16 code units. */
  readonly column: number;
}

/** Position and reason of a JSON syntax error. */
export interface JsonError extends Place {
  /** Description of the expected token. */
  readonly expected: string;
}

/** A repeated name in an object. The parsed value has only the later of the two values. */
export interface DuplicateName extends Place {
  readonly name: string;
  /** JSON Pointer to the value. */
  readonly path: string;
}

/**
 * Parses JSON, finds duplicate names in objects, and locates syntax errors.
 *
 * `JSON.parse` drops duplicates silently. Its errors differ between runtimes and don't always contain a position.
 * Therefore, this function scans the text a second time. If there are very many duplicates, only the first ones are
 * reported.
 */
export function parseJson(text: string): { value: unknown; duplicates: DuplicateName[] } | { error: JsonError } {
  const scanner = new Scanner(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { error: { ...placeOf(text, scanner.findError()), expected: scanner.expected } };
  }
  scanner.findError();
  const duplicates = scanner.duplicates.map(({ at, ...duplicate }) => ({ ...placeOf(text, at), ...duplicate }));
  return { value, duplicates };
}

function placeOf(text: string, at: number): Place {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", start)) {
    line++;
    start = end + 1;
  }
  return { line, column: at - start + 1 };
}

/** An object or a list that contains the scanner's position. */
interface Open {
  readonly isObject: boolean;
  /** Names in the object so far. */
  readonly names: Set<string>;
  /** Name of the current value, if this is an object. */
  name: string;
  /** Number of values before the current value, if this is a list. */
  index: number;
}

/**
 * Scanner for the grammar of RFC 8259. Uses an explicit stack, and loops for strings and numbers, so that deep nesting
 * and long values can't overflow the stack.
 */
class Scanner {
  /** Description of the token that was expected at the position of the error. */
  expected = "";
  readonly duplicates: { name: string; path: string; at: number }[] = [];
  readonly #text: string;
  readonly #open: Open[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the position of the first error, or the length of the text if there is none. */
  findError(): number {
    for (;;) {
      if (this.#open.at(-1)?.isObject && !this.#takeName()) return this.#at;
      const value = this.#takeValue();
      if (value === undefined) return this.#at;
      if (value === "complete" && !this.#takeComma()) return this.#at;
    }
  }

  /** Consumes the name of a value and the colon after it. Reports whether both were found. */
  #takeName(): boolean {
    this.#skipSpace();
    const start = this.#at;
    if (!this.#takeString()) {
      this.expected = "a key in double quotes";
      return false;
    }
    const raw = this.#text.slice(start, this.#at);
    const name = raw.includes("\\") ? JSON.parse(raw) as string : raw.slice(1, -1);
    const open = this.#open.at(-1)!;
    open.name = name;
    if (!open.names.has(name)) open.names.add(name);
    else if (this.duplicates.length < MAX_ISSUES_IN_MESSAGE) {
      this.duplicates.push({ name, path: this.#path(), at: start });
    }
    return this.#take(":") !== undefined;
  }

  /** Consumes a scalar or an opening bracket. Returns `undefined` if there is neither. */
  #takeValue(): "complete" | "opened" | undefined {
    this.#skipSpace();
    if (this.#takeString() || this.#takeNumber() || this.#takeWord()) return "complete";
    const bracket = this.#text[this.#at];
    if (bracket !== "{" && bracket !== "[") {
      this.expected = "a value";
      return undefined;
    }
    const isObject = bracket === "{";
    this.#at++;
    this.#skipSpace();
    if (this.#text[this.#at] === (isObject ? "}" : "]")) {
      this.#at++;
      return "complete";
    }
    this.#open.push({ isObject, names: isObject ? new Set() : NO_NAMES, name: "", index: 0 });
    return "opened";
  }

  /**
   * Consumes closing brackets after a value, and then a comma. Reports whether there is a comma, which means that
   * another value follows. If there is no comma, the scanner is at the end of the text or at the error.
   */
  #takeComma(): boolean {
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      const next = this.#take(",", open.isObject ? "}" : "]");
      if (next === undefined) return false;
      if (next === ",") {
        open.index++;
        return true;
      }
      this.#open.pop();
    }
    this.#skipSpace();
    this.expected = "the end";
    return false;
  }

  /** Consumes one of two characters, or records that one of them was expected. */
  #take(one: string, other = one): string | undefined {
    this.#skipSpace();
    const character = this.#text[this.#at];
    if (character === one || character === other) {
      this.#at++;
      return character;
    }
    this.expected = one === other ? `'${one}'` : `'${one}' or '${other}'`;
    return undefined;
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  /** Reports whether a complete string begins here, and consumes the string. */
  #takeString(): boolean {
    const text = this.#text;
    if (text[this.#at] !== '"') return false;
    let at = this.#at + 1;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
      if (!(code >= 0x20)) return false; // a control character, or the end of the text (NaN)
      if (code === BACKSLASH) {
        const length = escapeLength(text, at);
        if (length === 0) return false;
        at += length;
      } else {
        at++;
      }
    }
    this.#at = at + 1;
    return true;
  }

  /** Reports whether a number begins here, and consumes the longest valid number. */
  #takeNumber(): boolean {
    const text = this.#text;
    const first = text[this.#at] === "-" ? this.#at + 1 : this.#at;
    let end = text[first] === "0" ? first + 1 : skipDigits(text, first);
    if (end === first) return false;
    if (text[end] === ".") end = longer(end, end + 1, skipDigits(text, end + 1));
    if (text[end] === "e" || text[end] === "E") {
      const exponent = text[end + 1] === "+" || text[end + 1] === "-" ? end + 2 : end + 1;
      end = longer(end, exponent, skipDigits(text, exponent));
    }
    this.#at = end;
    return true;
  }

  #takeWord(): boolean {
    const word = ["true", "false", "null"].find((word) => this.#text.startsWith(word, this.#at));
    if (word === undefined) return false;
    this.#at += word.length;
    return true;
  }

  /** Returns a JSON Pointer to the current value. */
  #path(): string {
    return this.#open.map(({ isObject, name, index }) => `/${isObject ? escapePointer(name) : index}`).join("");
  }
}

const NO_NAMES = new Set<string>();
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Returns the length of the escape sequence that begins here; 0 if there is none. */
function escapeLength(text: string, at: number): number {
  const kind = text[at + 1] ?? "";
  if (kind !== "" && '"\\/bfnrt'.includes(kind)) return 2;
  return kind === "u" && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)) ? 6 : 0;
}

/** Returns the position after the digits that begin here. */
function skipDigits(text: string, at: number): number {
  while (text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39) at++;
  return at;
}

/**
 * Returns the end of a number after its fraction or exponent, if any: `end` if that part has digits, otherwise
 * `before`.
 */
function longer(before: number, digits: number, end: number): number {
  return end > digits ? end : before;
}
