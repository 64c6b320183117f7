import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";

/**
 * Limiters by their place in the documents, which is a JSON Pointer: limiters with names, and limiters of queues. A
 * place is never removed, because other code may use its limiter.
 */
export class Places {
  readonly #places = new Map<string, LiveLimiter>();

  /** Returns the limiter of a place. */
  get(path: string): LiveLimiter | undefined {
    return this.#places.get(path);
  }

  /** Returns the limiter of a place. If the place is new, puts `limiter` behind it. */
  open(path: string, limiter: RateLimiter): LiveLimiter {
    let place = this.#places.get(path);
    if (place === undefined) this.#places.set(path, place = new LiveLimiter(limiter));
    return place;
  }

  /** Runs the action. Forgets new places if it throws. */
  openFor<R>(action: () => R): R {
    const { size } = this.#places;
    try {
      return action();
    } catch (error) {
      this.#forgetFrom(size);
      throw error;
    }
  }

  /** Runs the action. Forgets new places. */
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

/** Members of every limiter or every class. */
const OWN: ReadonlySet<PropertyKey> = /* @__PURE__ */ new Set(["constructor", "when", "forget", "numRequeues"]);

/**
 * Stable limiter of a place in the documents. Queues, other limiters and programs refer to it, while the limiter behind
 * it may be replaced. It has all members of the limiter behind it.
 */
export class LiveLimiter implements RateLimiter {
  // Bound functions use no stack frame, so chains of names can be as long as chains without names.
  when!: RateLimiter["when"];
  forget!: RateLimiter["forget"];
  numRequeues!: RateLimiter["numRequeues"];
  #others: PropertyKey[] = [];

  constructor(limiter: RateLimiter) {
    LiveLimiter.put(limiter, this);
  }

  /**
   * Puts a limiter behind this one. Not a method, because instances have only the members of the limiter behind them.
   */
  static put(limiter: RateLimiter, live: LiveLimiter): void {
    live.when = limiter.when.bind(limiter);
    live.forget = limiter.forget.bind(limiter);
    live.numRequeues = limiter.numRequeues.bind(limiter);
    for (const member of live.#others) delete (live as object as Record<PropertyKey, unknown>)[member];
    const others = membersOf(limiter);
    live.#others = [...others.keys()];
    for (const [member, { value, enumerable = false }] of others) {
      Object.defineProperty(live, member, { ...accessorTo(limiter, member, value), enumerable, configurable: true });
    }
  }
}

/** Returns the members that only some limiters have, such as `bucket`, including those of their classes. */
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

/** Reports whether a value is `null` or the object from which all objects inherit. */
function isBase(object: object | null): boolean {
  return object === null || Object.getPrototypeOf(object) === null && Object.hasOwn(object, "hasOwnProperty");
}

/**
 * Returns accessors that read and set a member of the limiter. Methods are called on the limiter itself, because it may
 * have private members.
 */
function accessorTo(limiter: object, member: PropertyKey, value: unknown): Pick<PropertyDescriptor, "get" | "set"> {
  const target = limiter as Record<PropertyKey, unknown>;
  const set = (value: unknown) => void (target[member] = value);
  if (typeof value !== "function") return { get: () => target[member], set };
  const method = (...args: unknown[]) => (target[member] as () => unknown).apply(target, args as []);
  return { get: () => method, set };
}
