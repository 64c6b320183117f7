import { argumentError, inspect, messageOf, withCode } from "@workqueue/core/internal";
import type { Entry, TakenKey } from "./engine.ts";

/** How the items of a queue travel: each by its key, and as JSON beside it where an item is not its own key. */
export class Items<T> {
  readonly #keyOf: ((item: T) => string) | undefined;
  /** Those that this process was handed: to add one again replaces no newer one. */
  readonly #handedOut = new WeakSet<object>();

  constructor(keyOf: ((item: T) => string) | undefined) {
    this.#keyOf = keyOf;
  }

  keyOf(action: string, item: T): string {
    const key: unknown = this.#keyOf === undefined ? item : this.#keyOf(item);
    if (typeof key === "string") {
      if (key.isWellFormed()) return key;
      throw argumentError(action, `its key has half of a character, which no server can keep: ${inspect(key)}`);
    }
    const what = this.#keyOf === undefined
      ? "the item must be a string where there is no 'keyOf'"
      : "'keyOf' must return a string";
    throw argumentError(action, `${what}: received ${inspect(key)}`);
  }

  write(action: string, item: T): Entry {
    const key = this.keyOf(action, item);
    if (this.#keyOf === undefined) return { key, payload: "" };
    let payload: string | undefined;
    try {
      payload = JSON.stringify(item);
    } catch (error) { // of a bigint or a circle
      const message = `Cannot ${action} as it cannot be written as JSON: ${messageOf(error)}`;
      throw withCode("WQ_ARGUMENT", new TypeError(message, { cause: error }));
    }
    if (payload === undefined) {
      throw argumentError(action, `it is nothing in JSON: received ${inspect(item)}`);
    }
    return { key, payload };
  }

  read({ key, payload }: Pick<TakenKey, "key" | "payload">): T {
    if (this.#keyOf === undefined) return key as T;
    return (payload ? JSON.parse(payload) : undefined) as T;
  }

  /**
   * Reads what is to be worked on. Throws if this process cannot do that, as it was added by another kind of process.
   */
  handOut(taken: TakenKey): T {
    if (this.#keyOf === undefined && taken.payload) throw new TypeError("it was added by a process with 'keyOf'");
    const item = this.read(taken);
    if (this.#keyOf !== undefined) {
      if (!taken.payload) throw new TypeError("it was added by a process without 'keyOf'");
      this.keyOf("take item", item);
    }
    if (typeof item === "object" && item !== null) this.#handedOut.add(item);
    return item;
  }

  wasHandedOut(item: T): boolean {
    return this.#handedOut.has(item as object);
  }
}
