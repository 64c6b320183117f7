/** Keys such as a controller has: `namespace-7/name-12347`. */
export function distinctKeys(count: number, namespaces = 10): string[] {
  const made = Array.from({ length: count }, (_, i) => `namespace-${i % namespaces}/name-${i}`);
  const keys: string[] = JSON.parse(JSON.stringify(made)); // each in one piece, as keys that came from somewhere are
  new Set(keys); // a string is hashed when it is first a key, and never again
  return keys;
}
