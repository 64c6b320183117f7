/** Resources that the cluster serves, and their discovery: built-in ones, and those of custom resource definitions. */

import { type Stored, valueAt } from "./objects.ts";
import type { Store } from "./store.ts";

/** Paths of a scale subresource in an object, such as `.spec.replicas`. */
export interface ScalePaths {
  /** Path of the wanted number of replicas. */
  readonly specReplicasPath: string;
  /** Path of the present number of replicas. */
  readonly statusReplicasPath: string;
  /** Path of the label selector of the replicas. */
  readonly labelSelectorPath?: string;
}

/** Resource of an API server, in one version. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Name in paths. */
  readonly plural: string;
  /** Whether objects have no namespaces. */
  readonly isClustered?: boolean;
  /** Whether the resource comes from a definition. */
  readonly isCustom?: boolean;
  /** Whether the status is a subresource. */
  readonly hasStatus?: boolean;
  readonly scale?: ScalePaths | undefined;
  /** Whether objects have a generation. */
  readonly hasGeneration?: boolean;
  /** Whether a PUT must name the version that it replaces. */
  readonly putNeedsVersion?: boolean;
  /** Paths for field selectors besides the name and the namespace. */
  readonly selectable: readonly string[];
}

/** Name of a resource. */
export type Named = Pick<Resource, "plural" | "group">;

/** Returns the group and version of a resource, as in `apiVersion`. */
export function apiVersionOf({ group, version }: Pick<Resource, "group" | "version">): string {
  return group ? `${group}/${version}` : version;
}

/** Returns the name of a resource with its group, such as `deployments.apps`. */
export function qualified({ plural, group }: Named): string {
  return group ? `${plural}.${group}` : plural;
}

/** Returns where the store keeps an object. All versions of a resource share places. */
export function placeOf(
  { resource, namespace = "", name }: { resource: Named; namespace?: string | undefined; name: string },
): string {
  return `${qualified(resource)}/${namespace}/${name}`;
}

/** Returns the path of the group and version of a resource. */
export function rootOf(resource: Resource): string {
  return `${resource.group ? "/apis" : "/api"}/${apiVersionOf(resource)}`;
}

/** Returns the fields of an object that name its kind. */
export function identityOf(resource: Resource): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind };
}

/** Returns an object in the version of the API that a request names. */
export function inVersion(object: Stored, resource: Resource): Stored {
  const apiVersion = apiVersionOf(resource);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** Kind that tests add to the cluster without writing a whole definition. */
export interface CustomKind {
  /** Group and version, such as `example.com/v1`. */
  readonly apiVersion: string;
  /** Kind, such as `Greeter`. */
  readonly kind: string;
  /** Name in paths. @default {"the kind in lower case with an s"} */
  readonly plural?: string;
  /** Scope of the objects. @default {"Namespaced"} */
  readonly scope?: "Namespaced" | "Cluster";
  /** Subresources, as in a definition. @default {{ status: {} }} */
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
}

/** Group and version of definitions. */
export const DEFINITIONS = "apiextensions.k8s.io/v1";
/** Name of the resource of definitions in the store. */
export const DEFINITION_PLACES = "customresourcedefinitions.apiextensions.k8s.io";
/** Finalizer of a deleted definition while there are objects of its kind. */
export const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

/** Returns the definition of a custom kind. */
export function definitionOf({ apiVersion, kind, ...rest }: CustomKind): Stored {
  const [group, name] = apiVersion.split("/");
  const { plural = `${kind.toLowerCase()}s`, scope = "Namespaced", subresources = { status: {} } } = rest;
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  return {
    apiVersion: DEFINITIONS,
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, names, scope, versions: [{ name, served: true, storage: true, subresources }] },
  };
}

interface Definition {
  readonly group: string;
  readonly names: { readonly kind: string; readonly plural: string };
  readonly scope: string;
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly subresources?: CustomKind["subresources"];
    readonly selectableFields?: readonly { readonly jsonPath: string }[];
  }[];
}

/** Reports whether a definition is established: the server serves its resource. */
export function isEstablished(definition: Stored): boolean {
  const conditions = valueAt(definition, "status.conditions") as { type: string; status: string }[] | undefined;
  return conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
}

