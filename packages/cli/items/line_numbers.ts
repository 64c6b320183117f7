import { sha256 } from "@noble/hashes/sha2.js";

/** Words per slot of the table: three words of the hash, and the number of the line. */
const WORDS = 4;
/** Index of the number in a slot. The number in a free slot is 0. */
const NUMBER = 3;
const FIRST_PLACES = 1024;
/** Largest number of bytes of one UTF-16 code unit in UTF-8. */
const MAX_BYTES = 3;
const encoder = new TextEncoder();
/** Largest fraction of slots in use. Above this fraction, most lookups would first hit slots of other lines. */
const MAX_LOAD = 0.6;

/**
 * Map from lines to numbers from 0 to 2^32 - 1. The map doesn't keep the lines. Each distinct line with a number other
 * than 0 takes 27 to 54 bytes. Lines are identified by 96 bits of a SHA-256 hash. Among a billion lines, the chance of
 * a collision is less than one in 10^11. The hash is salted so that nobody can cause collisions on purpose.
 *
 * The map is a hash table with linear probing. The table is one array outside the heap, so the garbage collector
 * doesn't scan the table.
 */
export class LineNumbers {
  /** Hasher with the salt. Reused for each line, as is the digest, so that hashing allocates little memory. */
  readonly #salted = sha256.create().update(crypto.getRandomValues(new Uint8Array(16)));
  readonly #hasher = sha256.create();
  readonly #digest = new Uint8Array(sha256.outputLen);
  readonly #words = new DataView(this.#digest.buffer);
  /** Buffer for the bytes of a line. Reused, because memory outside the heap is freed late. */
  #bytes = new Uint8Array(1024);
  #places = createPlaces(FIRST_PLACES);
  #taken = 0;

  /**
   * Changes the number of a line.
   *
   * @param line The line.
   * @param change Returns the new number, given the old number. The old number of a new line is 0. If the old number is
   * not 0, `change` must not return 0.
   * @returns The old number.
   */
  change(line: string, change: (before: number) => number): number {
    if (this.#taken >= (this.#places.length / WORDS) * MAX_LOAD) this.#grow();
    const [a, b, c] = this.#hash(line);
    const at = placeOf(this.#places, a, b, c);
    const before = this.#places[at + NUMBER]!;
    const after = change(before);
    if (before === 0 && after === 0) return 0;
    if (before === 0) this.#taken++;
    this.#places.set([a, b, c, after], at);
    return before;
  }

  /**
   * Returns 96 bits of a line's hash. `createHash` of `node:crypto` allocates memory outside the heap for each call,
   * and Deno frees that memory late: a million lines took more than 100 MB.
   */
  #hash(line: string): [number, number, number] {
    this.#salted._cloneInto(this.#hasher).update(this.#bytesOf(line)).digestInto(this.#digest);
    return [this.#words.getUint32(0), this.#words.getUint32(4), this.#words.getUint32(8)];
  }

  #bytesOf(line: string): Uint8Array {
    if (this.#bytes.length < MAX_BYTES * line.length) this.#bytes = new Uint8Array(MAX_BYTES * line.length);
    return this.#bytes.subarray(0, encoder.encodeInto(line, this.#bytes).written);
  }

  /**
   * Doubles the size of the table. Allocates no objects: one object for each line would add up to hundreds of thousands
   * before the garbage collector could free any.
   */
  #grow(): void {
    const old = this.#places;
    this.#places = createPlaces(2 * old.length / WORDS);
    for (let from = 0; from < old.length; from += WORDS) {
      if (old[from + NUMBER] === 0) continue;
      const place = placeOf(this.#places, old[from]!, old[from + 1]!, old[from + 2]!);
      for (let word = 0; word < WORDS; word++) this.#places[place + word] = old[from + word]!;
    }
  }
}

/**
 * Creates an array of free slots. The array's buffer is resizable but never resized. V8 allocates a resizable buffer,
 * like its own heap, in memory that a fork skips. For all other buffers, a fork copies page tables. Node forks to start
 * a child. With an ordinary buffer and a million lines, starting a child took twice as long.
 */
function createPlaces(count: number): Uint32Array {
  const maxByteLength = count * WORDS * Uint32Array.BYTES_PER_ELEMENT;
  return new Uint32Array(new ArrayBuffer(maxByteLength, { maxByteLength }), 0, count * WORDS);
}

/**
 * Returns the index of a hash's slot. If the hash is not in the table, returns the index of the first free slot for it.
 */
function placeOf(places: Uint32Array, a: number, b: number, c: number): number {
  let at = (a * WORDS) % places.length;
  while (places[at + NUMBER] !== 0 && (places[at] !== a || places[at + 1] !== b || places[at + 2] !== c)) {
    at = (at + WORDS) % places.length;
  }
  return at;
}
