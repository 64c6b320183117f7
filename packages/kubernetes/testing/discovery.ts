import { apiVersionOf, type Resource } from "./resource.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** Returns the answer to a request for what the server serves, or `undefined` if the path is another. */
export function discover(path: string, resources: readonly Resource[]): object | undefined {
  const served = resources.filter((resource) =>
    path === `${resource.group ? "/apis" : "/api"}/${apiVersionOf(resource)}`
  );
  if (served.length > 0) {
    const groupVersion = apiVersionOf(served[0]!);
    return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: served.flatMap(described) };
  }
  const groups = [...new Set(resources.map(({ group }) => group).filter(Boolean))].map((name) => {
    const versions = [...new Set(resources.filter(({ group }) => group === name).map(({ version }) => version))]
      .sort((a, b) => priority(a) < priority(b) ? 1 : -1)
      .map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0] };
  });
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups };
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"] };
  if (path === "/version") return { major: "1", minor: "34", gitVersion: "v1.34.0" };
  const group = groups.find(({ name }) => path === `/apis/${name}`);
  return group && { kind: "APIGroup", apiVersion: "v1", ...group };
}

/** Returns a text by which versions are sorted: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`. */
function priority(version: string): string {
  const [, major = "", stage = "ga", minor = ""] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return [stage, major.padStart(3), minor.padStart(3)].join();
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
