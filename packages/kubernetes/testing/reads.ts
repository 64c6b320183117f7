/** Lists and watches. */

import type { KubeObject } from "../kube_object.ts";
import type { Stored } from "./objects.ts";
import { apiVersionOf, DEFINITION_PLACES, qualified, type Resource } from "./resources.ts";
import { type Condition, fieldCondition, labelCondition } from "./selectors.ts";
import { Failure, forbiddenField, invalid } from "./status.ts";
import type { Change, Store } from "./store.ts";

/** Objects that a request lists or watches. */
export interface Selection {
  readonly resource: Resource;
  /** Namespace of the objects; all namespaces if it is `undefined`. */
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
}

/** Page of a list. */
export interface ObjectList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly items: readonly KubeObject[];
}

/** Event of a watch. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: object;
}

/** Time in milliseconds between two bookmarks. */
const BOOKMARK_INTERVAL = 60_000;
/** Time in seconds after which a watch ends, unless the request names another. */
const WATCH_TIMEOUT = 1800;

function conditionOf({ resource, namespace, query }: Selection): Condition {
  const hasLabels = labelCondition(query.get("labelSelector") ?? "");
  const hasFields = fieldCondition(query.get("fieldSelector") ?? "", resource);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) && hasLabels(object) && hasFields(object);
}

/** Returns the number of a version, and 0 if none is given. */
function versionOf(query: URLSearchParams): number {
  const version = query.get("resourceVersion") || "0";
  if (/^\d+$/.test(version)) return Number(version);
  throw new Failure(400, `resourceVersion: Invalid value: "${version}"`);
}

/** Returns an object in the version of the API that a request names. */
export function inVersion(object: Stored, resource: Resource): Stored {
  const apiVersion = apiVersionOf(resource);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** Returns the list of a selection: a page of it if the query has a limit. */
export function list(store: Store, selection: Selection): ObjectList {
  const { resource, query } = selection;
  requireListQuery(query);
  const meets = conditionOf(selection);
  const limit = query.get("resourceVersion") === "0" ? 0 : Number(query.get("limit") ?? 0); // as if from a cache
  const { version, start } = startOf(store, query, limit);
  const listed = store.list(qualified(resource), version).filter(([place, object]) => place > start && meets(object));
  const page = limit > 0 ? listed.slice(0, limit) : listed;
  const remaining = listed.length - page.length;
  const isSelected = query.get("labelSelector") || query.get("fieldSelector");
  return {
    kind: `${resource.kind}List`,
    apiVersion: apiVersionOf(resource),
    metadata: {
      resourceVersion: `${version}`,
      ...(remaining > 0 && { continue: token(version, page.at(-1)![0]) }),
      ...(remaining > 0 && !isSelected && { remainingItemCount: remaining }),
    },
    items: page.map(([, object]) => {
      const { apiVersion: _, kind: __, ...item } = object;
      return resource.isCustom ? inVersion(object, resource) : item; // lists of built-in kinds name the kind once
    }),
  };
}

function token(version: number, start: string): string {
  return btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start }));
}

/** Returns the version that a list shows, and the place of the last object of the page before. */
function startOf(store: Store, query: URLSearchParams, limit: number): { version: number; start: string } {
  const text = query.get("continue");
  if (text) {
    const { rv, start } = parseToken(text);
    if (rv === -1) return { version: store.version, start };
    if (rv >= store.compacted && rv <= store.version) return { version: rv, start };
    throw new Failure(410, "The provided continue parameter is too old to display a consistent list result.", {
      metadata: { continue: token(-1, start) },
    });
  }
  const version = versionOf(query);
  if (version > store.version) throw tooLarge(version, store.version);
  const match = query.get("resourceVersionMatch") ?? (limit > 0 && version > 0 ? "Exact" : "");
  if (match !== "Exact") return { version: store.version, start: "" };
  if (version >= store.compacted) return { version, start: "" };
  throw new Failure(410, "The resourceVersion for the provided list is too old.");
}

function parseToken(text: string): { rv: number; start: string } {
  try {
    return JSON.parse(atob(text));
  } catch {
    throw new Failure(400, "continue key is not valid");
  }
}

const MATCHES = ["Exact", "NotOlderThan"];

function requireQuery(rules: [isBroken: unknown, field: string, why: string][]): void {
  const causes = rules.filter(([isBroken]) => isBroken).map(([, field, why]) => forbiddenField(field, why));
  if (causes.length > 0) throw invalid({ kind: "ListOptions", group: "meta.k8s.io" }, "", causes);
}

