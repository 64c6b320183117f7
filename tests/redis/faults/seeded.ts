/** Returns a generator of numbers from 0 to 1 that depends only on the seed (Park and Miller). */
export function seeded(seed: number): () => number {
  let state = seed % 2147483646 + 1;
  return () => (state = state * 48271 % 2147483647) / 2147483647;
}
