/**
 * Sets of fields of objects, by their paths. The steps of a path are those of `managedFields`: `f:` with the name of a
 * field, `k:` with the keys of an item of a list, or `v:` with an item of a set. A line break follows each step.
 */

import { isDeepStrictEqual } from "node:util";
import type { ShapeOf } from "./field_shapes.ts";
import { type Fields, isFields } from "./objects.ts";

interface Part {
  readonly step: string;
  readonly names: readonly string[];
  readonly value: unknown;
}

/** Returns the parts of a value that are merged one by one, or `undefined` if it is merged as a whole. */
function partsOf(value: unknown, shapeOf: ShapeOf, names: readonly string[]): Part[] | undefined {
  const shape = shapeOf(names);
  if (isFields(value) && shape !== "atomic") {
    return Object.entries(value).filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => ({ step: `f:${name}\n`, names: [...names, name], value: inner }));
  }
  if (!Array.isArray(value) || shape === undefined || shape === "atomic") return undefined;
  return value.map((item) => ({ step: itemStep(shape, item), names, value: item }));
}

function itemStep(shape: "set" | readonly string[], item: unknown): string {
  if (shape === "set") return `v:${JSON.stringify(item)}\n`;
  return `k:${JSON.stringify(Object.fromEntries(shape.map((key) => [key, (item as Fields)[key]])))}\n`;
}

function whole(parts: Iterable<Part>, isList: boolean): unknown {
  if (isList) return Array.from(parts, ({ value }) => value);
  return Object.fromEntries(Array.from(parts, ({ names, value }) => [names.at(-1), value]));
}

/** Value of a field whose parts are fields too. */
class Parts {
  constructor(readonly isEmptyMap: boolean) {}
}

/** Returns the values of all fields of an object, and of the items of its lists. */
export function fieldsOf(
  value: unknown,
  shapeOf: ShapeOf,
  names: readonly string[] = [],
  path = "",
): Map<string, unknown> {
  const parts = partsOf(value, shapeOf, names);
  if (!parts) return new Map([[path, value]]);
  return new Map([
    [path, new Parts(isFields(value) && parts.length === 0)] as const,
    ...parts.flatMap((part) => [...fieldsOf(part.value, shapeOf, part.names, path + part.step)]),
  ]);
}

/** Returns the paths that an applied configuration owns: those of values, of empty maps, and of items of lists. */
export function appliedPaths(fields: Map<string, unknown>): Set<string> {
  const isOwned = ([path, value]: [string, unknown]) => !(value instanceof Parts) || value.isEmptyMap || isItem(path);
  return new Set([...fields].filter(isOwned).map(([path]) => path));
}

function isItem(path: string): boolean {
  return /(^|\n)k:.*\n$/.test(path);
}

/** Returns the paths that are new or have other values, and those that are gone. */
export function compare(
  before: Map<string, unknown>,
  after: Map<string, unknown>,
): { changed: Set<string>; gone: Set<string> } {
  const isSame = (one: unknown, other: unknown) =>
    one instanceof Parts ? other instanceof Parts : isDeepStrictEqual(one, other);
  const isChanged = ([path, value]: [string, unknown]) => !before.has(path) || !isSame(before.get(path), value);
  return {
    changed: new Set([...after].filter(isChanged).map(([path]) => path)),
    gone: minus(before.keys(), new Set(after.keys())),
  };
}

/** Returns a value with the fields of another set. Items of lists keep the order of the other. */
export function merged(value: unknown, wanted: unknown, shapeOf: ShapeOf, names: readonly string[] = []): unknown {
  const changes = partsOf(wanted, shapeOf, names);
  if (!changes) return wanted;
  const isWanted = new Set(changes.map(({ step }) => step));
  const present = partsOf(value, shapeOf, names) ?? [];
  const before = new Map(present.map((part) => [part.step, part]));
  const result: Part[] = [];
  for (const [index, part] of changes.entries()) {
    const next = changes.slice(index).find(({ step }) => before.has(step))?.step;
    while (present.length > 0 && present[0]!.step !== next) {
      const kept = present.shift()!;
      if (!isWanted.has(kept.step)) result.push(kept);
    }
    result.push({ ...part, value: merged(before.get(part.step)?.value, part.value, shapeOf, part.names) });
  }
  return whole([...result, ...present.filter(({ step }) => !isWanted.has(step))], Array.isArray(wanted));
}

/**
 * Returns a value without some fields, and without the maps and lists that this empties. As on a server, `null` remains
 * of a map that somebody applied as an empty one.
 */
export function without(
  value: unknown,
  dropped: Set<string>,
  kept: Set<string>,
  shapeOf: ShapeOf,
  names: readonly string[] = [],
  path = "",
): unknown {
  const parts = partsOf(value, shapeOf, names) ?? [];
  if (dropped.has(path) && (isItem(path) || parts.length === 0)) return undefined;
  if (parts.length === 0) return value;
  const left = parts.map((part) => {
    return { ...part, value: without(part.value, dropped, kept, shapeOf, part.names, path + part.step) };
  }).filter((part) => part.value !== undefined);
  if (left.length > 0) return whole(left, Array.isArray(value));
  return kept.has(path) ? null : undefined;
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
