/**
 * Names of keys in a trace. By default, a name is a hash with a random salt, so that a trace doesn't tell what the keys
 * were, and two traces can't be joined.
 */
export class KeyNames {
  readonly #isPlain: boolean;
  readonly #salts = crypto.getRandomValues(new Uint32Array(2));
  /** Numbers of keys that are objects or symbols. */
  readonly #numbers = new WeakMap<WeakKey, number>();
  #count = 0;

  constructor(isPlain: boolean) {
    this.#isPlain = isPlain;
  }

  nameOf(key: unknown): string {
    const text = this.#textOf(key);
    if (this.#isPlain) return text;
    const [one, two] = this.#salts;
    return hash(text, one!).toString(36) + hash(text, two!).toString(36);
  }

  #textOf(key: unknown): string {
    const isReference = (typeof key === "object" && key !== null) || typeof key === "function";
    if (!isReference) return String(key);
    let number = this.#numbers.get(key as WeakKey);
    if (number === undefined) this.#numbers.set(key as WeakKey, number = this.#count++);
    return `object ${number}`;
  }
}

/** Returns a hash of 32 bits: FNV-1a with a final mix, as in MurmurHash3. */
function hash(text: string, salt: number): number {
  let hash = salt ^ 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 0;
}
