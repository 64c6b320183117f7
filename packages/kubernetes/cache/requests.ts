import { argumentError } from "@workqueue/core/internal";
import { isAbsence, isConflict } from "../client/errors.ts";
import type { RequestOptions } from "../client/client.ts";
import { keyOf, type KubeObject, type ObjectMeta } from "../kube_object.ts";
import { attempts } from "./change.ts";
import { type KindResource, pathOf } from "./resource.ts";
import type { Store, Target } from "./store.ts";

/** Request for one object, or for its subresource. */
export type ObjectRequest = Pick<RequestOptions, "query" | "body" | "contentType"> & {
  readonly subresource?: string | undefined;
};

/** Answer to a request: an object or, to a deletion, perhaps a status that names the uid. */
interface Answer extends KubeObject {
  readonly details?: { readonly uid?: string };
}

/**
 * Sends a request for one object, within the attempt that makes it. When it resolves, all stores of the kind have taken
 * over the object that the answer is about.
 *
 * @param own Store of the cache that sends the request.
 */
export async function sendRequest<T extends KubeObject>(
  resource: KindResource<T>,
  own: Store<T>,
  method: string,
  target: Target,
  { subresource, ...options }: ObjectRequest = {},
): Promise<Answer> {
  const { client, stores } = resource;
  const { namespace, name } = target;
  const found = await resource.of(namespace);
  if (method !== "POST" && !name) {
    throw argumentError(`write ${resource.kind}`, "its name is missing", TypeError);
  }
  const path = pathOf(found, namespace, method === "POST" ? undefined : name);
  const key = keyOf({ metadata: target });
  const known = own.get(key)?.metadata.uid;
  const author = attempts.getStore();
  const signal = author && { signal: author.signal };
  const writes = stores.map((store) => ({ store, write: store.begin(target, author) }));
  let written: Pick<ObjectMeta, "uid" | "resourceVersion"> | undefined;
  try {
    const ofAttempt = { ...signal, ...(author?.check && { onSent: author.check }) };
    const part = subresource === undefined ? "" : `/${subresource}`;
    let answer = await client.request<Answer>(method, path + part, { ...options, ...ofAttempt });
    if (subresource === "scale") answer = await client.request("GET", path, { ...signal }); // was a Scale
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
    if (isOutdated) await sendRequest(resource, own, "GET", target).catch(() => {});
    throw error;
  } finally {
    for (const { store, write } of writes) store.end(write, written);
  }
}
