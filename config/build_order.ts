/** A limiter's reference to another by name, and where it stands. */
export interface Reference {
  readonly to: string;
  /** A JSON Pointer. */
  readonly path: string;
}

/**
 * Puts names into an order in which each comes after all that it refers to (Kahn, CACM 5, 1962), and finds
 * the circles that have no such order. Nothing here recurses, however long a chain of references is.
 *
 * @param references What each name refers to. All of it has to be among the keys.
 * @returns The order, without the names that are in a circle or lead into one; and one reference chain for
 * each circle.
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
  for (const name of order) { // grows while it is walked
    for (const referrer of referrers.get(name) ?? []) {
      const left = missing.get(referrer)! - 1;
      missing.set(referrer, left);
      if (left === 0) order.push(referrer);
    }
  }
  return { order, circles: findCircles(references, new Set(order)) };
}

/** Every name without an order refers to another such name, so following the references leads into a circle. */
function findCircles(references: ReadonlyMap<string, readonly Reference[]>, visited: Set<string>): Reference[][] {
  const circles: Reference[][] = [];
  for (const start of references.keys()) {
    const walk: Reference[] = [];
    const places = new Map<string, number>();
    let name = start;
    while (!visited.has(name) && !places.has(name)) {
      places.set(name, walk.length);
      const next = references.get(name)!.find(({ to }) => !visited.has(to));
      if (next === undefined) break; // this leads into a circle that was found before
      walk.push(next);
      name = next.to;
    }
    const begin = places.get(name);
    if (begin !== undefined && begin < walk.length) circles.push(walk.slice(begin));
    for (const seen of places.keys()) visited.add(seen);
  }
  return circles;
}
