import type { Duration } from "@workqueue/core";
import {
  A_FUNCTION,
  A_STRING,
  hasMethods,
  requireRule,
  requireRules,
  type Rule,
  timeoutRule,
  tryParseDuration,
} from "@workqueue/core/internal";
import process from "node:process";
import { ApiError, type ApiStatus, NoAnswerError } from "./errors.ts";
import { Credentials } from "./credentials.ts";
import { accessOf } from "./environment.ts";
import { HttpTransport } from "./http_transport.ts";
import { linesOf } from "./lines.ts";
import { type ListMeta, ListSplitter } from "./list_splitter.ts";
import { Reachability } from "./reachability.ts";
import { sleep } from "./sleep.ts";
import { type ApiResponse, StaleConnectionError, type Transport } from "./transport.ts";

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
  /**
   * Called before each try, when the request has got a connection. If it throws, the request is not sent, and rejects
   * with the error.
   */
  onSent?: () => void;
}

/** Options of {@linkcode Client.list}. */
export interface ListOptions<T> extends Pick<RequestOptions, "query" | "signal" | "timeout"> {
  /** Called with each item. */
  onItem: (item: T) => void;
}

/** Options of {@linkcode Client.watch}. */
export interface WatchOptions {
  /** Values of the query. */
  query?: Query;
  /** Ends the watch. */
  signal: AbortSignal;
  /**
   * Longest time in which nothing arrives. A connection whose other side is gone ends after at most 35 s by itself.
   *
   * @default {"10m"}
   */
  idleTimeout?: Duration;
  /** Called when the server has accepted the watch, before the first event. */
  onOpen?: () => void;
}

interface Request extends RequestOptions {
  /** Whether the request gets a connection of its own. */
  readonly isAlone?: boolean;
}

/** Number of tries of a request to which the server answers that it should be repeated later. */
const MAX_TRIES = 10;
/** Largest random part of the time between two tries, as a share of the time that the server asks for. */
const RETRY_JITTER = 0.2;
/** Longest time to wait between two tries, in milliseconds. If the server asks for more, the request fails. */
const MAX_WAIT = 30_000;

/** Longest time in which nothing arrives, in milliseconds. */
const TIMEOUT = 30_000;

const A_TRANSPORT: Rule = [(value: unknown) => hasMethods(value, "send", "reset"), "must be a transport"];
const OF_CLIENT = { transport: A_TRANSPORT, headers: A_FUNCTION, refresh: A_FUNCTION };

const NEVER = new AbortController().signal;

