/** Connections between clients and the cluster for tests, and their faults. */

import type { ApiRequest, ApiResponse, Transport } from "../client/transport.ts";
import { type Answer, type ApiServer, parseRequest, type ServerRequest } from "./api_server.ts";
import type { WatchEvent } from "./reads.ts";
import { Failure, forbidden } from "./status.ts";

/** Requests that a fault is for: those whose fields all have the given values, or for which a function returns true. */
export type RequestMatch = Partial<ServerRequest> | ((request: ServerRequest) => boolean);

/** Answer that a request gets instead of the real one. */
export interface FailureOptions {
  /** Requests that fail. Default: 1. */
  readonly times?: number;
  /** Reason in the status. Default: the usual reason for the code. */
  readonly reason?: string;
  /** Message in the status. */
  readonly message?: string;
  /** Seconds in the header `Retry-After`. */
  readonly retryAfter?: number;
}

interface Fault {
  readonly match: RequestMatch;
  /** Code of the answer; `"drop"` for none; `"lose"` for none though the request has its effect. */
  readonly failure: number | "drop" | "lose" | "hang";
  readonly options: FailureOptions;
  left: number;
}

/** Request that reached the cluster. */
export interface LoggedRequest extends ServerRequest {
  /** Code of the answer, if there was one. */
  readonly code?: number;
}

/** Reports whether a request is one of those that are meant. */
export function isMatch(request: ServerRequest, match: RequestMatch): boolean {
  if (typeof match === "function") return match(request);
  return Object.entries(match).every(([field, value]) => request[field as keyof ServerRequest] === value);
}

