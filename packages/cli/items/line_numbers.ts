import { createHash, randomBytes } from "node:crypto";

/** Words of a place: three of the hash, and the number of the line. The number of a free place is 0. */
const WORDS = 4;
const NUMBER = 3;
const FIRST_PLACES = 1024;
/** Largest part of the places that may be taken. Beyond it, most lookups would meet other lines first. */
const MAX_LOAD = 0.6;

/**
 * Map from lines to numbers from 0 to 2^32 - 1 that doesn't keep the lines. It takes 27 to 54 bytes for each different
 * line whose number is not 0. It tells lines apart by 96 bits of a SHA-256 hash: among a billion lines, the chance of a
 * collision is less than one in 10^11. The hash is salted, so that nobody can make collisions on purpose.
 *
 * A hash table with linear probing, in one array outside of the heap, which the garbage collector doesn't scan.
 */
export class LineNumbers {
  readonly #salt = randomBytes(16);
  #places = createPlaces(FIRST_PLACES);
  #taken = 0;

  /**
   * Changes the number of a line.
   *
   * @param line The line.
   * @param change Returns the new number from the old one, which is 0 for a new line. The number can't become 0 again.
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

  #hash(line: string): [number, number, number] {
    const digest = createHash("sha256").update(this.#salt).update(line).digest();
    return [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8)];
  }

  /** Doubles the table. Makes no objects: there would be hundreds of thousands before the collector could free any. */
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
 * Makes free places. The buffer is resizable but never resized: V8 puts such a buffer into memory that a fork skips, as
 * it does with its own heap; of all other buffers, a fork copies page tables. On Node, each start of a child is a fork,
 * and a million lines doubled its time.
 */
function createPlaces(count: number): Uint32Array {
  const maxByteLength = count * WORDS * Uint32Array.BYTES_PER_ELEMENT;
  return new Uint32Array(new ArrayBuffer(maxByteLength, { maxByteLength }), 0, count * WORDS);
}

/** Returns the index of a hash, or of the first free place after the one that it points to. */
function placeOf(places: Uint32Array, a: number, b: number, c: number): number {
  let at = (a * WORDS) % places.length;
  while (places[at + NUMBER] !== 0 && (places[at] !== a || places[at + 1] !== b || places[at + 2] !== c)) {
    at = (at + WORDS) % places.length;
  }
  return at;
}
