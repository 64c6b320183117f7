import type { HandlerContext } from "../workers.ts";

/** One run of the handler, and what the handler is told about it. */
export class Attempt implements HandlerContext {
  /** Set once the attempt has run out of time. It has failed then, whatever the handler does. */
  timeoutError: DOMException | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #abortion: { reason: unknown } | undefined = undefined;
  readonly #interruption: AbortSignal | undefined;

  /** `interruption` is the signal that aborts every attempt of a pool. */
  constructor(readonly key: unknown, readonly attempt: number, interruption: AbortSignal | undefined) {
    this.#interruption = interruption;
  }

  /** Made when it is first read: most handlers never look. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#interruption?.aborted) this.#interrupt();
      else this.#interruption?.addEventListener("abort", this.#interrupt);
      if (this.#abortion !== undefined) this.#controller.abort(this.#abortion.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#abortion ??= { reason };
    this.#controller?.abort(reason);
  }

  /** The handler has ended: there is nothing to interrupt any more. */
  end(): void {
    if (this.#controller !== undefined) this.#interruption?.removeEventListener("abort", this.#interrupt);
  }

  readonly #interrupt = (): void => this.abort(this.#interruption!.reason);
}
