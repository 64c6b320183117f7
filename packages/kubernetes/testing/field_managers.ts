/** Managers of fields: who set which field of an object, as in its `managedFields`. */

import { appliedPaths, compare, decoded, encoded, fieldsOf, merged, minus, union, without } from "./field_sets.ts";
import { type Fields, type Stored, timestamp } from "./objects.ts";
import { Failure } from "./status.ts";
import { cleaned } from "./views.ts";

/** Client that writes to an object. */
export interface Writer {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
}

interface Entry extends Writer {
  readonly time?: string | undefined;
  readonly fields: Set<string>;
}

/**
 * Returns an object that a writer changed from a state, or created, with its managed fields.
 *
 * @param applied Paths that the writer applied. By default, the writer has updated what has changed.
 */
export function withManagers(before: Stored | undefined, after: Stored, writer: Writer, applied?: Set<string>): Stored {
  const entries = entriesOf(after.metadata.managedFields ?? before?.metadata.managedFields);
  // A server doesn't begin to manage the fields of an existing object.
  if (before && !applied && entries.length === 0) return after;
  const { changed, gone } = compare(managedPart(before), managedPart(after));
  const fields = applied ?? union(minus(ownOf(entries, writer)?.fields ?? [], gone), changed);
  const managedFields = listed(entries, { ...writer, fields }, union(changed, gone));
  return { ...after, metadata: cleaned({ ...after.metadata, managedFields }) };
}

/**
 * Returns an object with a configuration applied, and the paths of the configuration. Fields that the writer applied
 * before and no longer applies are removed, unless others manage them too.
 */
export function withApplied(
  before: Stored | undefined,
  config: Fields,
  writer: Writer,
  force: boolean,
): { after: Stored; applied: Set<string> } {
  const entries = entriesOf(before?.metadata.managedFields);
  const own = ownOf(entries, writer);
  const applied = appliedPaths(managedPart(config as Stored));
  const others = entries.filter((entry) => entry !== own);
  const kept = union(applied, ...others.map((entry) => entry.fields));
  const after = without(merged(before ?? {}, config), minus(own?.fields ?? [], kept)) as Stored;
  if (!force) requireNoConflicts(others, compare(managedPart(before), managedPart(after)).changed);
  return { after, applied };
}

/** Returns the fields that have managers. */
function managedPart(object: Stored | undefined): Map<string, unknown> {
  if (object === undefined) return new Map();
  const { apiVersion: _, kind: __, metadata = {}, ...content } = object;
  const { labels, annotations, finalizers, ownerReferences, generateName } = metadata;
  const fields = fieldsOf({ ...content, metadata: { labels, annotations, finalizers, ownerReferences, generateName } });
  for (const path of ["", "f:metadata\n"]) fields.delete(path);
  return fields;
}

/** Returns the entry of a writer. */
function ownOf(entries: readonly Entry[], writer: Writer): Entry | undefined {
  return entries.find(({ manager, operation, apiVersion, subresource }) =>
    manager === writer.manager && operation === writer.operation && subresource === writer.subresource &&
    (operation === "Apply" || apiVersion === writer.apiVersion)
  );
}

function entriesOf(managedFields: unknown): Entry[] {
  return ((managedFields ?? []) as (Writer & { time?: string; fieldsV1?: Fields })[])
    .map(({ fieldsV1 = {}, ...entry }) => ({ ...entry, fields: new Set(decoded(fieldsV1).filter(Boolean)) }));
}

/** Returns managed fields in which an entry replaces that of the same writer, and others lose the changed paths. */
function listed(entries: readonly Entry[], own: Entry, changed: Set<string>): unknown {
  const before = ownOf(entries, own);
  const others = entries.filter((entry) => entry !== before);
  const time = changed.size > 0 ? timestamp() : before?.time;
  return [...others.map((entry) => ({ ...entry, fields: minus(entry.fields, changed) })), { ...own, time }]
    .filter(({ fields }) => fields.size > 0)
    .sort((a, b) => sortKey(a) < sortKey(b) ? -1 : 1)
    .map(({ manager, operation, apiVersion, time, subresource, fields }) => ({
      ...{ manager, operation, apiVersion },
      ...(time && { time }),
      ...{ fieldsType: "FieldsV1", fieldsV1: encoded(fields) },
      ...(subresource && { subresource }),
    }));
}

function sortKey({ operation, time = "", manager, apiVersion, subresource = "" }: Entry): string {
  return [operation, time, manager, apiVersion, subresource].join("\n");
}

function requireNoConflicts(others: readonly Entry[], changed: Set<string>): void {
  const causes = others.flatMap((entry) => {
    const cause = { reason: "FieldManagerConflict", message: `conflict with ${nameOf(entry)}` };
    const taken = [...entry.fields].filter((path) => changed.has(path)).sort();
    return taken.map((path) => ({ ...cause, field: textOf(path) }));
  });
  if (causes.length === 0) return;
  const texts = causes.map(({ message, field }) => `${message}: ${field}`);
  const count = `${causes.length} conflict${causes.length > 1 ? "s" : ""}`;
  throw new Failure(409, `Apply failed with ${count}: ${texts.join("\n")}`, { details: { causes } });
}

function nameOf({ manager, operation, apiVersion, subresource }: Entry): string {
  const name = `"${manager}"${subresource ? ` with subresource "${subresource}"` : ""}`;
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}

/** Returns a path as messages contain it, such as `.spec.replicas` or `.metadata.finalizers[="example.com/a"]`. */
function textOf(path: string): string {
  return path.split("\n").slice(0, -1).map((step) => {
    const content = step.slice(2);
    if (step.startsWith("f:")) return `.${content}`;
    if (step.startsWith("v:")) return `[=${content}]`;
    return `[${
      Object.entries(JSON.parse(content)).map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")
    }]`;
  }).join("");
}
