import { ErrorOutput } from "../base/error_output.ts";
import { inspect } from "../base/errors.ts";
import { callSafely, messageOf } from "../base/thrown.ts";
import type { ItemEvent } from "../contracts/item_event.ts";

/** Callbacks that are told of the events of items, by the items' keys. */
export class ItemCallbacks {
  readonly #byKey = new Map<unknown, Set<{ readonly callback: (event: ItemEvent) => unknown }>>();
  readonly #errors: ErrorOutput;

  /** Creates an empty set. `now` returns the time in milliseconds. */
  constructor(now: () => number) {
    this.#errors = new ErrorOutput(now);
  }

  /** Number of keys that have callbacks. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Reports whether a key has callbacks. */
  has(key: unknown): boolean {
    return this.#byKey.has(key);
  }

  /** Adds a callback. Returns an unsubscribe function. */
  add(key: unknown, callback: (event: ItemEvent) => unknown): () => void {
    const one = { callback };
    const ofKey = this.#byKey.get(key);
    if (ofKey === undefined) this.#byKey.set(key, new Set([one]));
    else ofKey.add(one);
    return () => {
      const left = this.#byKey.get(key);
      if (left?.delete(one) && left.size === 0) this.#byKey.delete(key);
    };
  }

  /**
   * Calls the callbacks of a key in a microtask, so that they may change the queue. A callback that was removed before
   * then is not called.
   */
  tell(key: unknown, event: ItemEvent): void {
    const callbacks = [...this.#byKey.get(key) ?? []];
    if (callbacks.length > 0) queueMicrotask(() => callbacks.forEach((one) => this.#call(key, one, event)));
  }

  #call(key: unknown, one: { readonly callback: (event: ItemEvent) => unknown }, event: ItemEvent): void {
    if (!this.#byKey.get(key)?.has(one)) return;
    callSafely(
      one.callback,
      (error) => this.#errors.write(() => `The callback of watchItem for ${inspect(key)} threw: ${messageOf(error)}`),
      event,
    );
  }
}
