/** Objects as the cluster for tests stores them: frozen, and replaced by each write. */

import type { KubeObject } from "../kube_object.ts";

/** Object in the cluster. */
export interface Stored extends KubeObject {
  /** Group and version of the kind, such as `apps/v1`. */
  readonly apiVersion: string;
  /** Kind, such as `Deployment`. */
  readonly kind: string;
  /** Any other field, such as `spec`. */
  readonly [field: string]: unknown;
}

/** Object of JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reports whether a value is an object of JSON. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the current time as objects contain it. */
export function timestamp(): string {
  return new Date(Date.now()).toISOString().replace(/\.\d+/, "");
}

/** Freezes a value of JSON with everything in it, and returns it. */
export function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}

/** Returns the value at a path such as `spec.replicas`, or `undefined`. */
export function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const field of path.split(".").filter(Boolean)) value = isFields(value) ? value[field] : undefined;
  return value;
}

/** Returns an object with the value at a path such as `spec.replicas` replaced. */
export function withValueAt(object: Fields, path: string, value: unknown): Fields {
  const [field, ...rest] = path.split(".").filter(Boolean) as [string, ...string[]];
  const inner = object[field];
  return {
    ...object,
    [field]: rest.length === 0 ? value : withValueAt(isFields(inner) ? inner : {}, rest.join("."), value),
  };
}

/** Returns a value with a merge patch (RFC 7386) applied: `null` removes a field, and lists are replaced. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Record<string, unknown> = isFields(value) ? { ...value } : {};
  for (const [field, change] of Object.entries(patch)) {
    if (change === null) delete result[field];
    else result[field] = mergePatch(result[field], change);
  }
  return result;
}
