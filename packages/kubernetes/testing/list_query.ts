/** Queries of lists and watches. */

import type { Resource } from "./resource.ts";
import { type Condition, fieldCondition, labelCondition } from "./selectors.ts";
import { Failure, forbiddenField, invalid } from "./status.ts";

/** Objects that a request lists or watches. */
export interface Selection {
  readonly resource: Resource;
  /** Namespace of the objects; all namespaces if it is `undefined`. */
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
}

/** Returns the condition that the objects of a selection meet. */
export function conditionOf({ resource, namespace, query }: Selection): Condition {
  const hasLabels = labelCondition(query.get("labelSelector") ?? "");
  const hasFields = fieldCondition(query.get("fieldSelector") ?? "", resource);
  const isThere: Condition = ({ metadata }) => namespace === undefined || metadata.namespace === namespace;
  return (object) => isThere(object) && hasLabels(object) && hasFields(object);
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
