import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";

/**
 * The limiters that are known by their places in the documents, which are JSON Pointers: those with names, and those of
 * queues. A place that was there once is kept, as somebody may hold it.
 */
export class Places {
  readonly #places = new Map<string, LiveLimiter>();

  /** The limiter of a place. */
  get(path: string): LiveLimiter | undefined {
    return this.#places.get(path);
  }

  /** The limiter of a place: if that is new, with this one behind it. */
  open(path: string, limiter: RateLimiter): LiveLimiter {
    let place = this.#places.get(path);
    if (place === undefined) this.#places.set(path, place = new LiveLimiter(limiter));
    return place;
  }

  /** Runs the action, and forgets the places that are new if it throws. */
  openFor<R>(action: () => R): R {
    const { size } = this.#places;
    try {
      return action();
    } catch (error) {
      this.#forgetFrom(size);
      throw error;
    }
  }

  /** Runs the action, and forgets the places that are new. */
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

/** Members that every limiter has, or every class. */
const OWN: ReadonlySet<PropertyKey> = /* @__PURE__ */ new Set(["constructor", "when", "forget", "numRequeues"]);

/**
 * The limiter of a place in the documents, whatever stands there now: queues, other limiters and programs hold this
 * one, while the limiter behind it may be replaced. It has all members that the limiter behind it has.
 */
export class LiveLimiter implements RateLimiter {
  // Bound functions, as these take no room on the stack: long chains of names can be asked as far as without names.
  when!: RateLimiter["when"];
  forget!: RateLimiter["forget"];
  numRequeues!: RateLimiter["numRequeues"];
  #others: PropertyKey[] = [];

  constructor(limiter: RateLimiter) {
    LiveLimiter.put(limiter, this);
  }

  /** Puts a limiter behind this one. No method, as it has those of the limiter only. */
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

/** The members that only some limiters have, such as `bucket`: those of its classes as well. */
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

/** Whether it is no object, or the one that all objects inherit from. */
function isBase(object: object | null): boolean {
  return object === null || Object.getPrototypeOf(object) === null && Object.hasOwn(object, "hasOwnProperty");
}

/** Reads and sets a member of the limiter. Its methods are called on it, as it may have private members. */
function accessorTo(limiter: object, member: PropertyKey, value: unknown): Pick<PropertyDescriptor, "get" | "set"> {
  const target = limiter as Record<PropertyKey, unknown>;
  const set = (value: unknown) => void (target[member] = value);
  if (typeof value !== "function") return { get: () => target[member], set };
  const method = (...args: unknown[]) => (target[member] as () => unknown).apply(target, args as []);
  return { get: () => method, set };
}