/**
 * Client of an API server.
 *
 * Requests that the server is too busy for are repeated after the time that it asks for (`Retry-After`), up to ten
 * times. After a response with the status 401, credentials are read again.
 *
 * @example Usage
 * ```ts
 * import { fakeCluster } from "@workqueue/kubernetes/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const { client } = fakeCluster(); // in a program: Client.fromEnvironment()
 * const { major } = await client.request<{ major: string }>("GET", "/version");
 *
 * assertEquals(major, "1");
 * ```
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #reachability: Reachability;

  /**
   * Creates a client.
   *
   * @throws {TypeError} If an option is missing, unknown or of the wrong type.
   */
  constructor(options: ClientOptions) {
    requireRules("create client", options, OF_CLIENT);
    requireRule("create client", "transport", options.transport, A_TRANSPORT);
    this.#options = options;
    this.#reachability = new Reachability(async (signal) => {
      await textOf((await this.#try("GET", "/version", { signal, timeout: "5s", isAlone: true })).body);
    });
  }

  /**
   * Creates a client for the server in the environment: that of the kubeconfig files in `KUBECONFIG`, of the pod in
   * which this program runs, or of `~/.kube/config`. Tokens and certificates in files are read again when they change.
   *
   * On Deno, a client in a pod needs these permissions:
   *
   * ```sh
   * --allow-env=KUBECONFIG,KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT
   * --allow-read=/var/run/secrets/kubernetes.io/serviceaccount
   * --allow-net=$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT
   * ```
   *
   * With `KUBECONFIG`, it needs `--allow-env=KUBECONFIG,LOG_TOKENS,LOG_STREAM` (the last two are those of `yaml`), the
   * server in `--allow-net`, and the folders of the kubeconfig and of the files that it names in `--allow-read`. For
   * `~/.kube/config`, it needs the variables of both lists, and `HOME`. If the kubeconfig gets credentials from a
   * command, it needs `--allow-env`, and the command in `--allow-run`.
   *
   * @param options The `context` in the kubeconfig. The current one by default.
   *
   * @throws {Error} If there is no server, or its kubeconfig can't be used. The code is `WQ_CONFIG`.
   */
  static fromEnvironment(options: { context?: string } = {}): Client {
    requireRules("create client", options, { context: A_STRING });
    const access = accessOf(process.env, options.context);
    const credentials = new Credentials(access);
    const transport = new HttpTransport({ server: access.cluster.server, tls: () => credentials.tls() });
    return new Client({ transport, headers: () => credentials.headers(), refresh: () => credentials.refresh() });
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
   * Sends a request. Resolves with the body of the response: an object, or a string if it is text, such as a log.
   *
   * @throws {ApiError} If the status is 300 or higher.
   * @throws {NoAnswerError} If no complete response arrives.
   */
  async request<R>(method: string, path: string, options: RequestOptions = {}): Promise<R> {
    const name = `${method} ${path}`;
    const response = await this.#send(method, path, options);
    const text = await textOf(response.body).catch((error) => brokenOff(name, error, options.signal));
    if (response.headers["content-type"]?.startsWith("text/")) return text as R;
    return (text === "" ? undefined : this.parse(name, text)) as R;
  }

  /**
   * Opens a watch. Yields its events, and ends when the server ends the response.
   *
   * @throws {ApiError} If the status is 300 or higher. Events of the type `ERROR` are yielded.
   * @throws {NoAnswerError} If the connection breaks.
   */
  async *watch<E>(path: string, { idleTimeout = "10m", onOpen, ...options }: WatchOptions): AsyncGenerator<E, void> {
    const name = `GET ${path}`;
    const response = await this.#send("GET", path, { ...options, timeout: idleTimeout, isAlone: true });
    onOpen?.();
    for await (const line of linesOf(this.#chunks(name, response, options.signal))) yield this.parse(name, line) as E;
  }

  /**
   * Sends a request for a list, and calls `onItem` with each of its items as they arrive. Doesn't keep the text of the
   * response, so the list may be of any length. Resolves with the list's metadata and the number of characters.
   *
   * @throws {ApiError} If the status is 300 or higher.
   * @throws {NoAnswerError} If no complete response arrives. Items may have arrived before.
   */
  async list<T>(path: string, { onItem, ...options }: ListOptions<T>): Promise<{ metadata: ListMeta; size: number }> {
    const name = `GET ${path}`;
    const response = await this.#send("GET", path, options);
    const splitter = new ListSplitter((json) => onItem(this.parse(name, json) as T));
    let size = 0;
    for await (const chunk of this.#chunks(name, response, options.signal)) {
      size += chunk.length;
      splitter.write(chunk);
    }
    if (!splitter.isComplete) throw new NoAnswerError(name, new Error("the list is not complete"));
    return { metadata: this.parse(name, splitter.metadata) as ListMeta, size };
  }

  /** Closes idle connections. Running requests end when their signals abort. */
  close(): void {
    this.#reachability.stop();
    this.#options.transport.reset();
  }

  /**
   * Returns the value of JSON in a response.
   *
   * @internal
   */
  protected parse(name: string, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new NoAnswerError(name, error);
    }
  }

  /** Yields the chunks of a response. If it breaks off, throws the error for the request. */
  async *#chunks(name: string, { body }: ApiResponse, signal?: AbortSignal): AsyncGenerator<string> {
    try {
      yield* body;
    } catch (error) {
      brokenOff(name, error, signal);
    }
  }

  /** Sends a request until its response has a status below 300, or repeating it is pointless. */
  async #send(method: string, path: string, options: Request): Promise<ApiResponse> {
    let isRefreshed = false;
    for (let tries = 1;; tries++) {
      const response = await this.#try(method, path, options).catch((error) => {
        if (isStale(error) && isRepeatable(method, options)) return this.#try(method, path, options);
        throw error;
      });
      if (response.status < 300) return response;
      const error = await errorOf(`${method} ${path}`, response);
      if (error.status === 401 && !isRefreshed && this.#options.refresh !== undefined) {
        isRefreshed = true;
        this.#options.refresh();
      } else if (isBusy(error) && tries < MAX_TRIES) {
        // With jitter; otherwise, all clients that wait for the server would come back at the same time.
        await sleep(error.retryAfter! * (1 + RETRY_JITTER * Math.random()), options.signal ?? NEVER);
      } else throw error;
    }
  }

  /** Sends a request once. Resolves with any response. */
  async #try(method: string, path: string, options: Request): Promise<ApiResponse> {
    const { query = {}, body, contentType = "application/json", signal = NEVER, timeout = TIMEOUT, isAlone } = options;
    requireRule("send request", isAlone ? "idleTimeout" : "timeout", timeout, timeoutRule());
    signal.throwIfAborted();
    const headers = {
      accept: "application/json",
      "user-agent": "workqueue-kubernetes",
      ...(body !== undefined && { "content-type": contentType }),
      ...await this.#options.headers?.(),
    };
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    let isRefused = false;
    const onSent = options.onSent && (() => {
      isRefused = true;
      options.onSent!();
      isRefused = false;
    });
    try {
      const response = await this.#options.transport.send({
        method,
        path: path + textOfQuery(query),
        headers,
        ...json,
        signal,
        idleTimeout: tryParseDuration(timeout)!,
        isAlone: isAlone ?? false,
        ...(onSent && { onSent }),
      });
      this.#reachability.answered();
      return response;
    } catch (error) {
      if (isRefused) throw error;
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof StaleConnectionError)) this.#reachability.failed();
      throw new NoAnswerError(`${method} ${path}`, error);
    }
  }
}

