/** Requests to the API server of the cluster for tests. */

import { parse } from "yaml";
import { type Fields, isFields, type Stored } from "./objects.ts";
import { jsonPatch, mergePatch } from "./patches.ts";
import { inVersion, list, type Receiver, watch } from "./reads.ts";
import { apiVersionOf, discover, type Resource, resourcesIn } from "./resources.ts";
import { Failure } from "./status.ts";
import type { Store } from "./store.ts";
import type { DeleteOptions, Target, Writes } from "./writes.ts";

/** Verb of a request, as in the rules of roles. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** Request as the API server understands it. */
export interface ServerRequest {
  readonly verb: Verb;
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  /** Group of the resource; empty for the core group. */
  readonly group: string;
  /** Name of the resource in paths, such as `pods`; empty for discovery. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Answer to a request: an object, or the function that starts a watch. */
export interface Answer {
  readonly code: number;
  readonly body: object | string;
  readonly start?: (receiver: Receiver) => () => void;
}

const PATH =
  /^\/(?:api\/(?<core>v1)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/(?!status$|finalize$)))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/;

/** Returns a request with what its path says. */
export function parseRequest(method: string, path: string): ServerRequest {
  const { pathname, searchParams } = new URL(path, "http://cluster");
  const { group = "", namespace, plural = "", name, subresource } = PATH.exec(pathname)?.groups ?? {};
  const isWatch = searchParams.get("watch") === "true" || searchParams.get("watch") === "1";
  const ofObjects: Record<string, Verb> = { GET: "get", PUT: "update", PATCH: "patch", DELETE: "delete" };
  const ofLists: Record<string, Verb> = { GET: isWatch ? "watch" : "list", POST: "create", DELETE: "deletecollection" };
  const verb = plural ? (name ? ofObjects : ofLists)[method] : method === "GET" ? "get" : undefined;
  if (verb === undefined) throw new Failure(405, "the server does not allow this method on the requested resource");
  return {
    verb,
    method,
    path,
    group,
    resource: plural,
    ...(subresource && { subresource }),
    ...(namespace && { namespace: decodeURIComponent(namespace) }),
    ...(name && { name: decodeURIComponent(name) }),
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
  answer(request: ServerRequest, body: string | undefined, headers: Readonly<Record<string, string>>): Answer {
    try {
      return this.#answer(request, body ? parseBody(body, headers) : undefined, headers);
    } catch (error) {
      if (error instanceof Failure) return { code: error.status.code, body: error.status };
      throw error;
    }
  }

  #answer(request: ServerRequest, body: unknown, headers: Readonly<Record<string, string>>): Answer {
    const { pathname, searchParams: query } = new URL(request.path, "http://cluster");
    const found = discover(pathname, this.#store);
    if (found) return { code: 200, body: found };
    const { verb, name, namespace, subresource } = request;
    const resource = this.#resourceOf(pathname);
    const isKnown = resource && (namespace === undefined || resource.namespaced) &&
      (subresource === undefined || name) &&
      (subresource === undefined || (subresource === "status" && resource.hasStatus) ||
        (subresource === "scale" && resource.scale));
    if (!isKnown) return { code: 404, body: "404 page not found\n" };
    if (name !== undefined) {
      return this.#answerObject(request, { resource, namespace, name, subresource }, query, body, headers);
    }
    const selection = { resource, namespace, query };
    if (verb === "list") return { code: 200, body: list(this.#store, selection) };
    if (verb === "watch") return { code: 200, body: "", start: watch(this.#store, selection, this.#isWatchList) };
    if (verb === "deletecollection") {
      const { items, ...rest } = list(this.#store, selection) as { items: Stored[] };
      for (const { metadata } of items) {
        this.#writes.remove(
          { resource, namespace: metadata.namespace, name: metadata.name! },
          deleteOptions(body, query),
        );
      }
      return { code: 200, body: { ...rest, items } };
    }
    if (resource.namespaced && namespace === undefined) return { code: 405, body: "405: the namespace is missing\n" };
    return { code: 201, body: inVersion(this.#writes.create({ resource, namespace }, requireFields(body)), resource) };
  }

  #answerObject(
    { verb }: ServerRequest,
    target: Target,
    query: URLSearchParams,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Answer {
    const { resource, name } = target;
    const writes = this.#writes;
    if (verb === "get") return { code: 200, body: this.#shown(target, writes.read(target)) };
    if (verb === "update") return { code: 200, body: this.#shown(target, writes.update(target, requireFields(body))) };
    if (verb === "patch") {
      const type = headers["content-type"]?.split(";")[0];
      if (type === "application/merge-patch+json") {
        return { code: 200, body: this.#shown(target, writes.patch(target, (before) => mergePatch(before, body))) };
      }
      if (type === "application/json-patch+json") {
        return {
          code: 200,
          body: this.#shown(target, writes.patch(target, (before) => jsonPatch(before, body as []))),
        };
      }
      throw new Failure(
        415,
        `the body of the request was in an unknown format - accepted media types include: ${PATCHES}`,
      );
    }
    const before = writes.read(target);
    const removed = writes.remove(target, deleteOptions(body, query));
    if (removed.metadata.deletionTimestamp !== undefined && removed.metadata.finalizers) {
      return { code: 200, body: removed };
    }
    const details = {
      name,
      ...(resource.group && { group: resource.group }),
      kind: resource.plural,
      uid: before.metadata.uid,
    };
    return { code: 200, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } };
  }

  #shown({ resource, subresource }: Target, object: Stored): Stored {
    return subresource === "scale" ? object : inVersion(object, resource);
  }

  #resourceOf(pathname: string): Resource | undefined {
    const { core, group, version, plural } = PATH.exec(pathname)?.groups ?? {};
    const apiVersion = core ?? `${group}/${version}`;
    return resourcesIn(this.#store).find((one) => one.plural === plural && apiVersionOf(one) === apiVersion);
  }
}

const PATCHES = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

function parseBody(text: string, headers: Readonly<Record<string, string>>): unknown {
  try {
    return headers["content-type"]?.includes("yaml") && !text.startsWith("{") ? parse(text) : JSON.parse(text);
  } catch (error) {
    throw new Failure(400, `the object provided is unrecognized: ${(error as Error).message}`);
  }
}

function requireFields(body: unknown): Fields {
  if (isFields(body)) return body;
  throw new Failure(400, "the object provided is unrecognized (must be an object)");
}

function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const propagationPolicy = query.get("propagationPolicy") as DeleteOptions["propagationPolicy"] | null;
  return { ...(propagationPolicy && { propagationPolicy }), ...(isFields(body) ? body : {}) };
}
