import type { KubeObject } from "../kube_object.ts";

/** Functions that return the values under which an object is found, by the names of their indexes. */
export type IndexFunctions<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** Keys of objects by values that functions of the user return. */
export class Indexes<T extends KubeObject> {
  readonly #functions: IndexFunctions<T>;
  readonly #keys: ReadonlyMap<string, Map<string, Set<string>>>;
  readonly #onError: (error: unknown) => void;

  constructor(functions: IndexFunctions<T>, onError: (error: unknown) => void) {
    this.#functions = functions;
    this.#keys = new Map(Object.keys(functions).map((name) => [name, new Map()]));
    this.#onError = onError;
  }

  /** Returns the keys of the objects that have a value; `undefined` if there is no such index. */
  keysOf(name: string, value: string): Iterable<string> | undefined {
    const keys = this.#keys.get(name);
    return keys && (keys.get(value) ?? []);
  }

  /** Notes that an object has replaced another one. Either may be absent. */
  change(key: string, before: T | undefined, after: T | undefined): void {
    for (const [name, keys] of this.#keys) {
      for (const value of this.#valuesOf(name, before)) {
        const others = keys.get(value);
        others?.delete(key);
        if (others?.size === 0) keys.delete(value);
      }
      for (const value of this.#valuesOf(name, after)) {
        const others = keys.get(value);
        if (others === undefined) keys.set(value, new Set([key]));
        else others.add(key);
      }
    }
  }

  #valuesOf(name: string, object: T | undefined): readonly string[] {
    if (object === undefined) return [];
    try {
      return [...this.#functions[name]!(object)];
    } catch (error) {
      this.#onError(error);
      return [];
    }
  }
}
