import type { ApiRequest } from "../client/transport.ts";

/** Returns the error of a connection. */
export function connectionError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

/** Returns the error of a request on whose connection nothing arrived for some milliseconds. */
export function tooLate({ method, path }: ApiRequest, ms: number): Error {
  return connectionError(`${method} ${path}: nothing arrived for ${ms} ms`, "ETIMEDOUT");
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
        await this.#next();
      }
      if ("error" in this.#end) throw this.#end.error;
    } finally {
      this.#close({});
    }
  }

  /** Resolves when a chunk arrives, or the body ends: at the latest after the idle timeout. */
  #next(): Promise<void> {
    const { idleTimeout } = this.#request;
    const timer = setTimeout(() => this.#close({ error: tooLate(this.#request, idleTimeout) }), idleTimeout);
    return new Promise<void>((resolve) => this.#arrived = resolve).finally(() => clearTimeout(timer));
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
