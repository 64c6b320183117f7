import { keyOf, type KubeObject, type ObjectMeta } from "../kube_object.ts";
import type { Attempt, Change } from "./change.ts";
import { Indexes, type IndexFunctions } from "./index.ts";
import { isNewer } from "./versions.ts";

/** Options of {@linkcode Store}. */
export interface StoreOptions<T> {
  readonly indexes: IndexFunctions<T>;
  /** Reports whether the cache's selectors and namespaces select an object. */
  readonly selects: (object: T) => boolean;
  /** Returns an object as it is to be stored. */
  readonly reduce: (object: T) => T;
  readonly onChange: (change: Change<T>) => void;
  readonly onError: (error: unknown) => void;
}

/** Object that a request of this process writes. The name is unknown if the server generates it. */
export interface Target {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
}

/** Request of this process that is being sent. */
export interface OwnWrite<T extends KubeObject> {
  readonly target: Target;
  /** Attempt that sent the request. */
  readonly author: Attempt | undefined;
  /** Changes that a watch has reported meanwhile. Only the answer shows which of them this request made. */
  readonly changes: Change<T>[];
  /** Objects that were deleted since the request began, by their uids. The answer must not bring them back. */
  readonly deleted: Set<string | undefined>;
}

/**
 * A list that is being received, with the answers to this process's requests since it began: the list may lack these
 * objects.
 */
export class Listing<T extends KubeObject> {
  readonly found: Map<string, T> = new Map();
  readonly answers: Map<string, T> = new Map();
  readonly deleted: Set<string | undefined> = new Set();
  readonly #reduce: (object: T) => T;

  /** Begins a list of a namespace, or of all if it is undefined. */
  constructor(readonly namespace: string | undefined, reduce: (object: T) => T) {
    this.#reduce = reduce;
  }

  /** Adds an object, without the parts that the store doesn't keep: a list takes much memory. */
  add(object: T): void {
    this.found.set(keyOf(object), this.#reduce(object));
  }

  /** Reports whether an object belongs to the list's namespace. */
  covers({ metadata }: KubeObject): boolean {
    return this.namespace === undefined || metadata.namespace === this.namespace;
  }
}

/**
 * Objects of one kind by their keys. Of each object, the newest version from lists, watches and answers to this
 * process's requests.
 */
export class Store<T extends KubeObject> {
  readonly #options: StoreOptions<T>;
  readonly #objects = new Map<string, T>();
  readonly #indexes: Indexes<T>;
  readonly #writes = new Set<OwnWrite<T>>();
  readonly #listings = new Set<Listing<T>>();
  /** Objects that this process deleted, until a watch or a list shows that they are gone. */
  readonly #deleted = new Map<string | undefined, T>();
  /**
   * Versions at which a request of this process changed an object so that the selection excludes it. Older events must
   * not bring the object back.
   */
  readonly #left = new Map<string | undefined, string | undefined>();

