const LOWER_A = 0x61;
const UPPER_A = 0x41;
const LETTERS = 26;

/** Separators that begin with a lowercase letter. */
const LOWERCASE = /^[a-z]/;

/**
 * Names of keys in a trace. By default, a name is a hash with a random salt, so that a trace doesn't tell what the keys
 * were, and two traces can't be joined. With a separator, the group is hashed on its own, so that a replay has the same
 * groups.
 */
export class KeyNames {
  readonly #isPlain: boolean;
  readonly #separator: string | undefined;
  readonly #separatorJson: string;
  /** Pairs of letters, which hashes consist of. A hash never contains the separator. */
  readonly #pairs: readonly string[];
  readonly #salts = crypto.getRandomValues(new Uint32Array(2));
  /** Numbers of keys that are objects or functions. */
  readonly #numbers = new WeakMap<WeakKey, number>();
  #count = 0;

  constructor(isPlain: boolean, separator: string | undefined) {
    this.#isPlain = isPlain;
    this.#separator = separator;
    this.#separatorJson = JSON.stringify(separator ?? "").slice(1, -1);
    this.#pairs = pairsFrom(LOWERCASE.test(separator ?? "") ? UPPER_A : LOWER_A);
  }

  /** Returns the name of a key as JSON. */
  jsonOf(key: unknown): string {
    const text = this.#textOf(key);
    if (this.#isPlain) return JSON.stringify(text);
    const end = this.#separator === undefined ? -1 : text.indexOf(this.#separator);
    const hashed = this.#hash(text);
    return end === -1 ? `"${hashed}"` : `"${this.#hash(text.slice(0, end))}${this.#separatorJson}${hashed}"`;
  }

  #textOf(key: unknown): string {
    if (typeof key === "string") return key;
    const isReference = (typeof key === "object" && key !== null) || typeof key === "function";
    if (!isReference) return String(key);
    let number = this.#numbers.get(key as WeakKey);
    if (number === undefined) this.#numbers.set(key as WeakKey, number = this.#count++);
    return `object ${number}`;
  }

  #hash(text: string): string {
    return this.#lettersOf(hash(text, this.#salts[0]!)) + this.#lettersOf(hash(text, this.#salts[1]!));
  }

  /** Returns eight letters for a number of 32 bits. */
  #lettersOf(number: number): string {
    let letters = "";
    for (let i = 0; i < 4; i++) {
      letters += this.#pairs[number % (LETTERS * LETTERS)]!;
      number = Math.floor(number / (LETTERS * LETTERS));
    }
    return letters;
  }
}

/** Returns all pairs of letters. */
function pairsFrom(firstLetter: number): string[] {
  const letterOf = (i: number) => String.fromCharCode(firstLetter + i);
  return Array.from({ length: LETTERS * LETTERS }, (_, i) => letterOf(Math.floor(i / LETTERS)) + letterOf(i % LETTERS));
}

/** Returns a hash of 32 bits: FNV-1a with a final mix, as in MurmurHash3. */
function hash(text: string, salt: number): number {
  let hash = salt ^ 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 0;
}
