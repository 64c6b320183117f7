import type { ErrorCode } from "@workqueue/core";
import { messageOf } from "@workqueue/core/internal";

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
