/** Code of an error that users may catch: the value of the error's `code` property. */
export type ErrorCode =
  | "WQ_API"
  | "WQ_ARGUMENT"
  | "WQ_CANCELLED"
  | "WQ_CONFIG"
  | "WQ_CONNECTION"
  | "WQ_DATA_LOST"
  | "WQ_GIVEN_UP"
  | "WQ_LEASE_LOST"
  | "WQ_LIMITER"
  | "WQ_RESULT"
  | "WQ_SHUT_DOWN"
  | "WQ_VERSION";

/** Meanings of the codes, as in the table in `docs/errors.md`. The table also says what to do about each error. */
export const ERROR_CODES: Readonly<Record<ErrorCode, string>> = {
  WQ_API: "A Kubernetes API server answered with an error.",
  WQ_ARGUMENT: "An argument or option is missing, unknown, of the wrong type or out of bounds.",
  WQ_CANCELLED: "The work on an item was cancelled with the queue's `cancel`.",
  WQ_CONFIG: "A config document is not valid, its file cannot be read, or it cannot be loaded now.",
  WQ_CONNECTION: "The server cannot be reached, or the reply to a call was lost.",
  WQ_DATA_LOST: "The server has lost the data of a queue, as after `FLUSHALL` or an eviction.",
  WQ_GIVEN_UP: "An item whose result was awaited was given up.",
  WQ_LEASE_LOST: "The lease on an item, or that of a leader, was lost, so other processes may do the work.",
  WQ_LIMITER: "One of a limiter's functions, such as `when`, returned an unusable value.",
  WQ_RESULT: "A handler returned a result that its queue can't store for other processes.",
  WQ_SHUT_DOWN: "The result of an item was awaited, and the queue is shut down or dropped the item.",
  WQ_VERSION: "A package was loaded with a version of `@workqueue/core` other than its own.",
};

/** An error with a code. */
export interface CodedError extends Error {
  /** Kind of error. Unlike the message, the code never changes. */
  readonly code: ErrorCode;
}

/** Sets an error's code, and returns the error. */
export function withCode(code: ErrorCode, error: Error): CodedError {
  return Object.assign(error, { code });
}
