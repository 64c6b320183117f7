/** Queries of lists and watches. */

import { fieldTerms, fieldTest, labelTest } from "../cache/selectors.ts";
import type { Stored } from "./objects.ts";
import type { Resource } from "./resource.ts";
import { Failure, forbiddenField, invalid } from "./status.ts";

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
