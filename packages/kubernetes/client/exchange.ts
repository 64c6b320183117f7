import { systemClock } from "@workqueue/core";
import type { ClientRequest, IncomingMessage } from "node:http";
import { type ApiRequest, type ApiResponse, headTimeoutOf, StaleConnectionError } from "./transport.ts";

/** Calls back about an exchange. */
export interface ExchangeListener {
  /** A part of the response arrived. */
  onArrival(): void;
  /** The connection broke, or nothing arrived for `silence` milliseconds (0 if it broke). */
  onBroken(silence: number): void;
  /** The exchange is over. */
  onEnd(): void;
}

/** One request on a connection, and its response. */
export class Exchange {
  readonly #sent: ClientRequest;
  readonly #request: ApiRequest;
  readonly #listener: ExchangeListener;
  /** Why the exchange ended early. Later errors are consequences of the first one. */
  #failure: { readonly error: unknown } | undefined;
  /** Error of the connection. The response says only that it was aborted. */
  #cause: Error | undefined;
  #isReused = false;
  /** One timer for all waits, because setting and clearing one for each part of the response takes time. */
  #timer: unknown;
  /** Begin of the current wait; `Infinity` while the reader doesn't ask for more. */
  #waitsSince = Infinity;
  /** Longest time of the current wait, in milliseconds. Never shorter than that of an earlier wait. */
  #longestWait = 0;
  #heardAt = systemClock.now();

  /** Begins an exchange. The request is sent when it has a connection. */
  constructor(sent: ClientRequest, request: ApiRequest, listener: ExchangeListener) {
    this.#sent = sent;
    this.#request = request;
    this.#listener = listener;
  }

  /** Time since something arrived, in milliseconds. */
  get silence(): number {
    return systemClock.now() - this.#heardAt;
  }

  /** Resolves when the head of the response has arrived. */
  response(): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      let hasResponse = false;
      const fail = (error: Error) => {
        this.#cause = error;
        if (hasResponse) return; // the body fails by itself
        const isStale = this.#isReused && this.#failure === undefined;
        reject(this.#fail(isStale ? new StaleConnectionError(error.message, { cause: error }) : error));
      };
      this.#request.signal.addEventListener("abort", this.#abort);
      this.#sent
        .once("socket", () => {
          this.#isReused = this.#sent.reusedSocket;
          this.#sent.reusedSocket = false; // or Deno sends the request again by itself, even after `destroy`
          this.#await(headTimeoutOf(this.#request));
          try {
            this.#request.onSent?.();
            this.#sent.end(this.#request.body);
          } catch (error) {
            this.destroy(error);
          }
        })
        .once("response", (response) => {
          hasResponse = true;
          this.#arrived();
          response.on("error", () => {}); // the body throws it
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers: headers as ApiResponse["headers"], body: this.#body(response) });
        })
        .on("error", fail)
        .once("close", () => !hasResponse && fail(new Error("the connection was closed")));
    });
  }

  /** Ends the connection. The error is kept first, because the runtimes report the end in different ways. */
  destroy(error: unknown, silence = 0): void {
    this.#fail(error, silence);
    this.#sent.destroy(error as Error);
  }

  async *#body(response: IncomingMessage): AsyncGenerator<string> {
    response.setEncoding("utf8");
    try {
      this.#await();
      for await (const chunk of response) {
        this.#arrived();
        yield chunk;
        this.#await();
      }
      if (this.#failure !== undefined || !response.complete) throw new Error("the connection was closed");
    } catch (error) {
      throw this.#fail(this.#cause ?? error);
    } finally {
      this.#end();
      if (!response.complete) this.#sent.destroy(); // the reader has stopped
    }
  }

  /** Waits for the next part of the response, but no longer than some milliseconds. */
  #await(ms: number = this.#request.idleTimeout): void {
    this.#waitsSince = systemClock.now();
    this.#longestWait = ms;
    this.#timer ??= systemClock.setTimeout(this.#check, ms);
  }

  readonly #check = () => {
    const ms = this.#longestWait;
    const left = Math.min(this.#waitsSince + ms - systemClock.now(), ms);
    if (left > 0) this.#timer = systemClock.setTimeout(this.#check, left);
    else this.destroy(new Error(`nothing arrived for ${ms} ms`), ms);
  };

  #arrived(): void {
    this.#waitsSince = Infinity;
    this.#heardAt = systemClock.now();
    this.#listener.onArrival();
  }

  readonly #abort = () => this.destroy(this.#request.signal.reason);

  /** Notes an error, and returns the first one. */
  #fail(error: unknown, silence = 0): unknown {
    if (this.#failure === undefined) {
      this.#failure = { error };
      this.#end();
      if (!this.#request.signal.aborted) this.#listener.onBroken(silence);
    }
    return this.#failure.error;
  }

  #end(): void {
    systemClock.clearTimeout(this.#timer);
    this.#request.signal.removeEventListener("abort", this.#abort);
    this.#listener.onEnd();
  }
}