/** Throws the error for a request whose response broke off. */
function brokenOff(name: string, error: unknown, signal: AbortSignal = NEVER): never {
  throw signal.aborted ? signal.reason : new NoAnswerError(name, error);
}

function textOfQuery(query: Query): string {
  const values = Object.entries(query).filter(([, value]) => value !== undefined);
  return values.length === 0 ? "" : `?${new URLSearchParams(values.map(([name, value]) => [name, String(value)]))}`;
}

/** Reports whether a request failed because the server had closed a kept connection. */
function isStale(error: unknown): boolean {
  return error instanceof NoAnswerError && error.cause instanceof StaleConnectionError;
}

/**
 * Reports whether sending a request twice has the effect of sending it once, if nobody writes in between. A write with
 * a resource version is refused the second time (409), as if somebody had changed the object.
 */
function isRepeatable(method: string, { contentType }: RequestOptions): boolean {
  return method !== "POST" && contentType !== "application/json-patch+json";
}

/** Reports whether the server asks to repeat the request later: it has too many requests, or is starting. */
function isBusy({ status, retryAfter }: ApiError): boolean {
  return (status === 429 || status === 503) && retryAfter !== undefined && retryAfter <= MAX_WAIT;
}

async function errorOf(name: string, response: ApiResponse): Promise<ApiError> {
  const text = await textOf(response.body).catch(() => "");
  let status: ApiStatus = { message: text.slice(0, 200) };
  try {
    const body = JSON.parse(text);
    if (body?.kind === "Status") status = body;
  } catch {
    // The response doesn't come from an API server but, for example, from a proxy in front of it.
  }
  return new ApiError(name, { ...status, code: response.status }, waitOf(response.headers["retry-after"]));
}

/** Returns the milliseconds that a header `Retry-After` asks for: a number of seconds, or a date. */
function waitOf(retryAfter = ""): number | undefined {
  if (/^\d+$/.test(retryAfter)) return 1000 * Number(retryAfter);
  const time = Date.parse(retryAfter);
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}

async function textOf(chunks: AsyncIterable<string>): Promise<string> {
  const parts: string[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return parts.join("");
}
