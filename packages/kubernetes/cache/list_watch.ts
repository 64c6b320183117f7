import { systemClock } from "@workqueue/core";
import { callSafely } from "@workqueue/core/internal";
import { ApiError, type ApiStatus, denialOf, NoAnswerError } from "../client/errors.ts";
import type { Query } from "../client/client.ts";
import { sleep } from "../client/sleep.ts";
import { keyOf, type KubeObject, type ObjectMeta } from "../kube_object.ts";
import { backoff } from "./backoff.ts";
import type { KindResource } from "./resource.ts";
import type { Listing, Store } from "./store.ts";
import { isNewer } from "./versions.ts";

/**
 * Time for which the server keeps a watch open, in seconds, and the largest random part of it, so that watches don't
 * end together.
 */
const [LIFETIME, LIFETIME_JITTER] = [300, 300];
/**
 * Longest time in which nothing arrives on a watch. Servers send a bookmark every minute, so a watch without bookmarks
 * is on a broken connection; the transport finds almost all of these within 40 s. The few kinds without bookmarks, such
 * as events, only begin a quiet watch again more often.
 */
const QUIET_WATCH = "150s";
/** Time in which a watch that lists must bring another object or end the list. */
const QUIET_LIST = "10s";
/** Longest time of a list by a watch, in seconds: a server that doesn't know it sends events, but no end. */
const LONGEST_LIST = 60;
/** Objects of a page. */
const PAGE = 500;
/** Longest page, in characters. After a longer one, pages have half as many objects. */
const MAX_LENGTH = 32_000_000;
/** Statuses of servers that don't list by watches: some don't know them, or their etcd is too old. */
const CANNOT_LIST_BY_WATCH = [400, 422, 500];
/** Shortest time for which a watch must have been open to count as a success, in milliseconds. */
const ESTABLISHED = 1000;
/** Longest delay before the next try while the server is busy or starting, and after other errors. */
const MAX_DELAY = { busy: 1000, other: 10_000 };

/** Options of {@linkcode ListWatch}. */
export interface ListWatchOptions<T extends KubeObject> {
  readonly store: Store<T>;
  readonly resource: KindResource<T>;
  /** Namespace of the objects; `undefined` for all. */
  readonly namespace: string | undefined;
  readonly selectors: { readonly labelSelector: string | undefined; readonly fieldSelector: string | undefined };
  readonly onSynced: () => void;
  readonly onError: (error: unknown) => void;
  readonly onRestart: () => void;
}

/** Event of a watch that tells about an object, or about the server's version. */
interface NewsEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: T;
}

/** Last event of a watch that failed. */
interface ErrorEvent {
  readonly type: "ERROR";
  readonly object: ApiStatus;
}

/** Keeps the objects of one namespace, or of all, up to date: lists them once, and watches the changes since then. */
export class ListWatch<T extends KubeObject> {
  readonly #options: ListWatchOptions<T>;
  /** Number of tries that failed since a watch was open. */
  #failures = 0;
  /** Version of the server up to which all changes are known; `undefined` if the objects must be listed. */
  #version: string | undefined;
  /** Whether the server may have gone back to an older version, as by a restore, while the connection was broken. */
  #mayBeRestored = false;
  #isSynced = false;
  #openedAt: number | undefined;
  #seenAt = systemClock.now();
  #error: unknown;

