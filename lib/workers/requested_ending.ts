import { requireDuration } from "../base/duration_arguments.ts";
import { argumentError, inspect } from "../base/errors.ts";
import { RESULT, type Result } from "../base/result.ts";
import { suggest } from "../base/suggest.ts";
import type { Ending } from "../contracts/work_source.ts";
import { priorityOf } from "../queue/options.ts";

/** Ending of an attempt whose handler requested nothing. */
export const SUCCEEDED: Ending = { kind: "succeeded" };

/**
 * Returns the ending for a value that the handler returned and that is not `undefined`. Throws if the requested outcome
 * is impossible.
 *
 * @param mayRequeue Reports whether the source takes the item back if the handler requested `requeue`.
 */
export function requestedEnding(outcome: unknown, mayRequeue: () => boolean): Ending {
  if (RESULT in Object(outcome)) return { kind: "succeeded", result: (outcome as Result<unknown>)[RESULT] };
  const { requeue, requeueAfter, priority } = (outcome ?? {}) as Record<string, unknown>;
  if (requeue === undefined && requeueAfter === undefined) {
    refuseMisspelt(outcome, isLikeRequeue);
    return { kind: "succeeded", result: outcome };
  }
  if (requeue || requeueAfter !== undefined) refuseMisspelt(outcome, isLikePriority);
  const delay = requeueAfter === undefined ? 0 : requireDuration("requeue item", "requeueAfter", requeueAfter);
  if (delay > 0) return { kind: "requeueAfter", delay, priority: askedPriority(priority) };
  if (requeue && mayRequeue()) return { kind: "requeue", priority: askedPriority(priority) };
  return SUCCEEDED;
}

/** Returns the priority that a handler requested; `undefined` if the handler requested none. */
function askedPriority(priority: unknown): number | undefined {
  return priority === undefined ? undefined : priorityOf({ priority: priority as number });
}

/** Maximum number of fields of an outcome. An object with more fields is not checked for misspelled fields. */
const MAX_FIELDS = 4;

const FIELDS: readonly string[] = ["requeue", "requeueAfter", "priority"];

/**
 * Throws an error for a misspelled outcome, which would otherwise go unnoticed, because handlers may return any value.
 */
function refuseMisspelt(outcome: unknown, isMisspelt: (field: string) => boolean): void {
  for (const field of fieldsOf(outcome)) {
    if (FIELDS.includes(field) || !isMisspelt(field)) continue;
    throw argumentError("requeue item", `${inspect(field)} is not an outcome${suggest(field, FIELDS)}`);
  }
}

/** Reports whether a field name looks like `requeue` or `requeueAfter`. */
function isLikeRequeue(field: string): boolean {
  return /^re[-_]?(que(u|$)|q[eu]+[-_]?after)/i.test(field);
}

function isLikePriority(field: string): boolean {
  return /^prio/i.test(field) || suggest(field, ["priority"]) !== "";
}

/** Returns the names of the defined fields of a possible outcome; an empty list for any other value. */
function fieldsOf(outcome: unknown): string[] {
  try {
    if (typeof outcome !== "object" || Object.getPrototypeOf(outcome) !== Object.prototype) return [];
    const fields = Object.keys(outcome as object);
    if (fields.length > MAX_FIELDS) return [];
    return fields.filter((field) => (outcome as Record<string, unknown>)[field] !== undefined);
  } catch {
    return [];
  }
}
