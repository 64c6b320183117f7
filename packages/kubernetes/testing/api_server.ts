/** API server of the cluster for tests. */

import type { Target } from "./checks.ts";
import type { ClusterRequest, Verb } from "./cluster_request.ts";
import { list } from "./list.ts";
import { type Fields, isFields, mergePatch, type Stored } from "./objects.ts";
import { discover, placeOf, type Resource, resourcesIn } from "./resources.ts";
import { Failure, invalid } from "./status.ts";
import type { Store } from "./store.ts";
import { type StartWatch, watch } from "./watch.ts";
import type { DeleteOptions, Writes } from "./writes.ts";

/** Answer to a request: an object, text, or the function that starts a watch. */
export interface Answer {
  readonly code: number;
  readonly body: object | string;
  readonly start?: StartWatch;
}

type Headers = Readonly<Record<string, string>>;

/** API server in front of a store. */
export class ApiServer {
  readonly #store: Store;
  readonly #writes: Writes;
  readonly #isWatchList: boolean;

  /** Creates a server. `isWatchList` says whether watches may begin with a list. */
  constructor(store: Store, writes: Writes, isWatchList: boolean) {
    this.#store = store;
    this.#writes = writes;
    this.#isWatchList = isWatchList;
  }

  /** Answers a request at once. */
  answer(request: ClusterRequest, body: string | undefined, headers: Headers): Answer {
    try {
      return this.#answer(request, body, headers);
    } catch (error) {
      if (error instanceof Failure) return { code: error.status.code, body: error.status };
      throw error;
    }
  }

  #answer(request: ClusterRequest, text: string | undefined, headers: Headers): Answer {
    const { pathname, searchParams: query } = new URL(request.path, "http://cluster");
    const discovered = request.resource ? undefined : discover(pathname, resourcesIn(this.#store));
    if (discovered) return { code: 200, body: discovered };
    const { verb, name = "", namespace, subresource } = request;
    const resource = resourcesIn(this.#store).find((one) => isNamed(one, request));
    if (!resource || !hasPath(resource, request)) return { code: 404, body: "404 page not found\n" };
    const selection = { resource, namespace, query };
    if (verb === "list") return { code: 200, body: list(this.#store, selection) };
    if (verb === "watch") return { code: 200, body: "", start: watch(this.#store, selection, this.#isWatchList) };
    const manager = query.get("fieldManager") ?? headers["user-agent"]?.split("/")[0] ?? "unknown";
    const target: Target = { resource, namespace, name, subresource, manager };
    const body = text === undefined ? undefined : parseBody(text);
    if (verb === "delete") return this.#delete(target, deleteOptions(body, query));
    const isNew = this.#store.get(placeOf(target)) === undefined;
    const object = verb === "get" ? this.#writes.read(target) : this.#write(verb, target, body, query, headers);
    return { code: isNew ? 201 : 200, body: object };
  }

  #write(verb: Verb, target: Target, body: unknown, query: URLSearchParams, headers: Headers): Stored {
    const writes = this.#writes;
    if (verb === "create") return writes.create(target, withoutNulls(fieldsOf(body)));
    if (verb === "update") return writes.update(target, withoutNulls(fieldsOf(body)));
    const type = headers["content-type"]?.split(";")[0];
    if (type === "application/merge-patch+json") {
      return writes.patch(target, (before) => mergePatch(before, fieldsOf(body)));
    }
    if (type !== "application/apply-patch+yaml" || target.subresource === "scale") {
      throw new Failure(415, `the body of the request was in an unknown format: ${type}`);
    }
    if (query.has("fieldManager")) return writes.apply(target, fieldsOf(body), query.get("force") === "true");
    const cause = { reason: "FieldValueRequired", message: "Required value: is required for apply patch" };
    throw invalid({ kind: "PatchOptions", group: "meta.k8s.io" }, "", [{ ...cause, field: "fieldManager" }]);
  }

  #delete(target: Target, options: DeleteOptions): Answer {
    const { resource: { group, plural }, name } = target;
    const { uid } = this.#writes.read(target).metadata;
    const left = this.#writes.remove(target, options);
    const details = { name, ...(group && { group }), kind: plural, uid };
    const success = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
    return { code: 200, body: left ?? success };
  }
}

function isNamed({ group, version, plural }: Resource, request: ClusterRequest): boolean {
  return group === request.group && version === request.version && plural === request.resource;
}

/** Reports whether a resource has the subresource and the scope that a request is about. */
function hasPath(
  { isClustered, hasStatus, scale }: Resource,
  { verb, namespace, name, subresource }: ClusterRequest,
): boolean {
  if (subresource !== undefined && !{ status: hasStatus, scale: scale !== undefined }[subresource]) return false;
  return isClustered ? namespace === undefined : namespace !== undefined || (!name && verb !== "create");
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure(400, `the object provided is unrecognized: ${(error as Error).message}`);
  }
}

function fieldsOf(body: unknown): Fields {
  if (isFields(body)) return body;
  throw new Failure(400, "the object provided is unrecognized: it is not an object");
}

function withoutNulls(body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const propagationPolicy = query.get("propagationPolicy") as DeleteOptions["propagationPolicy"] | null;
  return { ...(propagationPolicy && { propagationPolicy }), ...(isFields(body) ? body : {}) };
}
