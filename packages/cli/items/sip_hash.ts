/** Length of a key: four words of 32 bits. */
export const KEY_WORDS = 4;

/**
 * Computes SipHash-2-4 of a string with a secret key: a hash with which nobody can cause collisions without the key.
 * See Aumasson and Bernstein, "SipHash: a fast short-input PRF". `createHash` of `node:crypto` allocates memory outside
 * the heap for each call, and Deno frees it late: a million lines took more than 150 MB.
 *
 * The hash is that of the string's UTF-16 code units, low byte first. Each 64-bit number is kept as two 32-bit integers
 * (`l`: low, `h`: high).
 *
 * @param text The string.
 * @param key The key: {@linkcode KEY_WORDS} words, low words first.
 * @param out Receives the 128 bits of the hash: four words, low words first.
 */
export function sipHash(text: string, key: Int32Array, out: Uint32Array): void {
  const [k0l, k0h, k1l, k1h] = key as unknown as [number, number, number, number];
  let v0l = k0l ^ 0x70736575, v0h = k0h ^ 0x736f6d65;
  let v1l = k1l ^ 0x6e646f6d ^ 0xee, v1h = k1h ^ 0x646f7261;
  let v2l = k0l ^ 0x6e657261, v2h = k0h ^ 0x6c796765;
  let v3l = k1l ^ 0x79746573, v3h = k1h ^ 0x74656462;
  const { length } = text;
  const words = (length >> 2) + 1; // of 4 code units; the last word also contains the length in bytes
  for (let step = 0; step < words + 2; step++) {
    const isText = step < words;
    let ml = 0;
    let mh = 0;
    if (isText) {
      const at = 4 * step;
      ml = unitAt(text, at) | unitAt(text, at + 1) << 16;
      mh = unitAt(text, at + 2) | unitAt(text, at + 3) << 16;
      if (step === words - 1) mh |= length << 25; // the lowest byte of the length in bytes
      v3l ^= ml;
      v3h ^= mh;
    } else if (step === words) v2l ^= 0xee;
    else v1l ^= 0xdd;
    for (let round = isText ? 2 : 4; round > 0; round--) {
      // v0 += v1, rotate v1 by 13, v1 ^= v0, rotate v0 by 32
      let l = (v0l + v1l) | 0;
      let h = (v0h + v1h + carry(l, v1l)) | 0;
      let turned = v1l << 13 | v1h >>> 19;
      v1h = (v1h << 13 | v1l >>> 19) ^ h;
      v1l = turned ^ l;
      v0l = h;
      v0h = l;
      // v2 += v3, rotate v3 by 16, v3 ^= v2
      v2l = (v2l + v3l) | 0;
      v2h = (v2h + v3h + carry(v2l, v3l)) | 0;
      turned = v3l << 16 | v3h >>> 16;
      v3h = (v3h << 16 | v3l >>> 16) ^ v2h;
      v3l = turned ^ v2l;
      // v0 += v3, rotate v3 by 21, v3 ^= v0
      v0l = (v0l + v3l) | 0;
      v0h = (v0h + v3h + carry(v0l, v3l)) | 0;
      turned = v3l << 21 | v3h >>> 11;
      v3h = (v3h << 21 | v3l >>> 11) ^ v0h;
      v3l = turned ^ v0l;
      // v2 += v1, rotate v1 by 17, v1 ^= v2, rotate v2 by 32
      l = (v2l + v1l) | 0;
      h = (v2h + v1h + carry(l, v1l)) | 0;
      turned = v1l << 17 | v1h >>> 15;
      v1h = (v1h << 17 | v1l >>> 15) ^ h;
      v1l = turned ^ l;
      v2l = h;
      v2h = l;
    }
    if (isText) {
      v0l ^= ml;
      v0h ^= mh;
    } else {
      const at = 2 * (step - words);
      out[at] = v0l ^ v1l ^ v2l ^ v3l;
      out[at + 1] = v0h ^ v1h ^ v2h ^ v3h;
    }
  }
}

/** Returns a code unit; 0 after the end of the string. */
function unitAt(text: string, index: number): number {
  return index < text.length ? text.charCodeAt(index) : 0;
}

/** Returns the carry of an addition of 32-bit integers, given the sum and one of the summands. */
function carry(sum: number, summand: number): 0 | 1 {
  return sum >>> 0 < summand >>> 0 ? 1 : 0;
}
