import { MAX_ISSUES_IN_MESSAGE } from "../lib/base/errors.ts";
import { escapePointer } from "../lib/base/objects.ts";

/** A place in a text. */
export interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

/** Where and why a text is not JSON. */
export interface JsonError extends Place {
  /** What was expected there. */
  readonly expected: string;
}

/** A name that an object has a second time. Of the two values only the later one is in what was parsed. */
export interface DuplicateName extends Place {
  readonly name: string;
  /** A JSON Pointer to the value. */
  readonly path: string;
}

/**
 * Parses JSON, finds names that an object has twice, and says where the text goes wrong if it does.
 *
 * The runtimes' `JSON.parse` drops duplicates in silence, words errors as it likes, and does not always say where they
 * are.
 * So the text is read a second time here. Of very many duplicates, the first ones are found.
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

/** An object or a list that is open where the scanner is. */
interface Open {
  readonly isObject: boolean;
  /** The names that the object has so far. */
  readonly names: Set<string>;
  /** The name of the value of an object that the scanner is at. */
  name: string;
  /** How many values came before that value. */
  index: number;
}

/**
 * Walks through a text as the grammar of RFC 8259 does. What is open is on a stack of its own, and strings and numbers
 * are walked through by loops, so that neither depth nor length matters.
 */
class Scanner {
  /** What was expected where the text goes wrong. */
  expected = "";
  readonly duplicates: { name: string; path: string; at: number }[] = [];
  readonly #text: string;
  readonly #open: Open[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns where the text goes wrong, or its length if it does not. */
  findError(): number {
    for (;;) {
      if (this.#open.at(-1)?.isObject && !this.#takeName()) return this.#at;
      const value = this.#takeValue();
      if (value === undefined) return this.#at;
      if (value === "complete" && !this.#takeComma()) return this.#at;
    }
  }

  /** Takes the name of a value and the colon after it. */
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

  /** Takes a scalar or an opening bracket; `undefined` if there is neither. */
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
   * Takes closing brackets after a value, and then a comma. Returns whether there is a comma, and so another value. If
   * there is none, the scanner stands at the end of the text or at the error.
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

  /** Takes one of two characters, or notes that they were expected. */
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

  /** Takes a string if a whole one is there. */
  #takeString(): boolean {
    const text = this.#text;
    if (text[this.#at] !== '"') return false;
    let at = this.#at + 1;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
      if (!(code >= 0x20)) return false; // a control character, or NaN: the end
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

  /** Takes a number, or as much of one as makes one. */
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

  /** A JSON Pointer to the value that the scanner is at. */
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

/** The length of the escape sequence that begins here; 0 if it is none. */
function escapeLength(text: string, at: number): number {
  const kind = text[at + 1] ?? "";
  if (kind !== "" && '"\\/bfnrt'.includes(kind)) return 2;
  return kind === "u" && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)) ? 6 : 0;
}

/** The place after the digits that begin here. */
function skipDigits(text: string, at: number): number {
  while (text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39) at++;
  return at;
}

/** The end of a part of a number, if the part has digits. Else the number ends before that part. */
function longer(before: number, digits: number, end: number): number {
  return end > digits ? end : before;
}
