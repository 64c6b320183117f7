import { parse } from "smol-toml";
import type { Tree } from "./places.ts";

/** Location of a member of a table, or of a list element. The members of a table may be far apart in the text. */
interface Part {
  /** Offset of the name, or of the list element. */
  offset: number;
  /** Members by name, or list elements by index. */
  members?: Map<string, Part>;
  /** Latest element of a list of tables (`[[name]]`). */
  latest?: Part;
}

/**
 * Returns the locations of all names and list elements in a TOML text that the parser has accepted.
 *
 * The parser reports locations only for syntax errors. No other package is used, because packages that report all
 * locations need about 2 KB of memory per value, so a list in a file of 8 MB would use up the memory of the process.
 */
export function tomlTree(text: string): Tree<Part> {
  return {
    root: new Reader(text).read(),
    offsetOf: ({ offset }) => offset,
    find({ members }, name) {
      const member = members?.get(name);
      return member && { name: member, value: member };
    },
  };
}

const SPACES = /[ \t]*/y;
const BLANKS = /[ \t\r\n]*/y;
const COMMENT = /#[^\n]*/y;
const BARE_NAME = /[^ \t.=\]]+/y;
const SCALAR = /[^,\]}#\n]+/y;

/** Reads a text from left to right. Doesn't check the syntax. */
class Reader {
  readonly #text: string;
  #offset = 0;
  /** Offset of the name that was read last, without the names and dots before it. */
  #nameOffset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Part {
    this.#skipBlanks();
    const root: Part = { offset: this.#offset };
    for (let table = root; this.#offset < this.#text.length; this.#skipBlanks()) {
      if (this.#isAt("[")) table = this.#readHeader(root);
      else this.#readPair(table);
    }
    return root;
  }

  /** Reads `[name]` or `[[name]]`. Returns the table that begins here. */
  #readHeader(root: Part): Part {
    const start = this.#offset;
    const brackets = this.#isAt("[[") ? 2 : 1;
    this.#offset += brackets;
    const part = this.#readName(root);
    this.#offset += brackets;
    if (brackets === 2) return part.latest = memberOf(part, String(part.members?.size ?? 0), start);
    part.offset = this.#nameOffset; // a header such as `[name.member]` may have created the part
    return part;
  }

  /** Reads `name = value`. */
  #readPair(table: Part): void {
    const part = this.#readName(table);
    this.#offset++; // equals sign
    this.#readValue(part);
  }

  /** Reads a name, such as `a` or `a."b c"`, and the spaces around it. */
  #readName(table: Part): Part {
    for (let part = table;; this.#offset++) {
      this.#skip(SPACES);
      this.#nameOffset = this.#offset;
      part = memberOf(part.latest ?? part, this.#readPartOfName(), this.#nameOffset);
      this.#skip(SPACES);
      if (!this.#isAt(".")) return part;
    }
  }

  #readPartOfName(): string {
    if (!this.#skipString()) this.#skip(BARE_NAME);
    const source = this.#text.slice(this.#nameOffset, this.#offset);
    return /^["']/.test(source) ? Object.keys(parse(`${source} = 0`))[0]! : source;
  }

  #readValue(part: Part): void {
    this.#skip(SPACES);
    let elements = 0;
    if (this.#isAt("{")) this.#readUntil("}", () => this.#readPair(part));
    else if (this.#isAt("[")) {
      this.#readUntil("]", () => this.#readValue(memberOf(part, String(elements++), this.#offset)));
    } else if (!this.#skipString()) this.#skip(SCALAR);
  }

  /** Reads an inline table or a list. Calls `read` at the beginning of each member or element. */
  #readUntil(end: string, read: () => void): void {
    this.#offset++;
    for (this.#skipBlanks(); !this.#isAt(end); this.#skipBlanks()) {
      read();
      this.#skipBlanks();
      if (this.#isAt(",")) this.#offset++;
    }
    this.#offset++;
  }

  /** Skips a string. Returns `false` if there is no string here. */
  #skipString(): boolean {
    const quote = this.#text[this.#offset]!;
    if (quote !== '"' && quote !== "'") return false;
    const delimiter = this.#isAt(quote.repeat(3)) ? quote.repeat(3) : quote;
    this.#offset += delimiter.length;
    while (!this.#isAt(delimiter) && this.#offset < this.#text.length) {
      this.#offset += quote === '"' && this.#isAt("\\") ? 2 : 1;
    }
    this.#offset += delimiter.length;
    // A string of several lines may end with up to two quotes before the delimiter.
    while (delimiter !== quote && this.#isAt(quote)) this.#offset++;
    return true;
  }

  /** Skips spaces, line breaks and comments. */
  #skipBlanks(): void {
    for (this.#skip(BLANKS); this.#isAt("#"); this.#skip(BLANKS)) this.#skip(COMMENT);
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#offset;
    if (!pattern.test(this.#text)) throw new Error("the text is not TOML");
    this.#offset = pattern.lastIndex;
  }

  #isAt(text: string): boolean {
    return this.#text.startsWith(text, this.#offset);
  }
}

/** Returns a member of a table, or an element of a list. Adds it if it is missing. */
function memberOf(part: Part, name: string, offset: number): Part {
  part.members ??= new Map();
  let member = part.members.get(name);
  if (member === undefined) part.members.set(name, member = { offset });
  return member;
}