  constructor(options: ListWatchOptions<T>) {
    this.#options = options;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Time since the watch was last open, in milliseconds; 0 while the watch is open. */
  get unseenFor(): number {
    return this.#openedAt === undefined ? systemClock.now() - this.#seenAt : 0;
  }

  /** Error of the latest request, if the server refused it because a permission is missing. */
  get denial(): ApiError | undefined {
    return denialOf(this.#error);
  }

  /** Lists and watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let error: unknown;
      try {
        await this.#listOrWatch(signal);
      } catch (thrown) {
        error = thrown;
      }
      if (signal.aborted) return;
      const wasOpen = this.#close();
      if (error !== undefined) this.#judge(error);
      callSafely(this.#options.onRestart, this.#options.onError);
      await this.#wait(error, wasOpen, signal).catch(() => {});
    }
  }

  /** Notes that the watch ended. Reports whether it was open long enough to count as a success. */
  #close(): boolean {
    if (this.#openedAt === undefined) return false;
    this.#seenAt = systemClock.now();
    const wasOpen = this.#seenAt - this.#openedAt >= ESTABLISHED;
    this.#openedAt = undefined;
    if (wasOpen) this.#failures = 0;
    return wasOpen;
  }

  /** Decides how to go on after an error. */
  #judge(error: unknown): void {
    this.#error = error;
    if (error instanceof NoAnswerError) {
      this.#mayBeRestored = true;
      if (!this.#options.resource.client.isAnswering) this.#options.onError(error); // not if only a connection broke
      return;
    }
    const { status } = error as ApiError;
    if (status === 404) this.#options.resource.forget();
    // 400: another cluster answers. 410: the changes since the version are lost. 504: the version is from the future.
    if (status === 400 || status === 404 || status === 410 || status === 504) this.#version = undefined;
    if (status !== 410) this.#options.onError(error);
  }

  /** Waits before the next try: not at all after a watch that was open. */
  async #wait(error: unknown, wasOpen: boolean, signal: AbortSignal): Promise<void> {
    const { client } = this.#options.resource;
    if (!client.isAnswering) await client.whenAnswering(signal).catch(() => {}); // rejects if the client is closed
    if (wasOpen) return;
    const { status = 0, retryAfter = 0 } = error instanceof ApiError ? error : {};
    const isBusy = error === undefined || error instanceof NoAnswerError || status === 429 || status >= 500;
    const delay = backoff(++this.#failures, MAX_DELAY[isBusy ? "busy" : "other"]);
    await sleep(Math.max(retryAfter, delay), signal);
  }

  async #listOrWatch(signal: AbortSignal): Promise<void> {
    const { resource, namespace } = this.#options;
    const path = await resource.pathIn(namespace, signal);
    if (this.#version !== undefined && this.#mayBeRestored) await this.#compareVersions(path, signal);
    this.#mayBeRestored = false;
    if (this.#version === undefined) await this.#list(path, signal);
    await this.#watch(path, signal);
  }

  /**
   * Lists again if the server's version is older than the known one. The server would accept a watch from a future
   * version, and then send no events.
   */
  async #compareVersions(path: string, signal: AbortSignal): Promise<void> {
    const query = { ...this.#options.selectors, limit: 1 };
    const { metadata } = await this.#options.resource.client.request<{ metadata: ObjectMeta }>("GET", path, {
      query,
      signal,
    });
    if (isNewer(this.#version, metadata.resourceVersion)) this.#version = undefined;
  }

  async #list(path: string, signal: AbortSignal): Promise<void> {
    const { store, namespace, onSynced } = this.#options;
    const listing = store.beginList(namespace);
    try {
      const version = await this.#listByWatch(path, listing, signal) ?? await this.#listPages(path, listing, signal);
      store.replace(listing, version);
      this.#version = version;
      this.#error = undefined;
      this.#isSynced = true;
      onSynced();
    } finally {
      store.dropList(listing);
    }
  }

  /** Gets a list through a watch. Resolves with its version; with `undefined` if the server doesn't list so. */
  async #listByWatch(path: string, listing: Listing<T>, signal: AbortSignal): Promise<string | undefined> {
    const query = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", timeoutSeconds: LONGEST_LIST };
    try {
      for await (const { type, object } of this.#open(path, query, QUIET_LIST, signal)) {
        const { annotations, resourceVersion } = object.metadata;
        if (type === "DELETED") listing.found.delete(keyOf(object));
        else if (type !== "BOOKMARK") listing.add(object);
        else if (annotations?.["k8s.io/initial-events-end"]) return resourceVersion!;
      }
    } catch (error) {
      if (error instanceof ApiError && !CANNOT_LIST_BY_WATCH.includes(error.status)) throw error;
    }
    return undefined;
  }

  /** Gets a list in pages. Resolves with its version. */
  async #listPages(path: string, listing: Listing<T>, signal: AbortSignal): Promise<string> {
    const { selectors, resource: { client, apiVersion, kind } } = this.#options;
    const onItem = (object: T) => listing.add({ ...object, apiVersion, kind }); // items lack these two
    let limit: number | undefined = PAGE;
    let token: string | undefined;
    this.#openedAt = undefined;
    for (;;) {
      if (token === undefined) listing.found.clear();
      try {
        const query: Query = { ...selectors, limit, continue: token };
        const { metadata, size } = await client.list<T>(path, { query, signal, onItem });
        if (!metadata.continue) return metadata.resourceVersion!;
        token = metadata.continue;
        if (limit !== undefined && size > MAX_LENGTH) limit = Math.max(1, Math.floor(limit / 2));
      } catch (error) {
        if (token === undefined || !(error instanceof ApiError) || error.status !== 410) throw error;
        [limit, token] = [undefined, undefined]; // the server forgot the version: takes one list instead
      }
    }
  }

  /** Takes over changes since the known version, until the watch ends. */
  async #watch(path: string, signal: AbortSignal): Promise<void> {
    const timeoutSeconds = LIFETIME + Math.round(LIFETIME_JITTER * Math.random());
    const query = { resourceVersion: this.#version, timeoutSeconds };
    for await (const { type, object } of this.#open(path, query, QUIET_WATCH, signal)) {
      this.#version = object.metadata.resourceVersion!;
      if (type !== "BOOKMARK") this.#options.store.receive(type, object);
    }
  }

  /** Yields the events of a watch. Throws if none comes for the time `idleTimeout`. */
  async *#open(path: string, query: Query, idleTimeout: string, signal: AbortSignal): AsyncGenerator<NewsEvent<T>> {
    const { selectors, resource: { client } } = this.#options;
    const events = client.watch<NewsEvent<T> | ErrorEvent>(path, {
      query: { ...selectors, watch: true, allowWatchBookmarks: true, ...query },
      signal,
      idleTimeout,
      onOpen: () => {
        this.#openedAt = systemClock.now();
        this.#error = undefined;
      },
    });
    for await (const event of events) {
      if (event.type === "ERROR") throw new ApiError(`GET ${path}`, event.object);
      yield event;
    }
  }
}
