/** Failures of requests, with the status objects that an API server answers them with. */

import type { ApiStatus } from "../client/errors.ts";
import { type Named, qualified } from "./resources.ts";

/** Field that a request sets to a forbidden value, and the reason. */
export type Cause = NonNullable<NonNullable<ApiStatus["details"]>["causes"]>[number];

/** Reasons of failures, by the codes of their statuses. */
const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Expired",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Failure of a request. */
export class Failure extends Error {
  /** Status object that answers the request. */
  readonly status: ApiStatus & { readonly code: number };

  constructor(code: number, message: string, more: object = {}) {
    super(message);
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" };
    this.status = { ...status, message, reason: REASONS[code] ?? "", code, ...more };
  }
}

/** Returns the failure of a request that is about an object or, without a name, about a resource. */
export function failureOf(
  code: number,
  { plural, group }: Named,
  name: string | undefined,
  message: string,
  more: { reason?: string; causes?: readonly Cause[] } = {},
): Failure {
  const { causes, ...rest } = more;
  const details = { ...(name && { name }), ...(group && { group }), kind: plural, ...(causes && { causes }) };
  return new Failure(code, message, { ...rest, details });
}

/** Returns the failure of a request for an object that does not exist. */
export function notFound(resource: Named, name: string): Failure {
  return failureOf(404, resource, name, `${qualified(resource)} "${name}" not found`);
}

/** Returns the failure of a write that was based on another version or object. */
export function conflict(resource: Named, name: string, why: string): Failure {
  return failureOf(409, resource, name, `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`);
}

/** Returns the failure of a request that is not allowed. */
export function forbidden(resource: Named, name: string | undefined, why: string, causes?: readonly Cause[]): Failure {
  const object = `${qualified(resource)}${name ? ` "${name}"` : ""}`;
  return failureOf(403, resource, name, `${object} is forbidden: ${why}`, causes && { causes });
}

/** Returns the failure of a request with fields that break rules. */
export function invalid(
  { kind, group }: { kind: string; group: string },
  name: string,
  causes: readonly Cause[],
): Failure {
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const named = { plural: kind, group };
  return failureOf(422, named, name, `${qualified(named)} "${name}" is invalid: ${text}`, { causes });
}

/** Returns the cause of an error: a field has a value that is not allowed. */
export function invalidValue(field: string, value: unknown, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field };
}

/** Returns the cause of an error: a field must not be set. */
export function forbiddenField(field: string, why: string): Cause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field };
}
