import { ApiError } from "../client/api_error.ts";
import type { Client, RequestOptions } from "../client/client.ts";
import { keyOf, type KubeObject } from "../kube_object.ts";
import { attempts } from "./attempt.ts";
import { isConflict } from "./conflict.ts";
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

  constructor(client: Client, resource: KindResource, store: Store<T>) {
    this.#client = client;
    this.#resource = resource;
    this.#store = store;
  }

  /** Sends a request that writes an object. Resolves with the object of the answer, as it is cached. */
  async write(method: "POST" | "PATCH", target: Target, request: ObjectRequest): Promise<T> {
    const answer = await this.#send(method, target, request) as T;
    const cached = this.#store.get(keyOf(answer));
    return cached?.metadata.resourceVersion === answer.metadata.resourceVersion ? cached! : answer;
  }

  /** Deletes an object. Does nothing if there is none. */
  async remove(target: Target, body: object): Promise<void> {
    await this.#send("DELETE", target, { body }).catch(ignoreAbsence);
  }

  /** Reads an object, and takes it over into the store. Resolves with `undefined` if there is none. */
  async read(target: Target): Promise<T | undefined> {
    return await this.#send("GET", target).catch(ignoreAbsence) as T | undefined;
  }

  /** Sends a request within the attempt that makes it, and takes over the object that its answer is about. */
  async #send(method: string, target: Target, { subresource, ...options }: ObjectRequest = {}): Promise<Answer> {
    const { namespace, name } = target;
    const resource = await this.#resource.of({ metadata: target });
    const path = pathOf(resource, namespace, method === "POST" ? undefined : name, subresource);
    const author = attempts.getStore();
    const known = this.#store.get(keyOf({ metadata: target }));
    const write = this.#store.begin(target, author);
    let object: T | undefined;
    try {
      const ofAttempt = author && { signal: author.signal, ...(author.check && { onSent: author.check }) };
      const answer = await this.#client.request<Answer>(method, path, { ...options, ...ofAttempt });
      const isGone = answer.kind === "Status" || method === "DELETE" && answer.metadata.deletionTimestamp === undefined;
      if (answer.kind !== "Status") object = answer as T;
      else if (answer.details?.uid === known?.metadata.uid) object = known;
      if (object !== undefined) this.#store[isGone ? "forget" : "answer"](write, object);
      return answer;
    } catch (error) {
      if (method === "GET" && isAbsence(error) && known !== undefined) this.#store.forget(write, known);
      // The store's object is outdated. A status without its own part answers 404, too, so the object may be there.
      const isOutdated = name !== undefined && isConflict(error) || method === "PATCH" && isAbsence(error);
      if (isOutdated) await this.read(target).catch(() => {});
      throw error;
    } finally {
      this.#store.end(write, object);
    }
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

function ignoreAbsence(error: unknown): void {
  if (!isAbsence(error)) throw error;
}
