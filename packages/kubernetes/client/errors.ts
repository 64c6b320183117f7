import type { ErrorCode } from "@workqueue/core";
import { messageOf } from "@workqueue/core/internal";

/** Body of an error response, and of the object of an `ERROR` event of a watch: a `Status` object of Kubernetes. */
export interface ApiStatus {
  /** HTTP status code. */
  readonly code?: number;
  /** Kind of error as one word, such as `"NotFound"`. */
  readonly reason?: string;
  /** Description of the error for people. */
  readonly message?: string;
  /** More about the error. Its content depends on the reason. */
  readonly details?: {
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  };
}

/**
 * Error response of an API server.
 *
 * @example Usage
 * ```ts
 * import { ApiError } from "@workqueue/kubernetes";
 * import { assertEquals } from "@std/assert";
 *
 * const status = { code: 404, reason: "NotFound", message: 'pods "a" not found' };
 * const error = new ApiError("GET /api/v1/namespaces/default/pods/a", status);
 * assertEquals(error.message, 'GET /api/v1/namespaces/default/pods/a: 404 NotFound: pods "a" not found');
 * ```
 */
export class ApiError extends Error {
  /** Always `"ApiError"`. */
  override name = "ApiError";
  /** Always `"WQ_API"`. */
  readonly code: "WQ_API" = "WQ_API" satisfies ErrorCode;
  /** HTTP status code, such as 404. */
  readonly status: number;
  /** Kind of error as one word, such as `"NotFound"`. Empty if the response doesn't come from an API server. */
  readonly reason: string;
  /** More about the error. Its content depends on the reason. */
  readonly details: ApiStatus["details"];
  /** Time in milliseconds to wait before another try, if the server asked for it. */
  readonly retryAfter?: number;

  /**
   * Creates the error.
   *
   * @param request Method and path of the request.
   * @param status Body of the response, or object of an `ERROR` event.
   * @param retryAfter Value of the header `Retry-After`, in milliseconds.
   */
  constructor(request: string, { code = 500, reason = "", message = "", details }: ApiStatus, retryAfter?: number) {
    super([request, `${code} ${reason}`.trim(), message].filter(Boolean).join(": "));
    this.status = code;
    this.reason = reason;
    this.details = details;
    const wait = retryAfter ?? 1000 * (details?.retryAfterSeconds ?? NaN);
    if (wait >= 0) this.retryAfter = wait;
  }
}

/**
 * Error of a request without a complete answer: the server can't be reached, or the connection broke. The request may
 * have taken effect. The `cause` is the error of the connection.
 */
export class NoAnswerError extends Error {
  /** Always `"NoAnswerError"`. */
  override name = "NoAnswerError";
  /** Always `"WQ_CONNECTION"`. */
  readonly code: "WQ_CONNECTION" = "WQ_CONNECTION" satisfies ErrorCode;

  /**
   * Creates the error.
   *
   * @param request Method and path of the request.
   * @param cause Error of the connection.
   */
  constructor(request: string, cause: unknown) {
    super(`${request}: no answer: ${reasonOf(cause)}`, { cause });
  }
}

/** Returns why a connection failed. Node gives an `AggregateError` without a message if it tried several addresses. */
function reasonOf(cause: unknown): string {
  const { message, code } = cause as { message?: string; code?: string };
  return message || code || messageOf(cause);
}

/**
 * Reports whether a request failed because its object has changed. Conflicts between field managers have the same
 * reason, and don't end by trying again.
 */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 409 && error.reason === "Conflict" &&
    !error.details?.causes?.some(({ reason }) => reason === "FieldManagerConflict");
}

/** Reports whether a request failed because its object, or the whole resource, doesn't exist. */
export function isAbsence(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404;
}

/** Returns an error that says that a permission is missing; `undefined` for any other one. */
export function denialOf(error: unknown): ApiError | undefined {
  return error instanceof ApiError && error.status === 403 ? error : undefined;
}

/** Returns `undefined` for an error that says that an object doesn't exist, and throws any other error. */
export function ignoreAbsence(error: unknown): undefined {
  if (!isAbsence(error)) throw error;
}
