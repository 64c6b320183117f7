import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";

/**
 * Stable limiters, by their place in the documents. A place is the JSON Pointer to a named limiter or to the limiter of
 * a queue. Places from loaded documents are never removed, because other code may use their limiters.
 */
export class Places {
  readonly #places = new Map<string, LiveLimiter>();

  /** Returns the stable limiter of a place; `undefined` if the place is unknown. */
  get(path: string): LiveLimiter | undefined {
    return this.#places.get(path);
  }

  /**
   * Returns the stable limiter of a place. If the place is new, creates a stable limiter that delegates to `limiter`.
   */
  open(path: string, limiter: RateLimiter): LiveLimiter {
    let place = this.#places.get(path);
    if (place === undefined) this.#places.set(path, place = new LiveLimiter(limiter));
    return place;
  }

  /** Runs the action. If the action throws, removes the places that it added. */
  openFor<R>(action: () => R): R {
    const { size } = this.#places;
    try {
      return action();
    } catch (error) {
      this.#forgetFrom(size);
      throw error;
    }
  }

  /** Runs the action, and then removes the places that it added. */
  tryFor<R>(action: () => R): R {
    const { size } = this.#places;
    try {
      return action();
    } finally {
      this.#forgetFrom(size);
    }
  }

  #forgetFrom(size: number): void {
    for (const path of [...this.#places.keys()].slice(size)) this.#places.delete(path);
  }
}

/** Members that every limiter has, and `constructor`, which every class has. */
const OWN: ReadonlySet<PropertyKey> = /* @__PURE__ */ new Set(["constructor", "when", "forget", "numRequeues"]);

/**
 * Stable limiter of a place in the documents. Queues, other limiters and programs refer to the stable limiter. It
 * delegates to another limiter, which may be replaced, and has all members of that limiter.
 */
export class LiveLimiter implements RateLimiter {
  // Bound functions take up no stack frame, so a chain of references by name can be as long as a chain of nested
  // limiters.
  when!: RateLimiter["when"];
  forget!: RateLimiter["forget"];
  numRequeues!: RateLimiter["numRequeues"];
  #others: PropertyKey[] = [];

  constructor(limiter: RateLimiter) {
    LiveLimiter.put(limiter, this);
  }

  /**
   * Makes the stable limiter `live` delegate to `limiter`. Static, because instances have only the members of the
   * limiter to which they delegate.
   */
  static put(limiter: RateLimiter, live: LiveLimiter): void {
    live.when = limiter.when.bind(limiter);
    live.forget = limiter.forget.bind(limiter);
    live.numRequeues = limiter.numRequeues.bind(limiter);
    for (const member of live.#others) delete (live as object as Record<PropertyKey, unknown>)[member];
    const others = membersOf(limiter);
    live.#others = [...others.keys()];
    for (const [member, { value, enumerable = false }] of others) {
      Object.defineProperty(live, member, {
        ...accessorTo(limiter, member, value),
        enumerable,
        configurable: true,
      });
    }
  }
}

/** Returns the members that only some limiters have, such as `bucket`, including members of their classes. */
function membersOf(limiter: object): Map<PropertyKey, PropertyDescriptor> {
  const members = new Map<PropertyKey, PropertyDescriptor>();
  for (let object = limiter; !isBase(object); object = Object.getPrototypeOf(object)) {
    for (const member of Reflect.ownKeys(object)) {
      if (OWN.has(member) || members.has(member)) continue;
      members.set(member, Object.getOwnPropertyDescriptor(object, member)!);
    }
  }
  return members;
}

/** Reports whether a value is `null` or an `Object.prototype`, possibly of another realm. */
function isBase(object: object | null): boolean {
  return object === null || Object.getPrototypeOf(object) === null && Object.hasOwn(object, "hasOwnProperty");
}

/**
 * Returns accessors that read and set a member of the limiter. Methods are called on the limiter itself, because they
 * may use its private members.
 */
function accessorTo(
  limiter: object,
  member: PropertyKey,
  value: unknown,
): Pick<PropertyDescriptor, "get" | "set"> {
  const target = limiter as Record<PropertyKey, unknown>;
  const set = (value: unknown) => void (target[member] = value);
  if (typeof value !== "function") return { get: () => target[member], set };
  const method = (...args: unknown[]) => (target[member] as (...args: unknown[]) => unknown).apply(target, args);
  return { get: () => method, set };
}
