/** Numbers from 0 to 1, the same ones for the same seed: Park and Miller's. */
export function seeded(seed: number): () => number {
  let state = seed % 2147483646 + 1;
  return () => (state = state * 48271 % 2147483647) / 2147483647;
}
