/** Returns keys as a controller has them: `namespace-7/name-12347`. */
export function distinctKeys(count: number, namespaces = 10): string[] {
  const made = Array.from({ length: count }, (_, i) => `namespace-${i % namespaces}/name-${i}`);
  const keys: string[] = JSON.parse(JSON.stringify(made)); // flat strings, as parsed keys are
  new Set(keys); // computes the hashes, which engines cache in the strings
  return keys;
}
