import type { Duration } from "@workqueue/core";
import { requireRule, timeoutRule, tryParseDuration } from "@workqueue/core/internal";
import { ApiError, type ApiStatus } from "./api_error.ts";
import { linesOf } from "./lines.ts";
import { NoAnswerError } from "./no_answer_error.ts";
import { Reachability } from "./reachability.ts";
import { sleep } from "./sleep.ts";
import type { ApiResponse, Transport } from "./transport.ts";

/** Values of a query. Undefined values are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Options of {@linkcode Client}. */
export interface ClientOptions {
  /** Sends the requests. */
  transport: Transport;
  /** Returns the headers with credentials. Called for each request. */
  headers?: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Called after a response with the status 401: the next call of `headers` must read the credentials again. */
  refresh?: () => void;
}

/** Options of {@linkcode Client.request}. */
export interface RequestOptions {
  /** Values of the query. */
  query?: Query;
  /** Body, sent as JSON. */
  body?: unknown;
  /** Media type of the body. @default {"application/json"} */
  contentType?: string;
  /** Ends the request. */
  signal?: AbortSignal;
  /** Longest time in which nothing arrives. @default {"30s"} */
  timeout?: Duration;
  /** Called before each try. If it throws, the request is not sent, and rejects with the error. */
  onSent?: () => void;
}

/** Options of {@linkcode Client.watch}. */
export interface WatchOptions {
  /** Values of the query. */
  query?: Query;
  /** Ends the watch. */
  signal: AbortSignal;
  /** Longest time in which nothing arrives. @default {"30s"} */
  idleTimeout?: Duration;
  /** Called when the server has accepted the watch, before the first event. */
  onOpen?: () => void;
}

interface Request extends RequestOptions {
  readonly isWatch?: boolean;
}

/** Number of tries of a request to which the server answers that it should be repeated later. */
const MAX_TRIES = 10;
/** Longest time to wait between two tries, in milliseconds. If the server asks for more, the request fails. */
const MAX_WAIT = 30_000;

const NEVER = new AbortController().signal;

/** Client of an API server. */
export class Client {
  readonly #options: ClientOptions;
  readonly #reachability: Reachability;

  /** Creates a client. */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.#reachability = new Reachability(async (signal) => {
      await this.#try("GET", "/version", { signal, timeout: 5000 }).then(discard);
    });
  }

  /** Whether the server answered the latest request, or the latest probe after that. */
  get isAnswering(): boolean {
    return this.#reachability.isAnswering;
  }

  /** Resolves when the server answers: at once, unless the latest request got no answer. */
  whenAnswering(signal: AbortSignal = NEVER): Promise<void> {
    return this.#reachability.whenAnswering(signal);
  }

  /**
   * Sends a request. Resolves with the body of the response.
   *
   * @throws {ApiError} If the status is 300 or higher.
   * @throws {NoAnswerError} If no complete response arrives.
   */
  async request<R>(method: string, path: string, options: RequestOptions = {}): Promise<R> {
    const response = await this.#send(method, path, options);
    const name = `${method} ${path}`;
    const text = await textOf(response).catch((error) => {
      throw failure(name, error, options.signal);
    });
    return (text === "" ? undefined : parse(name, text)) as R;
  }

  /**
   * Opens a watch. Yields its events, and ends when the server ends the response.
   *
   * @throws {ApiError} If the status is 300 or higher. Events of the type `ERROR` are yielded.
   * @throws {NoAnswerError} If the connection breaks.
   */
  async *watch<E>(path: string, { idleTimeout, onOpen, ...options }: WatchOptions): AsyncGenerator<E, void> {
    const response = await this.#send("GET", path, { ...options, timeout: idleTimeout ?? "30s", isWatch: true });
    onOpen?.();
    const name = `GET ${path}`;
    try {
      for await (const line of linesOf(response.body)) yield parse(name, line) as E;
    } catch (error) {
      throw failure(name, error, options.signal);
    }
  }

  /** Closes idle connections. Running requests end by their signals. */
  close(): void {
    this.#reachability.stop();
    this.#options.transport.reset();
  }

  /** Sends a request until its response has a status below 300, or repeating it is pointless. */
  async #send(method: string, path: string, options: Request): Promise<ApiResponse> {
    let isRefreshed = false;
    for (let tries = 1;; tries++) {
      const response = await this.#try(method, path, options);
      if (response.status < 300) return response;
      const error = await errorOf(`${method} ${path}`, response);
      if (error.status === 401 && !isRefreshed && this.#options.refresh !== undefined) {
        isRefreshed = true;
        this.#options.refresh();
      } else if (isBusy(error) && tries < MAX_TRIES) await sleep(error.retryAfter!, options.signal ?? NEVER);
      else throw error;
    }
  }

  /** Sends a request once. Resolves with any response. */
  async #try(method: string, path: string, options: Request): Promise<ApiResponse> {
    const { query = {}, body, contentType = "application/json", signal = NEVER, timeout = "30s", isWatch } = options;
    requireRule("send request", isWatch ? "idleTimeout" : "timeout", timeout, timeoutRule());
    signal.throwIfAborted();
    const headers = {
      accept: "application/json",
      "user-agent": "workqueue-kubernetes",
      ...(body !== undefined && { "content-type": contentType }),
      ...await this.#options.headers?.(),
    };
    options.onSent?.();
    try {
      const response = await this.#options.transport.send({
        method,
        path: path + textOfQuery(query),
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
        idleTimeout: tryParseDuration(timeout)!,
        isWatch: isWatch ?? false,
      });
      this.#reachability.answered();
      return response;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#reachability.failed();
      throw new NoAnswerError(`${method} ${path}`, error);
    }
  }
}

function textOfQuery(query: Query): string {
  const values = Object.entries(query).filter(([, value]) => value !== undefined);
  return values.length === 0 ? "" : `?${new URLSearchParams(values.map(([name, value]) => [name, String(value)]))}`;
}

/** Returns the error for a request whose response broke off. */
function failure(name: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  return error instanceof NoAnswerError ? error : new NoAnswerError(name, error);
}

/** Reports whether the server asks to repeat the request later: it has too many requests, or is starting. */
function isBusy({ status, retryAfter }: ApiError): boolean {
  return (status === 429 || status === 503) && retryAfter !== undefined && retryAfter <= MAX_WAIT;
}

async function errorOf(name: string, response: ApiResponse): Promise<ApiError> {
  const text = await textOf(response).catch(() => "");
  const seconds = Number(response.headers["retry-after"] ?? NaN);
  const retryAfter = seconds >= 0 ? seconds * 1000 : undefined;
  let status: ApiStatus = { message: text.slice(0, 200) };
  try {
    const body = JSON.parse(text);
    if (body?.kind === "Status") status = body;
  } catch {
    // The response doesn't come from an API server but, for example, from a proxy in front of it.
  }
  return new ApiError(name, { ...status, code: response.status }, retryAfter);
}

async function textOf({ body }: ApiResponse): Promise<string> {
  const chunks: string[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return chunks.join("");
}

async function discard({ body }: ApiResponse): Promise<void> {
  for await (const _ of body);
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NoAnswerError(name, error);
  }
}