/** Returns the resources of a definition, one for each version that is served. */
export function resourcesOf(definition: Stored): Resource[] {
  if (!isEstablished(definition)) return [];
  const { group, names: { kind, plural }, scope, versions } = definition["spec"] as Definition;
  return versions.filter(({ served }) => served).map((version) => ({
    ...{ group, version: version.name, kind, plural, isClustered: scope === "Cluster", isCustom: true },
    hasStatus: version.subresources?.status !== undefined,
    scale: version.subresources?.scale,
    hasGeneration: true,
    putNeedsVersion: true,
    selectable: version.selectableFields?.map(({ jsonPath }) => jsonPath.slice(1)) ?? [],
  }));
}

type Traits = Omit<Partial<Resource>, "group" | "version" | "kind">;

const CLUSTERED: Traits = { isClustered: true };
const WORKLOAD: Traits = { hasStatus: true, hasGeneration: true };
const SCALED: Traits = {
  ...WORKLOAD,
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
};
const EVENT_FIELDS = ["involvedObject.kind", "involvedObject.name", "involvedObject.uid", "reason", "type"];

const KINDS: readonly [apiVersion: string, kind: string, traits?: Traits][] = [
  ["v1", "Namespace", { ...CLUSTERED, hasStatus: true, selectable: ["status.phase"] }],
  ["v1", "ConfigMap"],
  ["v1", "Secret", { selectable: ["type"] }],
  ["v1", "Pod", { ...WORKLOAD, selectable: ["spec.nodeName", "status.phase", "status.podIP"] }],
  ["v1", "Service", { hasStatus: true, selectable: ["spec.clusterIP", "spec.type"] }],
  ["v1", "ServiceAccount"],
  ["v1", "Event", { selectable: EVENT_FIELDS }],
  ["v1", "Node", { ...CLUSTERED, hasStatus: true, selectable: ["spec.unschedulable"] }],
  ["v1", "PersistentVolume", { ...CLUSTERED, hasStatus: true }],
  ["v1", "PersistentVolumeClaim", { hasStatus: true }],
  ["apps/v1", "Deployment", SCALED],
  ["apps/v1", "StatefulSet", SCALED],
  ["apps/v1", "DaemonSet", WORKLOAD],
  ["apps/v1", "ReplicaSet", SCALED],
  ["batch/v1", "Job", { ...WORKLOAD, selectable: ["status.successful"] }],
  ["batch/v1", "CronJob", WORKLOAD],
  ["coordination.k8s.io/v1", "Lease", { putNeedsVersion: true }],
  ["networking.k8s.io/v1", "Ingress", { ...WORKLOAD, plural: "ingresses" }],
  ["networking.k8s.io/v1", "NetworkPolicy", { hasGeneration: true, plural: "networkpolicies" }],
  ["rbac.authorization.k8s.io/v1", "Role"],
  ["rbac.authorization.k8s.io/v1", "RoleBinding"],
  ["rbac.authorization.k8s.io/v1", "ClusterRole", CLUSTERED],
  ["rbac.authorization.k8s.io/v1", "ClusterRoleBinding", CLUSTERED],
  [DEFINITIONS, "CustomResourceDefinition", { ...CLUSTERED, ...WORKLOAD }],
];

const BUILT_IN: readonly Resource[] = KINDS.map(([apiVersion, kind, traits]) => {
  const [version, group] = apiVersion.split("/").reverse() as [version: string, group?: string];
  const plural = `${kind.toLowerCase()}s`;
  return { group: group ?? "", version, kind, plural, selectable: [], ...traits };
});

/** Returns all resources that the cluster serves now. */
export function resourcesIn(store: Store): Resource[] {
  return [...BUILT_IN, ...store.list(DEFINITION_PLACES).flatMap(([, definition]) => resourcesOf(definition))];
}

/** Returns the resource of a kind, if the cluster serves it. */
export function resourceOfKind(store: Store, apiVersion: string, kind: string): Resource | undefined {
  return resourcesIn(store).find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
}

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