function requireListQuery(query: URLSearchParams): void {
  const match = query.get("resourceVersionMatch");
  const field = "resourceVersionMatch";
  requireQuery([
    [match && !query.get("resourceVersion"), field, `${field} is forbidden unless resourceVersion is provided`],
    [match && query.get("continue"), field, `${field} is forbidden when continue is provided`],
    [match && !MATCHES.includes(match), field, `${field} must be one of ${MATCHES.join(", ")}`],
    [
      match === "Exact" && query.get("resourceVersion") === "0",
      field,
      `${field} "exact" is forbidden for resourceVersion "0"`,
    ],
    [query.has("sendInitialEvents"), "sendInitialEvents", "sendInitialEvents is forbidden for list"],
  ]);
}

function requireWatchQuery(query: URLSearchParams, isWatchList: boolean): void {
  const match = query.get("resourceVersionMatch");
  const hasInitial = query.has("sendInitialEvents");
  const field = "resourceVersionMatch";
  const feature = "the WatchList feature gate is enabled";
  requireQuery([
    [hasInitial && match !== "NotOlderThan", field, `sendInitialEvents requires setting ${field} to NotOlderThan`],
    [hasInitial && !isWatchList, "sendInitialEvents", `sendInitialEvents is forbidden for watch unless ${feature}`],
    [match && !hasInitial, field, `${field} is forbidden for watch unless sendInitialEvents is provided`],
  ]);
}

/** Receiver of the events of a watch. */
export interface Receiver {
  send(event: WatchEvent): void;
  /** Ends the response. */
  end(): void;
}

/**
 * Checks a request for a watch, and returns the function that starts it. That function returns another, which stops
 * the watch.
 */
export function watch(store: Store, selection: Selection, isWatchList: boolean): (receiver: Receiver) => () => void {
  const { resource, query } = selection;
  requireWatchQuery(query, isWatchList);
  const meets = conditionOf(selection);
  const version = versionOf(query);
  const hasInitial = query.has("sendInitialEvents") ? query.get("sendInitialEvents") === "true" : version === 0;
  if (query.has("sendInitialEvents") && version > store.version) throw tooLarge(version, store.version);
  const hasBookmarks = query.get("allowWatchBookmarks") === "true";
  return ({ send, end }) => {
    const bookmark = (annotations?: object) => {
      const metadata = { resourceVersion: `${store.version}`, ...(annotations && { annotations }) };
      send({ type: "BOOKMARK", object: { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata } });
    };
    const tell = (change: Change) => {
      if (change.after === undefined && change.place === `${DEFINITION_PLACES}${qualified(resource)}`) return end();
      if (change.version <= version) return;
      const event = eventOf(change, `${qualified(resource)}/`, meets);
      if (event) send({ type: event.type, object: inVersion(event.object, resource) });
    };
    if (hasInitial) {
      for (const [, object] of store.list(qualified(resource)).filter(([, object]) => meets(object))) {
        send({ type: "ADDED", object: inVersion(object, resource) });
      }
      if (query.has("sendInitialEvents") && hasBookmarks) bookmark({ "k8s.io/initial-events-end": "true" });
    } else if (version > 0) {
      const missed = store.since(version);
      if (missed === undefined) {
        send({ type: "ERROR", object: tooOld(version, store.compacted) });
        end();
        return () => {};
      }
      missed.forEach(tell);
    }
    store.listeners.add(tell);
    const timers = [
      ...hasBookmarks ? [setInterval(bookmark, BOOKMARK_INTERVAL)] : [],
      setTimeout(end, Number(query.get("timeoutSeconds") || WATCH_TIMEOUT) * 1000),
    ];
    return () => {
      store.listeners.delete(tell);
      timers.forEach((timer) => clearTimeout(timer));
    };
  };
}

/** Returns the status of a watch from a version that the server no longer has. */
export function tooOld(version: number, oldest: number): object {
  return new Failure(410, `too old resource version: ${version} (${oldest})`).status;
}

/** Returns the failure of a request for a version that the server has not reached. */
function tooLarge(wanted: number, current: number): Failure {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new Failure(504, `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: { causes, retryAfterSeconds: 1 },
  });
}

/** Returns the event of a change for a watch with a condition. An object that stops meeting it counts as deleted. */
function eventOf({ version, place, before, after }: Change, prefix: string, meets: Condition) {
  if (!place.startsWith(prefix)) return undefined;
  const [met, meetsNow] = [before !== undefined && meets(before), after !== undefined && meets(after)];
  if (meetsNow) return { type: met ? "MODIFIED" : "ADDED", object: after! } as const;
  if (!met) return undefined;
  return {
    type: "DELETED",
    object: { ...before!, metadata: { ...before!.metadata, resourceVersion: `${version}` } },
  } as const;
}
