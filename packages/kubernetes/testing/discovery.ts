import { apiVersionOf, type Resource, rootOf } from "./resource.ts";

const VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];

/**
 * Returns the answer to a request for the server's version, or for the resources of an API version; `undefined` if the
 * path is another.
 */
export function discover(path: string, resources: readonly Resource[]): object | undefined {
  if (path === "/version") return { major: "1", minor: "34", gitVersion: "v1.34.0" };
  const served = resources.filter((resource) => rootOf(resource) === path);
  if (served.length === 0) return undefined;
  const groupVersion = apiVersionOf(served[0]!);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: served.flatMap(described) };
}

function described({ plural, kind, isClustered = false, hasStatus, scale }: Resource): object[] {
  const resource = { name: plural, singularName: kind.toLowerCase(), namespaced: !isClustered, kind, verbs: VERBS };
  const subresource = { ...resource, singularName: "", verbs: ["get", "patch", "update"] };
  return [
    resource,
    ...hasStatus ? [{ ...subresource, name: `${plural}/status` }] : [],
    ...scale ? [{ ...subresource, name: `${plural}/scale`, kind: "Scale", group: "autoscaling", version: "v1" }] : [],
  ];
}
