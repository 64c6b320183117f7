/** Watches. */

import { type Condition, conditionOf, requireWatchList, type Selection, tooLarge, versionOf } from "./list.ts";
import type { Stored } from "./objects.ts";
import { apiVersionOf, DEFINITION_PLACES, inVersion, qualified } from "./resources.ts";
import { Failure } from "./status.ts";
import type { Change, Store } from "./store.ts";

/** Event of a watch. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: object;
}

/** Receiver of the events of a watch. */
export interface Receiver {
  send(event: WatchEvent): void;
  /** Ends the response. */
  end(): void;
}

/** Starts a watch, and returns the function that stops it. */
export type StartWatch = (receiver: Receiver) => () => void;

/** Time in milliseconds between two bookmarks. */
const BOOKMARK_INTERVAL = 60_000;
/** Time in seconds after which a watch ends, unless the request names another. */
const WATCH_TIMEOUT = 1800;

/** Checks a request for a watch, and returns the function that starts it. */
export function watch(store: Store, selection: Selection, isWatchList: boolean): StartWatch {
  const { resource, query } = selection;
  requireWatchList(query, isWatchList);
  const meets = conditionOf(selection);
  const version = versionOf(query);
  const sendInitialEvents = query.get("sendInitialEvents");
  if (sendInitialEvents && version > store.version) throw tooLarge(version, store.version);
  const hasBookmarks = query.get("allowWatchBookmarks") === "true";
  const timeout = Number(query.get("timeoutSeconds") || WATCH_TIMEOUT) * 1000;
  return ({ send, end }) => {
    const sendObject = (type: WatchEvent["type"], object: Stored) =>
      send({ type, object: inVersion(object, resource) });
    const sendBookmark = (annotations?: object) => {
      const metadata = { resourceVersion: `${store.version}`, ...(annotations && { annotations }) };
      send({ type: "BOOKMARK", object: { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata } });
    };
    const tell = (change: Change) => {
      if (change.place === `${DEFINITION_PLACES}//${qualified(resource)}` && !change.after) return end();
      if (change.version <= version || !change.place.startsWith(`${qualified(resource)}/`)) return;
      const [type, object] = eventOf(change, meets) ?? [];
      if (type) sendObject(type, object!);
    };
    if (sendInitialEvents ? sendInitialEvents === "true" : version === 0) {
      for (const [, object] of store.list(qualified(resource))) if (meets(object)) sendObject("ADDED", object);
      if (sendInitialEvents && hasBookmarks) sendBookmark({ "k8s.io/initial-events-end": "true" });
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
    const bookmarks = hasBookmarks ? setInterval(sendBookmark, BOOKMARK_INTERVAL) : undefined;
    const timer = setTimeout(end, timeout);
    return () => {
      store.listeners.delete(tell);
      clearInterval(bookmarks);
      clearTimeout(timer);
    };
  };
}

/** Returns the status for a watch from a version that the server no longer has. */
export function tooOld(version: number, oldest: number): object {
  return new Failure(410, `too old resource version: ${version} (${oldest})`).status;
}

/** Returns the event of a change for a watch with a condition. An object that stops meeting it counts as deleted. */
function eventOf({ version, before, after }: Change, meets: Condition): [WatchEvent["type"], Stored] | undefined {
  const [last, now] = [before && meets(before) ? before : undefined, after && meets(after) ? after : undefined];
  if (now) return [last ? "MODIFIED" : "ADDED", now];
  return last && ["DELETED", { ...last, metadata: { ...last.metadata, resourceVersion: `${version}` } }];
}
