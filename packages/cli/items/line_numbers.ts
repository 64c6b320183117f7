import { createHash, randomBytes } from "node:crypto";

/** How many words a place has: three of the hash, and the number of the line, which is 0 for a place that is free. */
const WORDS = 4;
const NUMBER = 3;
const FIRST_PLACES = 1024;
/** The part of the places that may be taken: with more, most lookups would find a place that is another line's. */
const MAX_LOAD = 0.6;

/**
 * A number for each line, from 0 to 2^32 - 1, without the lines: 27 to 54 bytes for each that differs and is not 0. Lines
 * are told apart by 96 bits of a SHA-256 hash: among a billion lines, the chance that two differ and are taken for one is
 * less than one in 10^11. The hash begins with random bytes, so nobody can make such lines on purpose.
 *
 * It is one array outside of the heap, which the collector need not look at.
 */
export class LineNumbers {
  readonly #salt = randomBytes(16);
  #places = createPlaces(FIRST_PLACES);
  #taken = 0;

  /**
   * Gives a line another number.
   *
   * @param line The line.
   * @param change Says which, and is given the one before; 0 for a line that had none, and never again afterwards.
   * @returns The one before.
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

  /** It makes no objects: there would be hundreds of thousands at once, before the collector could take any. */
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
 * Places that are free. The buffer could be resized, and never is: V8 takes such a buffer from memory that a fork leaves
 * out, as its own heap, and all others from memory whose tables a fork copies. On Node, each start of a child is a fork: a
 * million lines made it take twice as long.
 */
function createPlaces(count: number): Uint32Array {
  const maxByteLength = count * WORDS * Uint32Array.BYTES_PER_ELEMENT;
  return new Uint32Array(new ArrayBuffer(maxByteLength, { maxByteLength }), 0, count * WORDS);
}

/** Where a hash is, or else the first free place after the one that it points to. */
function placeOf(places: Uint32Array, a: number, b: number, c: number): number {
  let at = (a * WORDS) % places.length;
  while (places[at + NUMBER] !== 0 && (places[at] !== a || places[at + 1] !== b || places[at + 2] !== c)) {
    at = (at + WORDS) % places.length;
  }
  return at;
}
