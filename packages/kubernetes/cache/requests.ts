import { argumentError } from "@workqueue/core/internal";
import { ignoreAbsence, isAbsence, isConflict } from "../client/api_error.ts";
import type { Client, RequestOptions } from "../client/client.ts";
import { keyOf, type KubeObject, type ObjectMeta } from "../kube_object.ts";
import { attempts } from "./attempt.ts";
import type { Target } from "./own_write.ts";
import { type KindResource, pathOf } from "./resource.ts";
import type { Store } from "./store.ts";

/** Request for one object, or for its subresource. */
export type ObjectRequest = Pick<RequestOptions, "query" | "body" | "contentType"> & {
  readonly subresource?: string | undefined;
};

/** Answer to a request: an object or, to a deletion, perhaps a status that names the uid. */
interface Answer extends KubeObject {
  readonly details?: { readonly uid?: string };
}

/** Requests for single objects of a kind. Their answers are in the store when they resolve. */
export class ObjectRequests<T extends KubeObject> {
  readonly #client: Client;
  readonly #resource: KindResource;
  readonly #store: Store<T>;
  readonly #stores: readonly Store<T>[];

  /** @param stores The stores of the kind in this cache and in other caches. Each answer is put in all of them. */
  constructor(client: Client, resource: KindResource, store: Store<T>, stores: readonly Store<T>[]) {
    this.#client = client;
    this.#resource = resource;
    this.#store = store;
    this.#stores = stores;
  }

  /** Sends a request that writes an object. Resolves with the object of the answer, as it is cached. */
  async write(method: "POST" | "PATCH", target: Target, request: ObjectRequest): Promise<T> {
    return this.#asCached(await this.#send(method, target, request) as T);
  }

  /** Deletes an object. Does nothing if there is none. */
  async remove(target: Target, body: object): Promise<void> {
    await this.#send("DELETE", target, { body }).catch(ignoreAbsence);
  }

  /** Reads an object, and takes it over into the store. Resolves with `undefined` if there is none. */
  async read(target: Target): Promise<T | undefined> {
    const answer = await this.#send("GET", target).catch(ignoreAbsence) as T | undefined;
    return answer && this.#asCached(answer);
  }

  #asCached(answer: T): T {
    const cached = this.#store.get(keyOf(answer));
    return cached?.metadata.resourceVersion === answer.metadata.resourceVersion ? cached! : this.#store.reduce(answer);
  }

  /** Sends a request within the attempt that makes it, and takes over the object that its answer is about. */
  async #send(method: string, target: Target, { subresource, ...options }: ObjectRequest = {}): Promise<Answer> {
    const { namespace, name } = target;
    const resource = await this.#resource.of({ metadata: target });
    if (method !== "POST" && !name) {
      throw argumentError(`write ${this.#resource.kind}`, "its name is missing", TypeError);
    }
    const path = pathOf(resource, namespace, method === "POST" ? undefined : name);
    const key = keyOf({ metadata: target });
    const known = this.#store.get(key)?.metadata.uid;
    const author = attempts.getStore();
    const signal = author && { signal: author.signal };
    const writes = this.#stores.map((store) => ({ store, write: store.begin(target, author) }));
    let written: Pick<ObjectMeta, "uid" | "resourceVersion"> | undefined;
    try {
      const ofAttempt = { ...signal, ...(author?.check && { onSent: author.check }) };
      const part = subresource === undefined ? "" : `/${subresource}`;
      let answer = await this.#client.request<Answer>(method, path + part, { ...options, ...ofAttempt });
      if (subresource === "scale") answer = await this.#client.request("GET", path, { ...signal }); // was a Scale
      const isStatus = answer.kind === "Status";
      const isGone = isStatus || method === "DELETE" && answer.metadata.deletionTimestamp === undefined;
      written = isStatus ? { uid: answer.details?.uid } : answer.metadata;
      for (const { store, write } of writes) {
        if (isGone) store.forget(write, key, written.uid, isStatus ? undefined : answer as T);
        else store.answer(write, answer as T);
      }
      return answer;
    } catch (error) {
      if (method === "GET" && isAbsence(error) && known !== undefined) {
        for (const { store, write } of writes) store.forget(write, key, known);
      }
      // The store's object is outdated. 404 is also the answer if the status has no part of its own, so the object may
      // exist.
      const isOutdated = name !== undefined && isConflict(error) || method === "PATCH" && isAbsence(error);
      if (isOutdated) await this.read(target).catch(() => {});
      throw error;
    } finally {
      for (const { store, write } of writes) store.end(write, written);
    }
  }
}
