import type { HandlerContext } from "../contracts/handler.ts";

/** One run of the handler, and what the handler is told about it. */
export class Attempt implements HandlerContext {
  /** Set once the attempt has run out of time. It has failed then, whatever the handler does. */
  timeoutError: DOMException | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #abortion: { readonly reason: unknown } | undefined = undefined;
  #interruption: AbortSignal | undefined;
  #stopListening: (() => void) | undefined = undefined;

  /** `interruption` is the signal that aborts every attempt of a pool. */
  constructor(readonly key: unknown, readonly attempt: number, interruption: AbortSignal | undefined) {
    this.#interruption = interruption;
  }

  /** Made when it is first read: most handlers never look. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      this.#noteInterruption();
      if (this.#abortion !== undefined) this.#controller.abort(this.#abortion.reason);
      else if (this.#interruption !== undefined) this.#listenTo(this.#interruption);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#noteInterruption();
    this.#abortion ??= { reason };
    this.#controller?.abort(reason);
  }

  /** The handler has ended: there is nothing to interrupt any more. */
  end(): void {
    this.#interruption = undefined;
    this.#stopListening?.();
  }

  /** Nobody listened as long as the signal was not read. */
  #noteInterruption(): void {
    if (this.#interruption?.aborted) this.#abortion ??= this.#interruption;
  }

  #listenTo(interruption: AbortSignal): void {
    const onAbort = () => this.abort(interruption.reason);
    interruption.addEventListener("abort", onAbort, { once: true });
    this.#stopListening = () => interruption.removeEventListener("abort", onAbort);
  }
}
