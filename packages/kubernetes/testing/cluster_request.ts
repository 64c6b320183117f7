/** Verb of a request, as in the rules of roles. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

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
  /** Version of the resource. */
  readonly version: string;
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

const ROOT = "^/(?:api|apis/(?<group>[^/]+))/(?<version>[^/]+)";
const NAMESPACE = "(?:/namespaces/(?<namespace>[^/]+)(?=/(?!status$)))?";
const OBJECTS = "/(?<resource>[^/]+)(?:/(?<name>[^/]+))?(?:/(?<subresource>[^/]+))?$";
const PATH = new RegExp(ROOT + NAMESPACE + OBJECTS);
const OF_OBJECTS: Readonly<Record<string, Verb>> = { GET: "get", PUT: "update", PATCH: "patch", DELETE: "delete" };
const OF_LISTS: Readonly<Record<string, Verb>> = { GET: "list", POST: "create" };

/** Returns a request with the parts of its path. */
export function parseRequest(method: string, path: string): ClusterRequest {
  const { pathname, searchParams } = new URL(path, "http://cluster");
  const { group = "", version = "", resource = "", ...target } = PATH.exec(decodeURIComponent(pathname))?.groups ?? {};
  const isWatch = ["true", "1"].includes(searchParams.get("watch") ?? "");
  const verb = (resource && !target["name"] ? OF_LISTS : OF_OBJECTS)[method] ?? "get";
  return { verb: verb === "list" && isWatch ? "watch" : verb, method, path, group, version, resource, ...target };
}
