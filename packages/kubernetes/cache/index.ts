import type { KubeObject } from "../kube_object.ts";

/** Functions that return the values under which an object is found, by the names of their indexes. */
export type IndexFunctions<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** Objects by values that functions of the user return. */
export class Indexes<T extends KubeObject> {
  readonly #functions: IndexFunctions<T>;
  /** Objects by their keys, by values, by the names of indexes. */
  readonly #objects: ReadonlyMap<string, Map<string, Map<string, T>>>;
  readonly #onError: (error: unknown) => void;

  constructor(functions: IndexFunctions<T>, onError: (error: unknown) => void) {
    this.#functions = functions;
    this.#objects = new Map(Object.keys(functions).map((name) => [name, new Map()]));
    this.#onError = onError;
  }

  /** Returns the objects that have a value; `undefined` if there is no such index. */
  find(name: string, value: string): T[] | undefined {
    const objects = this.#objects.get(name);
    return objects && [...objects.get(value)?.values() ?? []];
  }

  /** Notes that an object has replaced another one. Either may be absent. */
  change(key: string, before: T | undefined, after: T | undefined): void {
    for (const [name, objects] of this.#objects) {
      for (const value of this.#valuesOf(name, before)) {
        objects.get(value)?.delete(key);
        if (objects.get(value)?.size === 0) objects.delete(value);
      }
      for (const value of this.#valuesOf(name, after)) {
        if (!objects.has(value)) objects.set(value, new Map());
        objects.get(value)!.set(key, after!);
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
