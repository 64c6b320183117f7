import { inspect, withCode } from "@workqueue/core/internal";
import type { Awaiting, RankedEntry, Wait, WaitOutcome, WaitsRequest } from "./engine.ts";
import { readOutcome } from "./results.ts";

/** Milliseconds after which an engine forgets a wait whose process did not keep it. */
export const WAIT_FOR = 60_000;

/** Milliseconds between two calls that keep the waits of a process, and look for outcomes whose message was lost. */
const KEEP_EACH = 10_000;
/** Maximum number of waits that one call keeps. */
const MAX_KEPT = 200;

/** Call to `addAndWait` that is waiting. */
interface Call {
  readonly key: string;
  /** Whether the engine has the wait. */
  isAdded: boolean;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Calls to `addAndWait` of a process, and their waits in an engine. A message says that there are outcomes, which the
 * process then fetches. The process names the outcomes that it has received in its next call.
 */
export class Waits {
  readonly #engine: Awaiting;
  readonly #onError: (error: unknown) => void;
  readonly #process: string = crypto.randomUUID();
  readonly #calls = new Map<number, Call>();
  #lastId = 0;
  #received: string[] = [];
  #ended: Wait[] = [];
  /** Look that is running. */
  #look: Promise<void> | undefined = undefined;
  /** Whether the running look must be followed by another one. */
  #mustLook = false;
  #isListening = false;
  #stopListening: (() => void) | undefined = undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #isClosed = false;

  constructor(engine: Awaiting, onError: (error: unknown) => void) {
    this.#engine = engine;
    this.#onError = onError;
  }

  /**
   * Adds an entry and waits for its key. Returns a promise for the add, and one for the result, which rejects if the
   * add fails or the signal aborts.
   */
  add(entry: RankedEntry, signal: AbortSignal | undefined): { added: Promise<void>; result: Promise<unknown> } {
    const { key } = entry;
    const id = ++this.#lastId;
    const { promise: result, resolve, reject } = Promise.withResolvers<unknown>();
    const settle = (end: () => void) => {
      if (!this.#calls.delete(id)) return;
      signal?.removeEventListener("abort", abort);
      end();
    };
    const abort = () => {
      call.reject(signal!.reason);
      added.then(end, () => {}); // not earlier, because the engine may not have the wait yet
    };
    const end = () => void this.#ended.push({ key, id });
    const call: Call = {
      key,
      isAdded: false,
      resolve: (value) => settle(() => resolve(value)),
      reject: (error) => settle(() => reject(error)),
    };
    this.#calls.set(id, call);
    void this.#listen();
    this.#timer ??= setTimeout(() => this.#keep(), KEEP_EACH);
    const added = this.#engine.addAndWait(entry, this.#process, id);
    added.then(() => call.isAdded = true, (error) => {
      end(); // the engine may have the wait nevertheless
      call.reject(error);
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    return { added, result };
  }

  /** Fetches the outcomes that there are, and ends the waits that are left with an error, also in the engine. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#calls.size > 0) await this.#lookNow();
    for (const [id, { key, reject }] of [...this.#calls]) {
      this.#ended.push({ key, id });
      reject(shutDown());
    }
    if (this.#received.length + this.#ended.length > 0) await this.#lookNow();
    this.#stopListening?.();
  }

  /** Listens to messages. If that fails, outcomes come later, and the next call that keeps the waits tries again. */
  async #listen(): Promise<void> {
    if (this.#isListening) return;
    this.#isListening = true;
    const look = () => void this.#lookNow();
    try {
      this.#stopListening = await this.#engine.listen(this.#process, { wake: look, renew() {}, resumed: look });
      if (this.#isClosed) this.#stopListening();
      else if (this.#calls.size > 0) look(); // a message may have come before
    } catch (error) {
      this.#isListening = false;
      if (!this.#isClosed) this.#onError(error);
    }
  }

  /** Keeps all waits, and looks for outcomes. Without calls, stops listening. */
  async #keep(): Promise<void> {
    this.#timer = undefined;
    if (this.#calls.size + this.#received.length + this.#ended.length === 0) {
      this.#stopListening?.();
      this.#stopListening = undefined;
      this.#isListening = false;
      return;
    }
    void this.#listen();
    const waiting = this.#waiting();
    for (let from = 0; from === 0 || from < waiting.length; from += MAX_KEPT) {
      await this.#lookNow();
      await this.#fetch(waiting.slice(from, from + MAX_KEPT)).catch(() => {}); // the next one tries again
    }
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#keep(), KEEP_EACH);
  }

  /** Waits that the engine should have. */
  #waiting(): Wait[] {
    return [...this.#calls].flatMap(([id, { key, isAdded }]) => isAdded ? { id, key } : []);
  }

  /** Looks for outcomes. A look that is running is followed by another one. */
  #lookNow(): Promise<void> {
    this.#mustLook = true;
    return this.#look ??= this.#lookOften();
  }

  /** Looks until there are no more outcomes and, if this is the last look, until the engine has forgotten them. */
  async #lookOften(): Promise<void> {
    try {
      while (this.#mustLook) {
        this.#mustLook = false;
        if (await this.#fetch([]) || (this.#isClosed && this.#received.length > 0)) this.#mustLook = true;
      }
    } catch {
      // The next call that keeps the waits tries again.
    } finally {
      this.#look = undefined; // in the same turn as the last check of `#mustLook`, so that no look is left out
    }
  }

  /** Fetches outcomes. Resolves to whether there are more. */
  async #fetch(kept: readonly Wait[]): Promise<boolean> {
    const [received, ended] = [this.#received, this.#ended];
    [this.#received, this.#ended] = [[], []];
    const request: WaitsRequest = { process: this.#process, received, ended, kept };
    try {
      const { outcomes, isMore, lost } = await this.#engine.waits(request);
      for (const each of outcomes) this.#receive(each);
      if (!isMore) { for (const id of lost) this.#lose(id); }
      return isMore;
    } catch (error) {
      this.#received.push(...received);
      this.#ended.push(...ended);
      this.#refuse(error);
      throw error;
    }
  }

  /**
   * Rejects all calls if the engine refuses to answer, as it does after the queue was divided in another way. A lost
   * connection ends no call.
   */
  #refuse(error: unknown): void {
    if ((error as { code?: unknown } | undefined)?.code === "WQ_CONNECTION") return;
    for (const { isAdded, reject } of [...this.#calls.values()]) if (isAdded) reject(error);
  }

  #receive({ ids, outcome }: WaitOutcome): void {
    this.#received.push(ids);
    for (const id of ids.split(",")) {
      const call = this.#calls.get(Number(id));
      if (call === undefined) continue;
      try {
        call.resolve(readOutcome(call.key, outcome));
      } catch (error) {
        call.reject(error);
      }
    }
  }

  #lose(id: number): void {
    const call = this.#calls.get(id);
    const message = `The outcome of ${
      inspect(call?.key)
    } is not known, because the queue no longer has the wait for it`;
    call?.reject(withCode("WQ_DATA_LOST", new Error(message)));
  }
}

/** Returns the error of a call whose queue object is shut down. */
export function shutDown(): Error {
  return withCode("WQ_SHUT_DOWN", new Error("The queue object was shut down before the item was done"));
}
