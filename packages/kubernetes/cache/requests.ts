import { ApiError } from "../client/api_error.ts";
import type { Client, RequestOptions } from "../client/client.ts";
import { keyOf, type KubeObject } from "../kube_object.ts";
import { attempts } from "./attempt.ts";
import { isConflict } from "./conflict.ts";
import type { Target } from "./own_write.ts";
import { type KindResource, pathOf } from "./resource.ts";
import type { Store } from "./store.ts";

/** Object whose name is known. */
export type NamedTarget = Target & { readonly name: string };

/** Answer to a deletion: the object, or a status that names its uid. */
interface Deletion extends KubeObject {
  readonly details?: { readonly uid?: string };
}

/** Requests for single objects of a kind. Their answers are in the store when they resolve. */
export class ObjectRequests<T extends KubeObject> {
  readonly #client: Client;
  readonly #fieldManager: string;
  readonly #resource: KindResource;
  readonly #store: Store<T>;

  constructor(client: Client, fieldManager: string, resource: KindResource, store: Store<T>) {
    this.#client = client;
    this.#fieldManager = fieldManager;
    this.#resource = resource;
    this.#store = store;
  }

  /** Sends a request that writes an object. Resolves with the object of the answer, as it is cached. */
  async write(target: Target, method: string, path: string, { query, ...options }: RequestOptions): Promise<T> {
    const whole = { query: { ...query, fieldManager: this.#fieldManager }, ...options };
    const answer = await this.#send<T>(target, method, path, whole, (answer) => answer);
    const cached = this.#store.get(keyOf(answer));
    return cached?.metadata.resourceVersion === answer.metadata.resourceVersion ? cached! : answer;
  }

  /** Deletes an object. Does nothing if there is none. */
  async remove(target: NamedTarget, body: object): Promise<void> {
    const known = this.#store.get(keyOf({ metadata: target }));
    const objectOf = (answer: Deletion) => {
      if (answer.kind !== "Status") return answer as T;
      return known?.metadata.uid === answer.details?.uid ? known : undefined;
    };
    await this.#send(target, "DELETE", await this.#pathOf(target), { body }, objectOf).catch(ignoreAbsence);
  }

  /** Reads an object, and takes it over into the store. Resolves with `undefined` if there is none. */
  async read(target: NamedTarget): Promise<T | undefined> {
    const known = this.#store.get(keyOf({ metadata: target }));
    const path = await this.#pathOf(target);
    const author = attempts.getStore();
    const write = this.#store.begin(target, author);
    let object: T | undefined;
    try {
      object = await this.#client.request<T>("GET", path, { ...(author && { signal: author.signal }) });
      this.#store.answer(write, object);
    } catch (error) {
      ignoreAbsence(error);
      if (known) this.#store.forget(write, known);
    } finally {
      this.#store.end(write, object);
    }
    return object;
  }

  /** Sends a request within the attempt that makes it, and takes over the object that its answer is about. */
  async #send<R extends KubeObject>(
    target: Target,
    method: string,
    path: string,
    options: RequestOptions,
    objectOf: (answer: R) => T | undefined,
  ): Promise<R> {
    const author = attempts.getStore();
    const write = this.#store.begin(target, author);
    let object: T | undefined;
    try {
      const ofAttempt = author && { signal: author.signal, ...(author.check && { onSent: author.check }) };
      const answer = await this.#client.request<R>(method, path, { ...options, ...ofAttempt });
      object = objectOf(answer);
      const isGone = method === "DELETE" && object !== undefined && (answer.kind === "Status" || !isLeft(object));
      if (isGone) this.#store.forget(write, object!);
      else if (object !== undefined) this.#store.answer(write, object);
      return answer;
    } catch (error) {
      // The store's object is outdated. A status without its own part answers 404, too, so the object may be there.
      const isOutdated = isConflict(error) || isAbsence(error) && method === "PATCH";
      if (isOutdated && target.name !== undefined) await this.read(target as NamedTarget).catch(() => {});
      throw error;
    } finally {
      this.#store.end(write, object);
    }
  }

  async #pathOf(target: NamedTarget): Promise<string> {
    return pathOf(await this.#resource.of({ metadata: target }), target.namespace, target.name);
  }
}

/** Reports whether an object that was deleted is still there, because of finalizers or because it is ending. */
function isLeft({ metadata: { deletionTimestamp, finalizers, deletionGracePeriodSeconds } }: KubeObject): boolean {
  return deletionTimestamp !== undefined && (!!finalizers?.length || !!deletionGracePeriodSeconds);
}

function isAbsence(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

function ignoreAbsence(error: unknown): void {
  if (!isAbsence(error)) throw error;
}
