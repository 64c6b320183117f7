/** Returns keys that look like a controller's: `namespace-7/name-12347`. */
export function distinctKeys(count: number, namespaces = 10): string[] {
  const made = Array.from({ length: count }, (_, i) => `namespace-${i % namespaces}/name-${i}`);
  const keys: string[] = JSON.parse(JSON.stringify(made)); // makes the strings flat, like keys parsed from JSON
  new Set(keys); // computes the hashes, which JavaScript engines cache in the strings
  return keys;
}
