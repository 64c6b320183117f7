/** Patches: merge patches (RFC 7386) and JSON patches (RFC 6902). */

import { isDeepStrictEqual } from "node:util";
import { isFields } from "./objects.ts";
import { Failure } from "./status.ts";

/** Returns a value with a merge patch applied: `null` removes a field, and lists are replaced. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Record<string, unknown> = isFields(value) ? { ...value } : {};
  for (const [field, change] of Object.entries(patch)) {
    if (change === null) delete result[field];
    else result[field] = mergePatch(result[field], change);
  }
  return result;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** Returns a value with the operations of a JSON patch applied. */
export function jsonPatch(value: unknown, operations: readonly Operation[]): unknown {
  return operations.reduce((result, { op, path, from, value }) => {
    if (op === "test") {
      if (isDeepStrictEqual(read(result, path), value)) return result;
      throw refused(`testing value ${path} failed`);
    }
    if (op === "copy") return write(result, path, read(result, from!), "add");
    if (op === "move") return write(write(result, from!, undefined, "remove"), path, read(result, from!), "add");
    return write(result, path, value, op);
  }, value);
}

const refused = (why: string) =>
  new Failure(422, `the server rejected our request due to an error in our request: ${why}`);
const keysOf = (path: string) => path.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));

function read(value: unknown, path: string): unknown {
  return keysOf(path).reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

function write(value: unknown, path: string, wanted: unknown, op: string): unknown {
  const [key, ...rest] = keysOf(path);
  if (key === undefined) return wanted;
  const copy = Array.isArray(value) ? [...value] : { ...value as object };
  const fields = copy as Record<string, unknown>;
  if (rest.length > 0) {
    if (!(key in fields)) throw refused(`the path ${path} does not exist`);
    fields[key] = write(fields[key], path.slice(path.indexOf("/", 1)), wanted, op);
  } else if (op !== "add" && !(key in fields)) throw refused(`the path ${path} does not exist`);
  else if (Array.isArray(copy)) {
    copy.splice(key === "-" ? copy.length : Number(key), op === "add" ? 0 : 1, ...op === "remove" ? [] : [wanted]);
  } else if (op === "remove") delete fields[key];
  else fields[key] = wanted;
  return copy;
}
