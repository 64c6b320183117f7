import type { HandlerContext } from "../workers.ts";

/** One run of the handler, and what the handler is told about it. */
export class Attempt implements HandlerContext {
  /** Set once the attempt has run out of time. It has failed then, whatever the handler does. */
  timeoutError: DOMException | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #abortion: { reason: unknown } | undefined = undefined;

  constructor(readonly attempt: number) {}

  /** Made when it is first read: most handlers never look. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortion !== undefined) this.#controller.abort(this.#abortion.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#abortion ??= { reason };
    this.#controller?.abort(reason);
  }
}
