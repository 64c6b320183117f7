import type { Ending } from "../contracts/work_source.ts";
import { Waiters } from "../structures/waiters.ts";
import { GivenUpError } from "./given_up_error.ts";

/** Ending of a hand-out of a key. `"kept"`: its item was added again as a retry, by hand. */
export type HandOutEnding = Ending | { readonly kind: "kept" };

/** Calls to `addAndWait` for a key. */
interface AwaitedKey {
  /** Calls that are settled by the next hand-out that ends: it began, or will begin, after these calls. */
  current: Waiters<unknown>[];
  /** Calls that were made during the current hand-out. */
  next: Waiters<unknown>;
  /** Ending of the current hand-out; `undefined` until it is known. */
  ending: HandOutEnding | undefined;
}

/** Receives the ends of the hand-outs of keys. */
export type KeyEnds = Pick<AwaitedKeys, keyof AwaitedKeys>;

/** Keys with pending calls to `addAndWait`. Nothing is kept for other keys. */
export class AwaitedKeys {
  readonly #keys = new Map<unknown, AwaitedKey>();

  /**
   * Waits for the result of a key. If the signal aborts, the promise rejects with its reason.
   *
   * @param isProcessing Whether the key was processing when the call was made.
   */
  wait(key: unknown, isProcessing: boolean, signal: AbortSignal | undefined): Promise<unknown> {
    let awaited = this.#keys.get(key);
    if (awaited === undefined) {
      awaited = { current: [], next: this.#waiters(key), ending: undefined };
      this.#keys.set(key, awaited);
    }
    if (isProcessing) return awaited.next.wait(signal);
    return (awaited.current[0] ??= this.#waiters(key)).wait(signal);
  }

  /** Notes how the current hand-out of a key ends. */
  note(key: unknown, ending: HandOutEnding): void {
    const awaited = this.#keys.get(key);
    if (awaited !== undefined) awaited.ending = ending;
  }

  /** Settles calls after a hand-out of a key has ended. `isPending` is whether the key will be handed out again. */
  ended(key: unknown, isPending: boolean, failure: () => Error): void {
    const awaited = this.#keys.get(key);
    if (awaited === undefined) return;
    const { ending, current, next } = awaited;
    awaited.ending = undefined;
    awaited.current = [next];
    awaited.next = this.#waiters(key);
    const kind = ending?.kind ?? "done"; // by hand
    if (kind === "done" || kind === "succeeded" || kind === "requeueAfter") {
      const value = (ending as { readonly result?: unknown } | undefined)?.result;
      for (const waiters of current) waiters.serveAll(value);
    } else if (kind === "givenUp" && !isPending) {
      const { error, reason } = ending as Ending & { kind: "givenUp" };
      rejectAll(current, () => new GivenUpError(error, reason));
    } else awaited.current = [...current, next];
    if (isPending) this.#tidy(key);
    else this.reject(key, failure);
  }

  /** Rejects all calls for a key. */
  reject(key: unknown, failure: () => Error): void {
    const awaited = this.#keys.get(key);
    if (awaited === undefined) return;
    this.#keys.delete(key);
    rejectAll([...awaited.current, awaited.next], failure);
  }

  /** Rejects all calls for keys for which `isPending` returns `false`. */
  rejectLost(isPending: (key: unknown) => boolean, failure: () => Error): void {
    for (const key of this.#keys.keys()) if (!isPending(key)) this.reject(key, failure);
  }

  #waiters(key: unknown): Waiters<unknown> {
    return new Waiters(() => this.#tidy(key));
  }

  /** Forgets a key without pending calls. */
  #tidy(key: unknown): void {
    const awaited = this.#keys.get(key);
    if (awaited === undefined) return;
    awaited.current = awaited.current.filter(({ length }) => length > 0);
    if (awaited.current.length + awaited.next.length === 0) this.#keys.delete(key);
  }
}

function rejectAll(lists: readonly Waiters<unknown>[], failure: () => Error): void {
  for (const waiters of lists) while (waiters.length > 0) waiters.remove().reject(failure());
}
