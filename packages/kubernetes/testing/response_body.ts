import type { ApiRequest } from "../client/transport.ts";

/** Returns the error of a connection. */
export function connectionError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * Resolves when the function that `start` gets is called. Rejects if the request is aborted, or waits for too long. In
 * each case, calls the function that `start` returns, if any.
 */
export function arrival(request: ApiRequest, start: (arrived: () => void) => (() => void) | void): Promise<void> {
  const { signal, idleTimeout, method, path } = request;
  return new Promise((resolve, reject) => {
    const settle = (then: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      stop?.();
      then();
    };
    const abort = () => settle(() => reject(signal.reason));
    const late = connectionError(`${method} ${path}: nothing arrived for ${idleTimeout} ms`, "ETIMEDOUT");
    const timer = setTimeout(() => settle(() => reject(late)), idleTimeout);
    signal.addEventListener("abort", abort);
    const stop = start(() => settle(resolve));
  });
}

/** Body of a response, which arrives bit by bit. */
export class ResponseBody implements AsyncIterable<string> {
  /** Called when the body ends, or is no longer read. */
  onClose: () => void = () => {};
  readonly #request: ApiRequest;
  readonly #chunks: string[] = [];
  #end: { readonly error?: unknown } | undefined;
  #isSilent = false;
  #arrived = () => {};

  constructor(request: ApiRequest) {
    this.#request = request;
    request.signal.addEventListener("abort", this.#abort);
  }

  send(chunk: string): void {
    if (this.#isSilent) return;
    this.#chunks.push(chunk);
    this.#arrived();
  }

  /** Ends the body, with an error if the connection broke. The end of a half-open connection does not arrive. */
  end(error?: unknown): void {
    if (!this.#isSilent) this.#close(error === undefined ? {} : { error });
  }

  /** Makes the connection half-open: nothing arrives any more. */
  silence(): void {
    this.#isSilent = true;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      for (;;) {
        while (this.#chunks.length > 0) yield this.#chunks.shift()!;
        if (this.#end) break;
        await arrival(this.#request, (arrived) => void (this.#arrived = arrived));
      }
      if ("error" in this.#end) throw this.#end.error;
    } finally {
      this.#close({});
    }
  }

  readonly #abort = (): void => this.#close({ error: this.#request.signal.reason });

  #close(end: { readonly error?: unknown }): void {
    if (this.#end) return;
    this.#end = end;
    this.#request.signal.removeEventListener("abort", this.#abort);
    this.onClose();
    this.#arrived();
  }
}
