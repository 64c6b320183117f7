import { argumentError, callSafely, tryParseDuration } from "@workqueue/core/internal";
import { ApiError, ignoreAbsence } from "../client/errors.ts";
import { type DeepReadonly, keyOf, type KubeObject, type MergePatch, type Wanted } from "../kube_object.ts";
import { AppliedValues } from "./applied.ts";
import type { Change } from "./change.ts";
import type { ApplyOptions, CacheOptions, DeleteOptions, PatchOptions } from "./contract.ts";
import { ListWatch } from "./list_watch.ts";
import { requireNoOtherOwner, withoutOldOwner, withOwner } from "./owner.ts";
import { type ObjectRequest, sendRequest } from "./requests.ts";
import type { KindResource } from "./resource.ts";
import { fieldTerms, fieldTest, labelTest } from "./selectors.ts";
import { Store } from "./store.ts";

/** Longest time that timers support, in milliseconds. */
const MAX_TIMEOUT = 2 ** 31 - 1;
/** Largest difference between the time from one resync to the next and its mean, as a share of the mean. */
const RESYNC_JITTER = 0.1;
/** Metadata that a transform must keep. */
const NEEDED = [
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "deletionTimestamp",
  "finalizers",
  "ownerReferences",
] as const;

/** Properties that a cache gets from its manager. */
export interface CacheContext {
  /** Name under which the server notes who set a field. */
  readonly fieldManager: string;
  readonly onError: (error: unknown) => void;
  /** Called when a watch or a list begins again. */
  readonly onRestart: () => void;
}

/**
 * The objects of one kind, kept up to date by a list and a watch. Made by {@linkcode Manager.cache}.
 *
 * Reads return objects of the cache, and send no request. Objects are shared: don't change them. Writes are sent to
 * the server, and their answers are in the cache when they resolve. Within an attempt of a controller, a write ends
 * when the attempt's signal aborts.
 */
export class Cache<T extends KubeObject> {
  /** API version of the objects, such as `apps/v1`. */
  readonly apiVersion: string;
  /** Kind of the objects, such as `Deployment`. */
  readonly kind: string;
  /** Resolves when the cache holds all objects for the first time. */
  readonly synced: Promise<void>;
  readonly #context: CacheContext;
  readonly #options: CacheOptions<T>;
  /** Reports whether an object is in the namespaces of the cache and has the labels. */
  readonly #selects: (object: T) => boolean;
  readonly #store: Store<T>;
  readonly #applied: AppliedValues;
  readonly #listeners: ((change: Change<T>) => void)[] = [];
  readonly #listWatches: readonly ListWatch<T>[];
  readonly #resource: KindResource<T>;
  #onSynced!: () => void;