function broken(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

/** Body of a response that arrives bit by bit. */
class Body implements AsyncIterable<string> {
  /** Called once when the body ends, fails, or is no longer read. */
  onClose = () => {};
  readonly isWatch: boolean;
  readonly #request: ApiRequest;
  readonly #chunks: string[] = [];
  #end: { error?: unknown } | undefined;
  #isSilent = false;
  #wake = () => {};

  constructor(request: ApiRequest, isWatch: boolean) {
    this.#request = request;
    this.isWatch = isWatch;
    request.signal.addEventListener("abort", this.#abort);
  }

  send(chunk: string): void {
    if (this.#isSilent || this.#end) return;
    this.#chunks.push(chunk);
    this.#wake();
  }

  /** Ends the body, with an error if the connection broke. A half-open connection doesn't end. */
  end(error?: unknown): void {
    if (!this.#isSilent) this.#close(error === undefined ? {} : { error });
  }

  /** Makes the connection half-open. */
  silence(): void {
    this.#isSilent = true;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      for (;;) {
        while (this.#chunks.length > 0) yield this.#chunks.shift()!;
        if (this.#end) break;
        await arrival(this.#request, (resolve) => this.#wake = resolve);
      }
      if ("error" in this.#end) throw this.#end.error;
    } finally {
      this.#close({});
    }
  }

  readonly #abort = () => this.#close({ error: this.#request.signal.reason });

  #close(end: { error?: unknown }): void {
    if (this.#end) return;
    this.#end = end;
    this.#request.signal.removeEventListener("abort", this.#abort);
    this.onClose();
    this.#wake();
  }
}

/** Resolves when `start`'s callback is called. Rejects if the request is aborted, or if its idle timeout passes. */
function arrival(
  { signal, idleTimeout, method, path }: ApiRequest,
  start: (resolve: () => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void) => () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      then();
    };
    const timer = setTimeout(
      settle(() => reject(broken(`${method} ${path}: nothing arrived for ${idleTimeout} ms`, "ETIMEDOUT"))),
      idleTimeout,
    );
    const abort = settle(() => reject(signal.reason));
    signal.addEventListener("abort", abort);
    start(settle(resolve));
  });
}

/** Transport to the cluster. */
export class Network implements Transport {
  readonly requests: LoggedRequest[] = [];
  /** Requests that are denied. */
  readonly denied: Set<{ readonly verb: string; readonly resource: string }> = new Set();
  /** Whether connections are refused. */
  isDown = false;
  /** Whether requests get no answer, though they can be sent. */
  isHung = false;
  readonly #server: ApiServer;
  readonly #faults: Fault[] = [];
  readonly #bodies = new Set<Body>();
  /** Time in milliseconds between the effect of a request and its answer. */
  readonly #latency: number;

  constructor(server: ApiServer, latency: number) {
    this.#server = server;
    this.#latency = latency;
  }

  async send(request: ApiRequest): Promise<ApiResponse> {
    const { method, path, body, headers, signal } = request;
    signal.throwIfAborted();
    await Promise.resolve();
    signal.throwIfAborted();
    if (this.isDown) throw broken("connect ECONNREFUSED", "ECONNREFUSED");
    const parsed = parseRequest(method, path);
    const logged: { -readonly [F in keyof LoggedRequest]: LoggedRequest[F] } = parsed;
    this.requests.push(logged);
    const fault = this.#takeFault(parsed);
    if (this.isHung || fault?.failure === "hang") await arrival(request, () => {});
    if (fault?.failure === "drop") throw broken("socket hang up", "ECONNRESET");
    const answer = typeof fault?.failure === "number"
      ? failed(fault.failure, fault.options)
      : this.#denial(parsed) ?? this.#server.answer(parsed, body, headers);
    if (this.#latency > 0) await arrival(request, (resolve) => setTimeout(resolve, this.#latency));
    if (fault?.failure === "lose" || this.isDown) throw broken("socket hang up", "ECONNRESET");
    logged.code = answer.code;
    return { status: answer.code, headers: headersOf(answer), body: this.#bodyOf(answer, request) };
  }

  reset(): void {}

  /** Makes the next requests that match fail. */
  fail(match: RequestMatch, failure: Fault["failure"], options: FailureOptions): void {
    this.#faults.push({ match, failure, options, left: options.times ?? 1 });
  }

  /** Ends all watches, or all responses, with an error if their connections break. Sends a last event before. */
  close({ onlyWatches = false, error, last }: { onlyWatches?: boolean; error?: Error; last?: WatchEvent }): void {
    for (const body of this.#bodies) {
      if (onlyWatches && !body.isWatch) continue;
      if (last) body.send(`${JSON.stringify(last)}\n`);
      body.end(error);
    }
  }

  /** Makes all connections half-open. */
  silence(): void {
    for (const body of this.#bodies) body.silence();
  }

  #denial({ verb, group, resource: plural, subresource, namespace, name }: ServerRequest): Answer | undefined {
    const resource = `${plural}${subresource ? `/${subresource}` : ""}`;
    const isMeant = (rule: { verb: string; resource: string }) =>
      rule.resource === resource && (rule.verb === verb || rule.verb === "*");
    if (![...this.denied].some(isMeant)) return undefined;
    const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
    const why = `User "test" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
    return { code: 403, body: forbidden({ plural, group }, name, why).status };
  }

  #takeFault(request: ServerRequest): Fault | undefined {
    const fault = this.#faults.find(({ match, left }) => left > 0 && isMatch(request, match));
    if (fault) fault.left--;
    return fault;
  }

  #bodyOf({ body, start }: Answer, request: ApiRequest): Body {
    const result = new Body(request, start !== undefined);
    if (start === undefined) {
      result.send(typeof body === "string" ? body : JSON.stringify(body));
      result.end();
      return result;
    }
    this.#bodies.add(result);
    let stop = () => {};
    result.onClose = () => {
      this.#bodies.delete(result);
      stop();
    };
    stop = start({ send: (event) => result.send(`${JSON.stringify(event)}\n`), end: () => result.end() });
    return result;
  }
}

function failed(code: number, { reason, message = "", retryAfter }: FailureOptions): Answer {
  const details = retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } };
  const { status } = new Failure(code, message || `the cluster for tests answers ${code}`, {
    ...(reason && { reason }),
    ...details,
  });
  return { code, body: status };
}

function headersOf({ body }: Answer): ApiResponse["headers"] {
  const seconds = typeof body === "object" ? (body as Failure["status"]).details?.retryAfterSeconds : undefined;
  return {
    "content-type": typeof body === "string" ? "text/plain" : "application/json",
    ...(seconds !== undefined && { "retry-after": `${seconds}` }),
  };
}
