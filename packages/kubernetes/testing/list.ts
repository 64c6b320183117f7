/** Queries of lists and watches, and lists in pages that show one version of the store. */

import { fieldTerms, fieldTest, labelTest } from "../cache/selectors.ts";
import type { KubeObject } from "../kube_object.ts";
import type { Stored } from "./objects.ts";
import { apiVersionOf, inVersion, qualified, type Resource } from "./resources.ts";
import { Failure, forbiddenField, invalid } from "./status.ts";
import type { Store } from "./store.ts";

/** Objects that a request lists or watches. */
export interface Selection {
  readonly resource: Resource;
  /** Namespace of the objects; all namespaces if it is `undefined`. */
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
}

/** Condition that an object meets or not. */
export type Condition = (object: Stored) => boolean;

/** Returns the condition that the objects of a selection meet. */
export function conditionOf({ resource, namespace, query }: Selection): Condition {
  const hasLabels = parsed(labelTest, query.get("labelSelector"));
  const terms = parsed(fieldTerms, query.get("fieldSelector"));
  const selectable = ["metadata.name", "metadata.namespace", ...resource.selectable];
  const other = terms.find(({ path }) => !selectable.includes(path));
  if (other) throw new Failure(400, `field label not supported: ${other.path}`);
  const hasFields = fieldTest(terms);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) && hasLabels(object.metadata.labels ?? {}) &&
    hasFields(object);
}

function parsed<R>(parse: (selector: string) => R, selector: string | null): R {
  try {
    return parse(selector ?? "");
  } catch (error) {
    throw new Failure(400, (error as Error).message);
  }
}

/** Returns the number of the version that a query names, or 0. */
export function versionOf(query: URLSearchParams): number {
  const version = query.get("resourceVersion") || "0";
  if (/^\d+$/.test(version)) return Number(version);
  throw new Failure(400, `resourceVersion: Invalid value: "${version}"`);
}

/** Throws if a watch may not begin with a list, as its query asks for. */
export function requireWatchList(query: URLSearchParams, isWatchList: boolean): void {
  if (!query.has("sendInitialEvents") || isWatchList && query.get("resourceVersionMatch") === "NotOlderThan") return;
  const why = isWatchList ? "it requires NotOlderThan" : "it requires the feature WatchList";
  throw invalid({ kind: "ListOptions", group: "meta.k8s.io" }, "", [forbiddenField("sendInitialEvents", why)]);
}

/** Returns the failure of a request for a version that the server has not reached. */
export function tooLarge(wanted: number, current: number): Failure {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new Failure(504, `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: { causes, retryAfterSeconds: 1 },
  });
}

/** Page of a list. */
export interface ObjectList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly items: readonly KubeObject[];
}

/** Returns a page of the objects of a selection. */
export function list(store: Store, selection: Selection): ObjectList {
  const { resource, query } = selection;
  const meets = conditionOf(selection);
  const limit = query.get("resourceVersion") === "0" ? 0 : Number(query.get("limit")); // a cache ignores the limit
  const { version, start } = startOf(store, query);
  const found = store.list(qualified(resource), version).filter(([place, object]) => place > start && meets(object));
  const page = limit > 0 ? found.slice(0, limit) : found;
  const remaining = found.length - page.length;
  const isSelected = query.get("labelSelector") || query.get("fieldSelector");
  return {
    kind: `${resource.kind}List`,
    apiVersion: apiVersionOf(resource),
    metadata: {
      resourceVersion: `${version}`,
      ...(remaining > 0 && { continue: `${version} ${page.at(-1)![0]}` }),
      ...(remaining > 0 && !isSelected && { remainingItemCount: remaining }),
    },
    items: page.map(([, object]) => {
      const { apiVersion: _, kind: __, ...item } = object;
      return resource.isCustom ? inVersion(object, resource) : item; // lists of built-in kinds name the kind once
    }),
  };
}

/** Returns the version that a list shows, and the place of the last object of the page before. */
function startOf(store: Store, query: URLSearchParams): { version: number; start: string } {
  const text = query.get("continue");
  if (text) {
    const [, number, start = ""] = /^(\d+) (.+)$/.exec(text) ?? [];
    if (number === undefined) throw new Failure(400, "continue key is not valid");
    const version = Number(number);
    if (version >= store.compacted && version <= store.version) return { version, start };
    throw new Failure(410, "The provided continue parameter is too old to display a consistent list result.");
  }
  const version = versionOf(query);
  if (version > store.version) throw tooLarge(version, store.version);
  return { version: store.version, start: "" };
}