  /** @internal */
  constructor(context: CacheContext, resource: KindResource<T>, options: CacheOptions<T> = {}) {
    this.apiVersion = resource.apiVersion;
    this.kind = resource.kind;
    this.#resource = resource;
    this.#context = context;
    this.#options = options;
    this.synced = new Promise((resolve) => this.#onSynced = resolve);
    this.#applied = new AppliedValues(context.fieldManager, this.apiVersion);
    const hasLabels = labelTest(options.labelSelector ?? "");
    const hasFields = fieldTest(fieldTerms(options.fieldSelector ?? ""));
    this.#selects = ({ metadata: { namespace, labels = {} } }) =>
      (options.namespaces?.includes(namespace!) ?? true) && hasLabels(labels);
    this.#store = new Store<T>({
      indexes: (options.indexes ?? {}) as never,
      selects: (object) => this.#selects(object) && hasFields(object),
      reduce: (object) => this.#reduce(object),
      onChange: (change) => {
        for (const listener of this.#listeners) callSafely(listener, this.#context.onError, change);
      },
      onError: this.#context.onError,
    });
    resource.stores.push(this.#store);
    this.#listWatches = (options.namespaces ?? [undefined]).map((namespace) => this.#listWatch(namespace));
  }

  /** Returns the object with a key: `namespace/name`, or `name` for a kind without namespaces. */
  get(key: string): DeepReadonly<T> | undefined {
    return this.#store.get(key) as DeepReadonly<T> | undefined;
  }

  /** Returns all objects, in no particular order. */
  list(): DeepReadonly<T>[] {
    return this.#store.list() as DeepReadonly<T>[];
  }

  /**
   * Returns the objects for which a function of the option `indexes` returned a value.
   *
   * @throws {TypeError} If the cache has no such index.
   */
  byIndex(index: string, value: string): DeepReadonly<T>[] {
    const found = this.#store.byIndex(index, value);
    if (found === undefined) throw argumentError("read cache", `it has no index "${index}"`, TypeError);
    return found as DeepReadonly<T>[];
  }

  /**
   * Creates an object. With `metadata.generateName`, the server chooses a name that begins with it.
   *
   * @throws {ApiError} If the server refuses the object: with the reason `AlreadyExists` if an object with this name
   * exists.
   */
  async create(object: Wanted<T>): Promise<DeepReadonly<T>> {
    const body = { ...object, apiVersion: this.apiVersion, kind: this.kind };
    return await this.#write("POST", object, { body }, "created");
  }

  /**
   * Changes fields of an object, unless somebody has changed the object since it was read.
   *
   * @param object The object as it was read.
   * @param changes The fields to change, as a merge patch: `null` removes a field, a list is replaced as a whole.
   * @throws {ApiError} With the reason `Conflict` if the object was changed. When this error is thrown, the newer
   * object is in the cache.
   */
  async patch(
    object: DeepReadonly<T>,
    changes: MergePatch<T>,
    { subresource }: PatchOptions = {},
  ): Promise<DeepReadonly<T>> {
    const { resourceVersion } = (object as KubeObject).metadata;
    const { metadata } = changes as Partial<KubeObject>;
    const body = { ...changes as object, metadata: { ...metadata, resourceVersion } };
    const contentType = "application/merge-patch+json";
    return await this.#write("PATCH", object as KubeObject, { body, contentType, subresource });
  }

  /**
   * Creates an object, or corrects the fields that are set in `wanted` (server-side apply). Fields that this controller
   * set before, and that are missing now, are removed. Sends no request if it would change nothing: the controller, or
   * an earlier process of it, applied the same value last, and nobody has changed these fields since then.
   *
   * @throws {ApiError} If the server refuses the object.
   * @throws {TypeError} If the owner is in another namespace, or has no uid.
   * @throws {Error} If another object controls the object already.
   */
  async apply(wanted: Wanted<T>, { owner, force = true }: ApplyOptions = {}): Promise<DeepReadonly<T>> {
    const content = { ...wanted as KubeObject, apiVersion: this.apiVersion, kind: this.kind };
    const body = owner === undefined ? content : withOwner(content, owner);
    const found = this.#store.get(keyOf(body));
    if (found) requireNoOtherOwner(found as KubeObject, body);
    if (found && this.#applied.has(body, found)) return found as DeepReadonly<T>;
    const request = { query: { force }, body, contentType: "application/apply-patch+yaml" };
    const send = () => this.#write("PATCH", body, request, "applied");
    const answer = await send().catch(async (error) => {
      if (!await this.#removeOldOwner(error, body)) throw error;
      return await send();
    });
    this.#applied.add(body, answer as KubeObject);
    return answer;
  }

  /** Removes the reference to an old owner, if the server refused a value because of it. Reports whether it did. */
  async #removeOldOwner(error: unknown, body: KubeObject): Promise<boolean> {
    if (!(error instanceof ApiError && error.status === 422)) return false;
    const object = await this.fetch(keyOf(body));
    const ownerReferences = object && withoutOldOwner(object as KubeObject, body);
    if (ownerReferences) await this.patch(object, { metadata: { ownerReferences } } as never);
    return ownerReferences !== undefined;
  }

  /**
   * Deletes an object. Does nothing if there is none.
   *
   * @param object The object as it was read, or its key. With an object, an object that was created again under the
   * same name is not deleted.
   * @throws {ApiError} With the reason `Conflict` if a precondition doesn't hold.
   */
  async delete(object: DeepReadonly<T> | string, options: DeleteOptions = {}): Promise<void> {
    const key = typeof object === "string" ? object : keyOf(object as KubeObject);
    const uid = typeof object === "string" ? undefined : (object as KubeObject).metadata.uid;
    const preconditions = { ...(uid !== undefined && { uid }), ...options.preconditions };
    const body = { apiVersion: "v1", kind: "DeleteOptions", ...options, preconditions };
    await sendRequest(this.#resource, this.#store, "DELETE", targetOf(key), { body }).catch(ignoreAbsence);
  }

  /**
   * Reads an object from the server, and takes it over into the cache. Resolves with `undefined` if there is none.
   *
   * @internal
   */
  async fetch(key: string): Promise<DeepReadonly<T> | undefined> {
    const answer = await sendRequest(this.#resource, this.#store, "GET", targetOf(key)).catch(ignoreAbsence);
    return answer && this.#asCached(answer as KubeObject as T);
  }

  /**
   * Calls `listener` for each change.
   *
   * @internal
   */
  subscribe(listener: (change: Change<T>) => void): void {
    this.#listeners.push(listener);
  }

  /** Number of objects. */
  get size(): number {
    return this.#store.size;
  }

  /** Whether the cache holds only objects that selectors select, and may lose one that still exists. */
  get isSelective(): boolean {
    return this.#options.labelSelector !== undefined || this.#options.fieldSelector !== undefined;
  }

  /** Whether the objects have a namespace; `undefined` before the server was asked. */
  get isNamespaced(): boolean | undefined {
    return this.#resource.known?.isNamespaced;
  }

  /** Whether the cache has held all objects. */
  get isSynced(): boolean {
    return this.#listWatches.every(({ isSynced }) => isSynced);
  }

  /** Time since every watch was open, in milliseconds. */
  get unseenFor(): number {
    return Math.max(...this.#listWatches.map(({ unseenFor }) => unseenFor));
  }

  /** Error of the server that says which permission is missing for the first list; `undefined` if none is. */
  get denial(): ApiError | undefined {
    return this.#listWatches.find(({ isSynced, denial }) => !isSynced && denial)?.denial;
  }

  /**
   * Lists and watches until the signal aborts.
   *
   * @internal
   */
  async run(signal: AbortSignal): Promise<void> {
    const jitter = 1 + RESYNC_JITTER * (2 * Math.random() - 1);
    const resync = Math.min(MAX_TIMEOUT, jitter * tryParseDuration(this.#options.resync ?? "10h")!);
    const timer = setInterval(() => this.#store.resync(), resync);
    await Promise.all(this.#listWatches.map((listWatch) => listWatch.run(signal)));
    clearInterval(timer);
  }

  /**
   * Sends a request that writes an object.
   *
   * @param made Word for a write whose object the cache should hold. If the labels or the namespace of the object keep
   * it out of the cache, an error is reported.
   */
  async #write(
    method: "POST" | "PATCH",
    object: KubeObject,
    request: ObjectRequest,
    made?: "created" | "applied",
  ): Promise<DeepReadonly<T>> {
    const query = { ...request.query, fieldManager: this.#context.fieldManager };
    const response = await sendRequest(this.#resource, this.#store, method, object.metadata, { ...request, query });
    const answer = response as KubeObject as T;
    if (made !== undefined && !this.#selects(answer)) this.#context.onError(notSelected(made, answer));
    return this.#asCached(answer);
  }

  /** Returns the object of an answer as it is cached or, if it isn't, as it would be. */
  #asCached(answer: T): DeepReadonly<T> {
    const cached = this.#store.get(keyOf(answer));
    const isSame = cached?.metadata.resourceVersion === answer.metadata.resourceVersion;
    return (isSame ? cached : this.#reduce(answer)) as DeepReadonly<T>;
  }

  #listWatch(namespace: string | undefined): ListWatch<T> {
    const { labelSelector, fieldSelector } = this.#options;
    return new ListWatch<T>({
      store: this.#store,
      resource: this.#resource,
      namespace,
      selectors: { labelSelector, fieldSelector },
      onSynced: () => this.isSynced && this.#onSynced(),
      onError: this.#context.onError,
      onRestart: this.#context.onRestart,
    });
  }

  /** Returns an object in the form in which it is cached, and notes which fields were applied. */
  #reduce(object: T): T {
    const { managedFields: _, ...metadata } = object.metadata;
    let reduced = { ...object, metadata };
    if (Object.isFrozen(object.metadata)) [metadata, reduced].forEach(Object.freeze); // as in the cluster of tests
    try {
      reduced = requireMetadata(this.#options.transform?.(reduced) ?? reduced, reduced);
    } catch (error) {
      this.#context.onError(error);
    }
    this.#applied.observe(object, reduced);
    return reduced;
  }
}

/** Returns the result of a transform. Throws if it lacks metadata that caches and controllers need. */
function requireMetadata<T extends KubeObject>(transformed: T, { metadata }: T): T {
  const missing = NEEDED.find((name) => metadata[name] !== undefined && transformed.metadata?.[name] === undefined);
  if (missing === undefined) return transformed;
  throw argumentError("transform object", `the result lacks metadata.${missing}`, TypeError);
}

/** Creates the error for an object that was written, and that the cache will never hold. */
function notSelected(made: string, object: KubeObject): Error {
  return new Error(
    `"${keyOf(object)}" was ${made}, but the cache doesn't hold it, so its changes go unseen: ` +
      "the 'labelSelector' or the 'namespaces' of the cache don't select it",
  );
}

function targetOf(key: string): { readonly namespace: string | undefined; readonly name: string | undefined } {
  const [name, namespace] = key.split("/").reverse();
  return { namespace, name };
}
