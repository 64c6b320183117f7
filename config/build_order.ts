/** A limiter's reference to another limiter by name. */
export interface Reference {
  readonly to: string;
  /** JSON Pointer to the reference. */
  readonly path: string;
}

/**
 * Orders names so that each name comes after all names to which it refers (Kahn, CACM 5, 1962), and finds the cycles.
 * Doesn't use recursion, so a long chain of references can't overflow the stack.
 *
 * @param references Map from each name to its references. Every name that is referred to must also be a key of the map.
 * @returns The order, without the names that are in a cycle or lead into one; and one chain of references for each
 * cycle.
 */
export function buildOrder(references: ReadonlyMap<string, readonly Reference[]>): {
  order: string[];
  circles: Reference[][];
} {
  const missing = new Map<string, number>();
  const referrers = new Map<string, string[]>();
  for (const [name, targets] of references) {
    missing.set(name, targets.length);
    for (const { to } of targets) {
      const others = referrers.get(to);
      if (others === undefined) referrers.set(to, [name]);
      else others.push(name);
    }
  }
  const order = [...references.keys()].filter((name) => missing.get(name) === 0);
  for (const name of order) { // `order` grows during the loop
    for (const referrer of referrers.get(name) ?? []) {
      const left = missing.get(referrer)! - 1;
      missing.set(referrer, left);
      if (left === 0) order.push(referrer);
    }
  }
  return { order, circles: findCircles(references, new Set(order)) };
}

/**
 * Returns the cycles. Every name that is missing from the order refers to another missing name, so following these
 * references always leads into a cycle.
 */
function findCircles(references: ReadonlyMap<string, readonly Reference[]>, visited: Set<string>): Reference[][] {
  const circles: Reference[][] = [];
  for (const start of references.keys()) {
    const walk: Reference[] = [];
    const places = new Map<string, number>();
    let name = start;
    while (!visited.has(name) && !places.has(name)) {
      places.set(name, walk.length);
      const next = references.get(name)!.find(({ to }) => !visited.has(to));
      if (next === undefined) break; // the walk leads into a cycle that was already found
      walk.push(next);
      name = next.to;
    }
    const begin = places.get(name);
    if (begin !== undefined && begin < walk.length) circles.push(walk.slice(begin));
    for (const seen of places.keys()) visited.add(seen);
  }
  return circles;
}
