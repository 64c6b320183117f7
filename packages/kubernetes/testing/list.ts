/** Lists, in pages that show one version of the store. */

import type { KubeObject } from "../kube_object.ts";
import { conditionOf, type Selection, tooLarge, versionOf } from "./list_query.ts";
import { apiVersionOf, inVersion, qualified } from "./resource.ts";
import { Failure } from "./status.ts";
import type { Store } from "./store.ts";

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
      ...(remaining > 0 && { continue: token(version, page.at(-1)![0]) }),
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
    const { rv, start } = parseToken(text);
    if (rv === -1) return { version: store.version, start };
    if (rv >= store.compacted && rv <= store.version) return { version: rv, start };
    throw new Failure(410, "The provided continue parameter is too old to display a consistent list result.", {
      metadata: { continue: token(-1, start) },
    });
  }
  const version = versionOf(query);
  if (version > store.version) throw tooLarge(version, store.version);
  return { version: store.version, start: "" };
}

/** Returns the token for the next page: of the same version or, with -1, of the present. */
function token(version: number, start: string): string {
  return btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start }));
}

function parseToken(text: string): { rv: number; start: string } {
  try {
    return JSON.parse(atob(text));
  } catch {
    throw new Failure(400, "continue key is not valid");
  }
}
