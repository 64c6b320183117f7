/** Requests to the API server of the cluster for tests. */

import { parse } from "yaml";
import { mergePatch } from "./merge_patch.ts";
import { type Fields, isFields, type Stored } from "./objects.ts";
import { inVersion, list, type Receiver, watch } from "./reads.ts";
import { apiVersionOf, discover, placeOf, type Resource, resourcesIn } from "./resources.ts";
import { Failure, invalid } from "./status.ts";
import type { Store } from "./store.ts";
import type { DeleteOptions, Target, Writes } from "./writes.ts";

/** Verb of a request, as in the rules of roles. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** Request to the API server of a cluster. */
export interface ClusterRequest {
  /** Verb, as in the rules of roles. */
  readonly verb: Verb;
  /** Method of the request. */
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  /** Group of the resource; empty for the core group. */
  readonly group: string;
  /** Name of the resource in paths, such as `pods`; empty for discovery. */
  readonly resource: string;
  /** Name of the subresource, such as `status`. */
  readonly subresource?: string | undefined;
  /** Namespace, if the request is limited to one. */
  readonly namespace?: string | undefined;
  /** Name of the object, if the request is about one. */
  readonly name?: string | undefined;
  /** Code of the answer, once there is one. */
  readonly code?: number;
}

/** Answer to a request: an object, text, or the function that starts a watch. */
export interface Answer {
  readonly code: number;
  readonly body: object | string;
  readonly start?: (receiver: Receiver) => () => void;
}

type Headers = Readonly<Record<string, string>>;

const ROOT = "^/(?:api/(?<core>v1)|apis/(?<group>[^/]+)/(?<version>[^/]+))";
const NAMESPACE = "(?:/namespaces/(?<namespace>[^/]+)(?=/(?!status$)))?";
const PATH = new RegExp(`${ROOT}${NAMESPACE}/(?<plural>[^/]+)(?:/(?<name>[^/]+))?(?:/(?<subresource>[^/]+))?$`);
const OF_OBJECTS: Readonly<Record<string, Verb>> = { GET: "get", PUT: "update", PATCH: "patch", DELETE: "delete" };
const OF_LISTS: Readonly<Record<string, Verb>> = { GET: "list", POST: "create", DELETE: "deletecollection" };

/** Returns a request with what its path says. */
export function parseRequest(method: string, path: string): ClusterRequest {
  const { pathname, searchParams } = new URL(path, "http://cluster");
  const { group = "", namespace, plural = "", name, subresource } = PATH.exec(decodeURIComponent(pathname))?.groups ??
    {};
  const isWatch = ["true", "1"].includes(searchParams.get("watch") ?? "");
  const verb = (plural && !name ? OF_LISTS : OF_OBJECTS)[method] ?? "get";
  return {
    verb: verb === "list" && isWatch ? "watch" : verb,
    method,
    path,
    group,
    resource: plural,
    subresource,
    namespace,
    name,
  };
}

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
    const discovered = request.resource ? undefined : discover(pathname, this.#store);
    if (discovered) return { code: 200, body: discovered };
    const { verb, name = "", namespace, subresource } = request;
    const resource = this.#resourceOf(pathname);
    if (!resource || !hasPath(resource, request)) return { code: 404, body: "404 page not found\n" };
    const selection = { resource, namespace, query };
    if (verb === "list") return { code: 200, body: list(this.#store, selection) };
    if (verb === "watch") return { code: 200, body: "", start: watch(this.#store, selection, this.#isWatchList) };
    const manager = query.get("fieldManager") ?? headers["user-agent"]?.split("/")[0] ?? "unknown";
    const target: Target = { resource, namespace, name, subresource, manager };
    const body = text === undefined ? undefined : parseBody(text, headers);
    if (verb === "delete") return this.#delete(target, deleteOptions(body, query));
    if (verb === "deletecollection") return this.#deleteAll(target, query, deleteOptions(body, query));
    const isNew = this.#store.get(placeOf(resource, namespace, name)) === undefined;
    const object = verb === "get" ? this.#writes.read(target) : this.#write(verb, target, body, query, headers);
    return { code: isNew ? 201 : 200, body: subresource === "scale" ? object : inVersion(object, resource) };
  }

  #write(verb: Verb, target: Target, body: unknown, query: URLSearchParams, headers: Headers): Stored {
    const writes = this.#writes;
    if (verb === "create") return writes.create(target, fieldsOf(body));
    if (verb === "update") return writes.update(target, fieldsOf(body));
    const type = headers["content-type"]?.split(";")[0];
    if (type === "application/merge-patch+json") {
      return writes.patch(target, (before) => mergePatch(before, fieldsOf(body)));
    }
    if (type !== "application/apply-patch+yaml" || target.subresource === "scale") {
      throw new Failure(415, `the body of the request was in an unknown format: ${type}`);
    }
    if (query.has("fieldManager")) return writes.apply(target, fieldsOf(body), query.get("force") === "true");
    const message = "Required value: is required for apply patch";
    throw invalid({ kind: "PatchOptions", group: "meta.k8s.io" }, "", [{
      reason: "FieldValueRequired",
      message,
      field: "fieldManager",
    }]);
  }

  #delete(target: Target, options: DeleteOptions): Answer {
    const { resource: { group, plural }, name } = target;
    const { uid } = this.#writes.read(target).metadata;
    const removed = this.#writes.remove(target, options);
    const isLeft = this.#store.get(placeOf(target.resource, target.namespace, name)) === removed;
    const details = { name, ...(group && { group }), kind: plural, uid };
    return {
      code: 200,
      body: isLeft ? removed : { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details },
    };
  }

  #deleteAll(target: Target, query: URLSearchParams, options: DeleteOptions): Answer {
    const body = list(this.#store, { ...target, query });
    for (const { metadata } of body.items) {
      this.#writes.remove({ ...target, namespace: metadata.namespace, name: metadata.name! }, options);
    }
    return { code: 200, body };
  }

  #resourceOf(pathname: string): Resource | undefined {
    const { core, group, version, plural } = PATH.exec(pathname)?.groups ?? {};
    const apiVersion = core ?? `${group}/${version}`;
    return resourcesIn(this.#store).find((one) => one.plural === plural && apiVersionOf(one) === apiVersion);
  }
}

function hasPath(
  { namespaced, hasStatus, scale }: Resource,
  { verb, namespace, name, subresource }: ClusterRequest,
): boolean {
  if (subresource !== undefined && !{ status: hasStatus, scale: scale !== undefined }[subresource]) return false;
  return namespaced ? namespace !== undefined || (!name && verb !== "create") : namespace === undefined;
}

function parseBody(text: string, headers: Headers): unknown {
  try {
    return headers["content-type"]?.includes("yaml") && !text.startsWith("{") ? parse(text) : JSON.parse(text);
  } catch (error) {
    throw new Failure(400, `the object provided is unrecognized: ${(error as Error).message}`);
  }
}

function fieldsOf(body: unknown): Fields {
  if (isFields(body)) return body;
  throw new Failure(400, "the object provided is unrecognized: it is not an object");
}

function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const propagationPolicy = query.get("propagationPolicy") as DeleteOptions["propagationPolicy"] | null;
  return { ...(propagationPolicy && { propagationPolicy }), ...(isFields(body) ? body : {}) };
}
