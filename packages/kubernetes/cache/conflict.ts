import { ApiError } from "../client/api_error.ts";

/**
 * Reports whether a request failed because its object has changed. Conflicts between field managers have the same
 * reason, and don't end by trying again.
 */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 409 && error.reason === "Conflict" &&
    !error.details?.causes?.some(({ reason }) => reason === "FieldManagerConflict");
}
