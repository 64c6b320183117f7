/**
 * Sets of fields of objects, by their paths. The steps of a path are those of `managedFields`: `f:` with the name of a
 * field, `k:` with the key of an item of a list, or `v:` with an item of a set. A line break follows each step.
 */

import { isDeepStrictEqual } from "node:util";
import { type Fields, isFields } from "./objects.ts";

const OWNERS = "f:metadata\nf:ownerReferences\n";
/**
 * Lists whose items are merged one by one, each with a function that returns the path of an item. Other lists are
 * merged as a whole.
 */
const ITEM_STEPS: Readonly<Record<string, (item: unknown) => string>> = {
  [OWNERS]: (item) => `k:${JSON.stringify({ uid: (item as Fields)["uid"] })}\n`,
  "f:metadata\nf:finalizers\n": (item) => `v:${JSON.stringify(item)}\n`,
};

/** Values of fields whose parts are fields too: of those with parts, and of empty maps. */
const [WITH_PARTS, EMPTY] = [Symbol("with parts"), Symbol("empty")];

/** Returns the parts of a value that are merged one by one, by their steps; `undefined` if it is merged as a whole. */
function partsOf(value: unknown, path: string): Map<string, unknown> | undefined {
  const itemStep = ITEM_STEPS[path];
  if (itemStep && Array.isArray(value)) return new Map(value.map((item) => [itemStep(item), item]));
  if (!isFields(value) || path.startsWith(`${OWNERS}k:`)) return undefined;
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return new Map(fields.map(([name, inner]) => [`f:${name}\n`, inner]));
}

function whole(parts: Iterable<readonly [step: string, value: unknown]>, isList: boolean): unknown {
  if (isList) return Array.from(parts, ([, value]) => value);
  return Object.fromEntries(Array.from(parts, ([step, value]) => [step.slice(2, -1), value]));
}

/** Returns the values of all fields of an object, and of the items of its lists. */
export function fieldsOf(value: unknown, path = ""): Map<string, unknown> {
  const parts = partsOf(value, path);
  if (!parts) return new Map([[path, value]]);
  const isEmpty = parts.size === 0 && isFields(value);
  const inner = [...parts].flatMap(([step, part]) => [...fieldsOf(part, path + step)]);
  return new Map<string, unknown>([[path, isEmpty ? EMPTY : WITH_PARTS], ...inner]);
}

/** Returns the paths that an applied configuration owns: those of values and of empty maps. */
export function appliedPaths(fields: Map<string, unknown>): Set<string> {
  return new Set([...fields].filter(([, value]) => value !== WITH_PARTS).map(([path]) => path));
}

/** Returns the paths that are new or have other values, and those that are gone. */
export function compare(
  before: Map<string, unknown>,
  after: Map<string, unknown>,
): { changed: Set<string>; gone: Set<string> } {
  const isChanged = ([path, value]: [string, unknown]) => {
    const old = before.get(path);
    return !before.has(path) || typeof old !== typeof value ||
      typeof old !== "symbol" && !isDeepStrictEqual(old, value);
  };
  return {
    changed: new Set([...after].filter(isChanged).map(([path]) => path)),
    gone: minus(before.keys(), new Set(after.keys())),
  };
}

/** Returns a value in which the fields of another value are set. */
export function merged(value: unknown, wanted: unknown, path = ""): unknown {
  const changes = partsOf(wanted, path);
  if (!changes) return wanted;
  const parts = partsOf(value, path) ?? new Map<string, unknown>();
  for (const [step, part] of changes) parts.set(step, merged(parts.get(step), part, path + step));
  return whole(parts, Array.isArray(wanted));
}

/** Returns a value without some fields, and without the maps and lists that this empties. */
export function without(value: unknown, dropped: Set<string>, path = ""): unknown {
  const parts = [...partsOf(value, path) ?? []];
  if (parts.length === 0) return dropped.has(path) ? undefined : value;
  const left = parts.map(([step, part]) => [step, without(part, dropped, path + step)] as const)
    .filter(([, part]) => part !== undefined);
  return left.length === 0 ? undefined : whole(left, Array.isArray(value));
}

/** Returns a set of paths as `fieldsV1` contains it. */
export function encoded(paths: Set<string>): Fields {
  const root: Record<string, unknown> = {};
  const nodes = [...paths].map((path) => {
    let node = root;
    for (const step of path.split("\n").slice(0, -1)) node = (node[step] ??= {}) as Record<string, unknown>;
    return node;
  });
  for (const node of nodes) if (Object.keys(node).length > 0) node["."] = {};
  return root;
}

/** Returns the paths in a `fieldsV1`. */
export function decoded(fields: Fields, path = ""): string[] {
  const steps = Object.entries(fields);
  if (steps.length === 0) return [path];
  return steps.flatMap(([step, inner]) => step === "." ? [path] : decoded(inner as Fields, `${path}${step}\n`));
}

/** Returns the paths that are in a set and not in another. */
export function minus(paths: Iterable<string>, others: Set<string>): Set<string> {
  return new Set([...paths].filter((path) => !others.has(path)));
}

/** Returns the paths that are in any of the sets. */
export function union(...sets: Set<string>[]): Set<string> {
  return new Set(sets.flatMap((paths) => [...paths]));
}