  constructor(options: StoreOptions<T>) {
    this.#options = options;
    this.#indexes = new Indexes(options.indexes, options.onError);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  /** Returns the objects under a value of an index; `undefined` if there is no such index. */
  byIndex(index: string, value: string): T[] | undefined {
    return this.#indexes.find(index, value);
  }

  /** Takes over an event of a watch. */
  receive(type: "ADDED" | "MODIFIED" | "DELETED", received: T): void {
    const { uid, resourceVersion } = received.metadata;
    const key = keyOf(received);
    if (type !== "DELETED") {
      const isOld = isNewer(this.#left.get(uid), resourceVersion);
      if (!isOld && !this.#deleted.has(uid)) this.#take(key, received, undefined);
      return;
    }
    this.#deleted.delete(uid);
    this.#left.delete(uid);
    for (const write of this.#writes) write.deleted.add(uid);
    const before = this.#objects.get(key);
    const isStale = before && isNewer(before.metadata.resourceVersion, resourceVersion);
    if (before?.metadata.uid === uid && !isStale) this.#remove(key, this.#options.reduce(received), undefined);
  }

  /** Begins a list of a namespace, or of all. Must be called before its request is sent. */
  beginList(namespace: string | undefined): Listing<T> {
    const listing = new Listing<T>(namespace, this.#options.reduce);
    this.#listings.add(listing);
    return listing;
  }

  /** Ends a list that failed. */
  dropList(listing: Listing<T>): void {
    this.#listings.delete(listing);
  }

  /**
   * Replaces the objects with those of a list, even with older ones: after a restore of the server, versions go back.
   * Only answers that came after the list began, and are newer than it, are kept.
   */
  replace(listing: Listing<T>, version: string): void {
    this.#listings.delete(listing);
    this.#left.clear();
    const { found, answers, deleted } = listing;
    for (const [key, answer] of answers) {
      if (listing.covers(answer) && isNewer(answer.metadata.resourceVersion, version)) found.set(key, answer);
    }
    for (const [key, object] of found) if (deleted.has(object.metadata.uid)) found.delete(key);
    for (const [uid, object] of this.#deleted) {
      if (listing.covers(object) && !deleted.has(uid)) this.#deleted.delete(uid);
    }
    for (const [key, before] of this.#objects) {
      if (!listing.covers(before) || found.has(key)) continue;
      for (const write of this.#writes) write.deleted.add(before.metadata.uid);
      this.#remove(key, before, undefined);
    }
    for (const [key, object] of found) {
      const { uid, resourceVersion } = object.metadata;
      const known = this.#objects.get(key)?.metadata;
      if (known?.uid !== uid || known?.resourceVersion !== resourceVersion) this.#put(key, object, undefined);
    }
  }

  /** Tells the listeners about every object. */
  resync(): void {
    for (const object of this.#objects.values()) {
      this.#tell({ type: "resync", object, before: object, author: undefined });
    }
  }

  /** Begins a request that writes an object. Must be called before the request is sent, and followed by `end`. */
  begin(target: Target, author: Attempt | undefined): OwnWrite<T> {
    const write: OwnWrite<T> = { target, author, changes: [], deleted: new Set() };
    this.#writes.add(write);
    return write;
  }

  /** Takes over the answer to a request, unless it is older than what is known. */
  answer(write: OwnWrite<T>, received: T): void {
    const { uid, resourceVersion } = received.metadata;
    if (write.deleted.has(uid) || this.#deleted.has(uid)) return;
    const key = keyOf(received);
    if (isGone(received)) return this.forget(write, key, uid, received);
    if (!this.#options.selects(received)) {
      const before = this.#objects.get(key);
      if (before === undefined || !isNewer(resourceVersion, before.metadata.resourceVersion)) return;
      this.#left.set(uid, resourceVersion);
      return this.#remove(key, this.#options.reduce(received), write.author);
    }
    for (const { answers } of this.#listings) {
      const other = answers.get(key);
      if (!other || isNewer(resourceVersion, other.metadata.resourceVersion)) {
        answers.set(key, this.#options.reduce(received));
      }
    }
    this.#take(key, received, write.author);
  }

  /**
   * Ends a request. Listeners are told of changes that a watch reported during the request and that the request didn't
   * make, as changes by others.
   */
  end(write: OwnWrite<T>, answer: Pick<ObjectMeta, "uid" | "resourceVersion"> | undefined): void {
    this.#writes.delete(write);
    const { uid, resourceVersion } = answer ?? {};
    for (const change of write.changes) {
      const { metadata } = change.object;
      const isOwn = answer !== undefined && metadata.uid === uid &&
        (change.type === "delete" || metadata.resourceVersion === resourceVersion);
      if (!isOwn) this.#tell({ ...change, author: undefined });
    }
  }

  /** Notes that an object was deleted, as the answer to a request says, perhaps with the `last` state of the object. */
  forget(write: OwnWrite<T>, key: string, uid: string | undefined, last?: T): void {
    for (const listing of this.#listings) listing.deleted.add(uid);
    for (const other of this.#writes) other.deleted.add(uid);
    const known = this.#objects.get(key);
    if (known === undefined || known.metadata.uid !== uid) return;
    this.#deleted.set(uid, known);
    this.#remove(key, last === undefined ? known : this.#options.reduce(last), write.author);
  }

  /**
   * Takes over an object if it is newer than the known one. Most events of a watch tell about writes of this process,
   * whose answers the store has already.
   */
  #take(key: string, received: T, author: Attempt | undefined): void {
    const known = this.#objects.get(key);
    if (known !== undefined && !isNewer(received.metadata.resourceVersion, known.metadata.resourceVersion)) return;
    this.#put(key, this.#options.reduce(received), author);
  }

  #put(key: string, object: T, author: Attempt | undefined): void {
    const before = this.#objects.get(key);
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) { // deleted and created again
      for (const write of this.#writes) write.deleted.add(before.metadata.uid);
      this.#remove(key, before, author);
      return this.#put(key, object, author);
    }
    this.#indexes.change(key, before, object);
    this.#objects.set(key, object);
    this.#tell({ type: before ? "update" : "add", object, before, author });
  }

  #remove(key: string, object: T, author: Attempt | undefined): void {
    const before = this.#objects.get(key);
    this.#indexes.change(key, before, undefined);
    this.#objects.delete(key);
    this.#tell({ type: "delete", object, before, author });
  }

  /**
   * Tells the listeners. A change that comes during a request that may have made it counts as made by the request,
   * until the answer comes.
   */
  #tell(change: Change<T>): void {
    const isFromWatch = change.author === undefined && change.type !== "resync";
    const write = isFromWatch ? this.#writeOf(change.object) : undefined;
    write?.changes.push(change);
    this.#options.onChange(write === undefined ? change : { ...change, author: write.author });
  }

  #writeOf(object: T): OwnWrite<T> | undefined {
    return [...this.#writes].find(({ target, author }) => author !== undefined && mayBe(target, object));
  }
}

/** Reports whether an object may be the one that a request writes. */
function mayBe(target: Target, { metadata: { namespace, name = "" } }: KubeObject): boolean {
  if ((namespace ?? "") !== (target.namespace ?? "")) return false;
  return target.name === undefined ? name.startsWith(target.generateName ?? "") : name === target.name;
}

/**
 * Reports whether the server has deleted an object, because nothing holds it any more. Namespaces also have finalizers
 * in their spec.
 */
function isGone({ metadata, spec }: KubeObject & { readonly spec?: { readonly finalizers?: readonly string[] } }) {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = metadata;
  return deletionTimestamp && !finalizers?.length && !deletionGracePeriodSeconds && !spec?.finalizers?.length;
}
