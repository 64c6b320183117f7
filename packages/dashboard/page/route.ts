import { useEffect, useState } from "preact/hooks";
import type { Verdict } from "../api.ts";

/** State of the page that its address contains, so that a link can be shared and the Back button works. */
export interface Route {
  /** Name of the opened queue; `undefined` if the page shows the list of queues. */
  readonly queue: string | undefined;
  /** Search by key in the opened queue. */
  readonly search: string;
  /** Verdict of the queues to list; `undefined` for all queues. */
  readonly verdict: string | undefined;
  /** Text that the names of the queues to list must contain. */
  readonly name: string;
}

const LIST = "#/";
const QUEUE = "#/queues/";

/** Returns the address of a queue's view. */
export function linkTo(queue: string, search = ""): string {
  return QUEUE + encodeURIComponent(queue) + queryOf({ search });
}

/** Returns the address of the list of queues. */
export function linkToList({ verdict, name = "" }: { verdict?: Verdict | undefined; name?: string } = {}): string {
  return LIST + queryOf({ verdict, name });
}

/** Replaces the page's address. The Back button skips the previous address. */
export function replaceAddress(link: string): void {
  if (link === location.hash) return;
  history.replaceState(null, "", link);
  dispatchEvent(new Event("hashchange"));
}

/** Returns the state in the page's address. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = () => setHash(location.hash);
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return routeOf(hash);
}

/** Latest address of the list of queues. */
let list = LIST;

/** Returns the latest address of the list of queues, with its filter. */
export function linkToLastList(): string {
  return list;
}

function routeOf(hash: string): Route {
  const [path = "", ...query] = hash.split("?");
  const params = new URLSearchParams(query.join("?"));
  const isQueue = path.startsWith(QUEUE) && path.length > QUEUE.length;
  if (!isQueue) list = hash.startsWith(LIST) ? hash : LIST;
  return {
    queue: isQueue ? decoded(path.slice(QUEUE.length)) : undefined,
    search: params.get("search") ?? "",
    verdict: params.get("verdict") ?? undefined,
    name: params.get("name") ?? "",
  };
}

function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
