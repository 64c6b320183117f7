import { isFields } from "./objects.ts";

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
