/** Status objects, which an API server answers with instead of a result. */

import { type Named, qualified, type Resource } from "./resources.ts";

/** One of several causes of a failure. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** Status of a request that failed. */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Failure";
  readonly message: string;
  readonly reason: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly causes?: readonly Cause[];
    readonly retryAfterSeconds?: number;
  };
  readonly code: number;
}

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

/** Failure of a request, with the status that answers it. */
export class Failure extends Error {
  readonly status: Status;

  constructor(code: number, message: string, more: Partial<Pick<Status, "reason" | "details" | "metadata">> = {}) {
    super(message);
    const reason = REASONS[code] ?? "";
    this.status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code, ...more };
  }
}

function about({ plural, group }: Named, name?: string): Status["details"] {
  return { ...(name && { name }), ...(group && { group }), kind: plural };
}

/** Returns the failure of a request for an object that does not exist. */
export function notFound(resource: Named, name: string): Failure {
  return new Failure(404, `${qualified(resource)} "${name}" not found`, { details: about(resource, name)! });
}

/** Returns the failure to create an object that exists. */
export function alreadyExists(resource: Named, name: string): Failure {
  const message = `${qualified(resource)} "${name}" already exists`;
  return new Failure(409, message, { reason: "AlreadyExists", details: about(resource, name)! });
}

/** Message of the conflict of a write that was based on an old version. */
export const OLD_VERSION =
  "the object has been modified; please apply your changes to the latest version and try again";

/** Returns the failure of a write whose preconditions don't hold. */
export function conflict(resource: Named, name: string, why: string): Failure {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new Failure(409, message, { details: about(resource, name)! });
}

/** Returns the failure of a request that is not allowed. */
export function forbidden(resource: Named, name: string | undefined, why: string, causes?: Cause[]): Failure {
  const message = `${qualified(resource)}${name ? ` "${name}"` : ""} is forbidden: ${why}`;
  return new Failure(403, message, { details: { ...about(resource, name), ...(causes && { causes }) } });
}

/** Returns the failure of a write of an object that breaks rules. */
export function invalid({ kind, group }: Pick<Resource, "kind" | "group">, name: string, causes: Cause[]): Failure {
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  const message = `${group ? `${kind}.${group}` : kind} "${name}" is invalid: ` +
    (texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`);
  return new Failure(422, message, { details: { ...(name && { name }), ...(group && { group }), kind, causes } });
}

/** Returns the cause that a field has a value that is not allowed. */
export function invalidValue(field: string, value: unknown, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field };
}

/** Returns the cause that a field must not be set. */
export function forbiddenField(field: string, why: string): Cause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field };
}

/** Returns the failure of a request for a version that the server has not reached. */
export function tooLarge(wanted: number, current: number): Failure {
  return new Failure(504, `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}
