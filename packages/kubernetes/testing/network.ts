/** Connections between clients and the cluster for tests, and their faults. */

import { sleep } from "../client/sleep.ts";
import { type ApiRequest, type ApiResponse, headTimeoutOf, type Transport } from "../client/transport.ts";
import type { Answer, ApiServer } from "./api_server.ts";
import { type ClusterRequest, parseRequest } from "./cluster_request.ts";
import { connectionError, ResponseBody, tooLate } from "./response_body.ts";
import { Failure, forbidden } from "./status.ts";
import type { WatchEvent } from "./watch.ts";

/** Filter of requests: matches requests with the given fields, or for which the function returns `true`. */
export type RequestMatch = Partial<ClusterRequest> | ((request: ClusterRequest) => boolean);

/**
 * Failure of a request: the code of an answer; `"drop"`, which breaks the connection before the request has an effect;
 * `"lose"`, which breaks it after that; or `"hang"`: no answer, without an end of the connection.
 */
export type FailureKind = number | "drop" | "lose" | "hang";

/** Options of {@linkcode FakeCluster.failNext}. */
export interface FailureOptions {
  /** Number of requests that fail. @default {1} */
  readonly times?: number;
  /** Reason in the answer. Default: the usual one for the code. */
  readonly reason?: string;
  /** Message in the answer. */
  readonly message?: string;
  /** Seconds after which the answer asks to repeat the request. */
  readonly retryAfter?: number;
}

interface Fault {
  readonly match: RequestMatch;
  readonly kind: FailureKind;
  readonly options: FailureOptions;
  left: number;
}

/** Reports whether a request matches a filter. */
export function isMatch(request: ClusterRequest, match: RequestMatch): boolean {
  if (typeof match === "function") return match(request);
  return Object.entries(match).every(([field, value]) => request[field as keyof ClusterRequest] === value);
}

/** Transport to the cluster. */
export class Network implements Transport {
  /** Requests that arrived. */
  readonly requests: ClusterRequest[] = [];
  /** Whether connections are refused. */
  isDown = false;
  /** Whether nothing arrives. */
  isHung = false;
  readonly #server: ApiServer;
  readonly #latency: number;
  readonly #faults = new Set<Fault>();
  readonly #watches = new Set<ResponseBody>();

  /** Creates a network. `latency` is the time in milliseconds between the effect of a request and its answer. */
  constructor(server: ApiServer, latency: number) {
    this.#server = server;
    this.#latency = latency;
  }

  async send(request: ApiRequest): Promise<ApiResponse> {
    await Promise.resolve();
    request.signal.throwIfAborted();
    request.onSent?.();
    if (this.isDown) throw connectionError("connect ECONNREFUSED", "ECONNREFUSED");
    const parsed = parseRequest(request.method, request.path);
    const fault = this.#takeFault(parsed);
    const index = this.requests.push(parsed) - 1;
    if (this.isHung || fault?.kind === "hang") await passage(request, Infinity);
    if (fault?.kind === "drop") throw connectionError("socket hang up", "ECONNRESET");
    const answer = typeof fault?.kind === "number"
      ? failed(parsed, fault.kind, fault.options)
      : this.#server.answer(parsed, request.body, request.headers);
    if (this.#latency > 0) await passage(request, this.#latency);
    if (fault?.kind === "lose" || this.isDown) throw connectionError("socket hang up", "ECONNRESET");
    this.requests[index] = { ...parsed, code: answer.code };
    return { status: answer.code, headers: headersOf(answer), body: this.#bodyOf(answer, request) };
  }

  reset(): void {}

  /** Makes requests that match fail. Returns the function that ends this. */
  fail(match: RequestMatch, kind: FailureKind, options: FailureOptions = {}): () => void {
    const fault = { match, kind, options, left: options.times ?? 1 };
    this.#faults.add(fault);
    return () => void this.#faults.delete(fault);
  }

  /** Ends all watches, after a last event if one is given, or with an error. */
  endWatches({ last, error }: { last?: WatchEvent; error?: Error } = {}): void {
    for (const watch of this.#watches) {
      if (last) watch.send(`${JSON.stringify(last)}\n`);
      watch.end(error);
    }
  }

  /** Makes the connections of all watches half-open. */
  silenceWatches(): void {
    for (const watch of this.#watches) watch.silence();
  }

  #takeFault(request: ClusterRequest): Fault | undefined {
    const fault = [...this.#faults].find(({ match, left }) => left > 0 && isMatch(request, match));
    if (fault) fault.left--;
    return fault;
  }

  #bodyOf({ body, start }: Answer, request: ApiRequest): ResponseBody {
    const result = new ResponseBody(request);
    if (start) {
      let stop = () => {};
      this.#watches.add(result);
      result.onClose = () => {
        this.#watches.delete(result);
        stop();
      };
      stop = start({ send: (event) => result.send(`${JSON.stringify(event)}\n`), end: () => result.end() });
    } else {
      result.send(typeof body === "string" ? body : JSON.stringify(body));
      result.end();
    }
    return result;
  }
}

/** Waits for the head of a response. Rejects if the request is aborted, or waits for too long. */
async function passage(request: ApiRequest, ms: number): Promise<void> {
  const longest = headTimeoutOf(request);
  await sleep(Math.min(ms, longest), request.signal);
  if (ms >= longest) throw tooLate(request, longest);
}

function failed(request: ClusterRequest, code: number, { reason, message, retryAfter }: FailureOptions): Answer {
  const details = retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } };
  const { status } = code === 403 && !message
    ? denied(request)
    : new Failure(code, message ?? "the test asked for this failure", { ...(reason && { reason }), ...details });
  return { code, body: status };
}

function denied({ verb, group, resource, subresource, namespace, name }: ClusterRequest): Failure {
  const plural = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const why = `User "test" cannot ${verb} resource "${plural}" in API group "${group}" ${where}`;
  return forbidden({ plural: resource, group }, name, why);
}

function headersOf({ body }: Answer): ApiResponse["headers"] {
  if (typeof body === "string") return { "content-type": "text/plain" };
  const seconds = (body as Failure["status"]).details?.retryAfterSeconds;
  return { "content-type": "application/json", ...(seconds !== undefined && { "retry-after": `${seconds}` }) };
}
