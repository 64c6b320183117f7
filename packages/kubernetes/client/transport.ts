/** Seam between the client and what carries its requests: HTTPS connections, or the cluster of tests. */

/** One request to an API server. */
export interface ApiRequest {
  /** Method, such as `GET`. */
  readonly method: string;
  /** Path with the query, such as `/api/v1/pods?limit=500`. */
  readonly path: string;
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body, as the header `content-type` says. */
  readonly body?: string;
  /** Ends the request, and the body of its response. */
  readonly signal: AbortSignal;
  /**
   * Longest time in milliseconds in which nothing arrives, before the request fails. A request with a connection of its
   * own must also be accepted within 30 s.
   */
  readonly idleTimeout: number;
  /** Whether the request gets a connection of its own, which ends with the request: true for watches and probes. */
  readonly isAlone: boolean;
  /**
   * Must be called when the request has got a connection, before anything is sent. If it throws, nothing may be sent,
   * and the request rejects with its error.
   */
  readonly onSent?: () => void;
}

/** Longest time in milliseconds in which a server accepts a watch, which may be quiet for longer after that. */
const LONGEST_OPENING = 30_000;

/** Returns the longest time in milliseconds until the head of the response arrives. */
export function headTimeoutOf({ isAlone, idleTimeout }: ApiRequest): number {
  return isAlone ? Math.min(LONGEST_OPENING, idleTimeout) : idleTimeout;
}

/** Response to a request. */
export interface ApiResponse {
  /** Status, such as 200. */
  readonly status: number;
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Chunks of the body, decoded from UTF-8. Throws if the connection ends before the body does. */
  readonly body: AsyncIterable<string>;
}

/** Sends requests. Rejects with the signal's reason if it aborts, and with an `Error` if no response arrives. */
export interface Transport {
  /** Sends a request. Resolves when the head of the response has arrived. */
  send(request: ApiRequest): Promise<ApiResponse>;
  /** Closes idle connections, and lets used ones end with their requests. Later requests open new ones. */
  reset(): void;
}

/**
 * Error of a request on a connection that had carried other requests, and that ended before any part of the response
 * arrived. Servers and proxies close idle connections at any time, so the request probably came too late, and a new
 * connection probably works. But the request may have taken effect.
 */
export class StaleConnectionError extends Error {
  /** Always `"StaleConnectionError"`. */
  override name = "StaleConnectionError";
}
