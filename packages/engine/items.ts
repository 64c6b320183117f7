import { argumentError, inspect, messageOf, withCode } from "@workqueue/core/internal";
import type { Entry, TakenKey } from "./engine.ts";

/**
 * Converts items to keys and payloads, and back. The payload is the item as JSON, or empty if the queue has no `keyOf`.
 */
export class Items<T> {
  readonly #keyOf: ((item: T) => string) | undefined;
  /**
   * Items that were handed out to this process. A retry of such an item doesn't replace a newer item with the same key.
   */
  readonly #handedOut = new WeakSet<object>();

  constructor(keyOf: ((item: T) => string) | undefined) {
    this.#keyOf = keyOf;
  }

  keyOf(action: string, item: T): string {
    const key: unknown = this.#keyOf === undefined ? item : this.#keyOf(item);
    if (typeof key === "string") {
      if (key.isWellFormed()) return key;
      throw argumentError(action, `its key has an unpaired surrogate, so it isn't valid UTF-8: ${inspect(key)}`);
    }
    const what = this.#keyOf === undefined
      ? "the item must be a string where there is no 'keyOf'"
      : "'keyOf' must return a string";
    throw argumentError(action, `${what}, got ${inspect(key)}`);
  }

  write(action: string, item: T): Entry {
    const key = this.keyOf(action, item);
    if (this.#keyOf === undefined) return { key, payload: "" };
    let payload: string | undefined;
    try {
      payload = JSON.stringify(item);
    } catch (error) { // for example, a bigint or a circular structure
      const message = `Cannot ${action}: it cannot be written as JSON: ${messageOf(error)}`;
      throw withCode("WQ_ARGUMENT", new TypeError(message, { cause: error }));
    }
    if (payload === undefined) {
      throw argumentError(action, `it has no JSON form, got ${inspect(item)}`);
    }
    return { key, payload };
  }

  /** Returns an item for display: its key if the item has no payload, as when a process without `keyOf` added it. */
  read({ key, payload }: Pick<TakenKey, "key" | "payload">): T {
    return (this.#keyOf === undefined || !payload ? key : JSON.parse(payload)) as T;
  }

  /**
   * Returns the item to work on.
   *
   * @throws If this process can't read the item, for example because a process with another `keyOf` setting added it.
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
