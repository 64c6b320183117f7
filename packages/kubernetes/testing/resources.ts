/** Resources that the cluster serves: built-in ones, and those of custom resource definitions. */

import type { Shape, ShapeOf } from "./field_sets.ts";
import { type Fields, isFields, type Stored, valueAt } from "./objects.ts";
import type { Store } from "./store.ts";

/** Resource of an API server. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  /** Paths of the scale subresource in an object, if it has one. */
  readonly scale?: { readonly spec: string; readonly status: string; readonly selector?: string };
  /** Fields of field selectors besides the name and the namespace. */
  readonly selectable: readonly string[];
  readonly isCustom: boolean;
  /** Whether objects have a generation. It is always so for custom resources. */
  readonly hasGeneration: boolean;
  readonly shapeOf: ShapeOf;
  /** Whether a PUT creates an object that does not exist. */
  readonly createsOnPut: boolean;
  /** Whether a PUT must name the version that it replaces. */
  readonly putNeedsVersion: boolean;
}

/** Name of a resource. */
export type Named = Pick<Resource, "plural" | "group">;

/** Kind that tests add to the cluster without writing a whole definition. */
export interface CustomKind {
  /** Group and version, such as `example.com/v1`. */
  readonly apiVersion: string;
  /** Kind, such as `Greeter`. */
  readonly kind: string;
  /** Name in paths. Default: the kind in lower case and an `s`. */
  readonly plural?: string;
  /** Default: `"Namespaced"`. */
  readonly scope?: "Namespaced" | "Cluster";
  /** Subresources as in a definition. Default: `{ status: {} }`. */
  readonly subresources?: { readonly status?: object; readonly scale?: object };
}

/** Beginning of the places of definitions in the store. The qualified name of the resource follows. */
export const DEFINITION_PLACES = "customresourcedefinitions.apiextensions.k8s.io//";
/** Finalizer of a deleted definition while there are objects of its kind. */
export const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";
/** Group and version of definitions. */
export const DEFINITIONS = "apiextensions.k8s.io/v1";

type Traits = Partial<Omit<Resource, "group" | "version" | "kind">>;
const CLUSTER: Traits = { namespaced: false };
const WORKLOAD: Traits = { hasStatus: true, hasGeneration: true };
const SCALED: Traits = { ...WORKLOAD, scale: { spec: "spec.replicas", status: "status.replicas" } };
const ROLE: Traits = { createsOnPut: true };

const BUILT_IN: readonly Resource[] = ([
  ["v1", "Namespace", { ...CLUSTER, hasStatus: true, selectable: ["status.phase"] }],
  ["v1", "ConfigMap"],
  ["v1", "Secret", { selectable: ["type"] }],
  ["v1", "Pod", {
    ...WORKLOAD,
    selectable: ["spec.nodeName", "spec.serviceAccountName", "status.phase", "status.podIP"],
  }],
  ["v1", "Service", { hasStatus: true, createsOnPut: true, selectable: ["spec.clusterIP", "spec.type"] }],
  ["v1", "ServiceAccount"],
  ["v1", "Event", {
    createsOnPut: true,
    selectable: ["involvedObject.kind", "involvedObject.name", "involvedObject.uid", "reason", "type"],
  }],
  ["v1", "Node", { ...CLUSTER, hasStatus: true, selectable: ["spec.unschedulable"] }],
  ["v1", "PersistentVolume", { ...CLUSTER, hasStatus: true }],
  ["v1", "PersistentVolumeClaim", { hasStatus: true }],
  ["apps/v1", "Deployment", SCALED],
  ["apps/v1", "StatefulSet", SCALED],
  ["apps/v1", "DaemonSet", WORKLOAD],
  ["apps/v1", "ReplicaSet", SCALED],
  ["batch/v1", "Job", { ...WORKLOAD, selectable: ["status.successful"] }],
  ["batch/v1", "CronJob", WORKLOAD],
  ["coordination.k8s.io/v1", "Lease", { createsOnPut: true, putNeedsVersion: true }],
  ["networking.k8s.io/v1", "Ingress", { ...WORKLOAD, plural: "ingresses" }],
  ["networking.k8s.io/v1", "NetworkPolicy", { hasGeneration: true, plural: "networkpolicies" }],
  ["rbac.authorization.k8s.io/v1", "Role", ROLE],
  ["rbac.authorization.k8s.io/v1", "RoleBinding", ROLE],
  ["rbac.authorization.k8s.io/v1", "ClusterRole", { ...ROLE, ...CLUSTER }],
  ["rbac.authorization.k8s.io/v1", "ClusterRoleBinding", { ...ROLE, ...CLUSTER }],
  [DEFINITIONS, "CustomResourceDefinition", { ...WORKLOAD, ...CLUSTER }],
] as [apiVersion: string, kind: string, traits?: Traits][]).map(([apiVersion, kind, traits]) => ({
  ...groupVersion(apiVersion),
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
  hasStatus: false,
  selectable: [],
  isCustom: false,
  hasGeneration: false,
  shapeOf: (names) => METADATA_SHAPES[names.join(".")] ?? SHAPES[names.at(-1) ?? ""],
  createsOnPut: false,
  putNeedsVersion: false,
  ...traits,
}));

function groupVersion(apiVersion: string): { group: string; version: string } {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  return { group, version };
}

/** Returns the group and version of a resource, as in `apiVersion`. */
export function apiVersionOf({ group, version }: Pick<Resource, "group" | "version">): string {
  return group ? `${group}/${version}` : version;
}

/** Returns the name of a resource with its group, such as `deployments.apps`. */
export function qualified({ plural, group }: Named): string {
  return group ? `${plural}.${group}` : plural;
}

/** Returns the definition of a custom kind. */
export function definitionOf({ apiVersion, kind, ...rest }: CustomKind): Stored {
  const { group, version } = groupVersion(apiVersion);
  const { plural = `${kind.toLowerCase()}s`, scope = "Namespaced", subresources = { status: {} } } = rest;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  return {
    apiVersion: DEFINITIONS,
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, names, scope, versions: [{ name: version, served: true, storage: true, schema, subresources }] },
  };
}

interface Definition {
  readonly group: string;
  readonly names: { readonly kind: string; readonly plural: string };
  readonly scope: string;
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly subresources?: {
      readonly status?: object;
      readonly scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
    };
    readonly schema?: { readonly openAPIV3Schema: Fields };
    readonly selectableFields?: readonly { readonly jsonPath: string }[];
  }[];
}

const METADATA_SHAPES: Readonly<Record<string, Shape>> = {
  "metadata.ownerReferences": ["uid"],
  "metadata.finalizers": "set",
};

/** Shapes of fields of built-in kinds by their names. */
const SHAPES: Readonly<Record<string, Shape>> = {
  conditions: ["type"],
  containers: ["name"],
  initContainers: ["name"],
  env: ["name"],
  volumes: ["name"],
  volumeMounts: ["mountPath"],
  selector: "atomic",
};

/** Returns the shape of a field that the schema of a definition says. */
function shapeIn(schema: Fields | undefined, names: readonly string[]): Shape {
  let found = schema;
  for (const name of names) {
    while (isFields(found?.["items"])) found = found["items"];
    found = valueAt(found, `properties.${name}`) as Fields | undefined;
  }
  if (found?.["x-kubernetes-map-type"] === "atomic") return "atomic";
  const type = found?.["x-kubernetes-list-type"];
  return type === "map" ? found?.["x-kubernetes-list-map-keys"] as string[] : type === "set" ? type : undefined;
}

/** Reports whether an object has a condition whose status is `"True"`. */
export function isTrue(object: Stored, type: string): boolean {
  const conditions = valueAt(object, "status.conditions") as { type: string; status: string }[] | undefined;
  return conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

function resourcesOf(definition: Stored): Resource[] {
  if (!isTrue(definition, "Established")) return [];
  const { group, names, scope, versions } = definition["spec"] as Definition;
  return versions.filter(({ served }) => served).map((
    { name, schema, subresources: { status, scale } = {}, selectableFields = [] },
  ) => ({
    group,
    version: name,
    kind: names.kind,
    plural: names.plural,
    namespaced: scope === "Namespaced",
    hasStatus: status !== undefined,
    ...(scale && {
      scale: {
        spec: scale.specReplicasPath,
        status: scale.statusReplicasPath,
        ...(scale.labelSelectorPath && { selector: scale.labelSelectorPath }),
      },
    }),
    selectable: selectableFields.map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
    isCustom: true,
    hasGeneration: true,
    shapeOf: (names) => METADATA_SHAPES[names.join(".")] ?? shapeIn(schema?.openAPIV3Schema, names),
    createsOnPut: false,
    putNeedsVersion: true,
  }));
}

/** Returns all resources that the cluster serves now. */
export function resourcesIn(store: Store): Resource[] {
  const definitions = store.list("customresourcedefinitions.apiextensions.k8s.io");
  return [...BUILT_IN, ...definitions.flatMap(([, definition]) => resourcesOf(definition))];
}

/** Returns the answer to a request for discovery, or `undefined` if the path is another. */
export function discover(path: string, store: Store): object | undefined {
  const resources = resourcesIn(store);
  const groups = [...new Set(resources.map(({ group }) => group).filter(Boolean))];
  const ofGroup = (name: string) => {
    const versions = [...new Set(resources.filter(({ group }) => group === name).map(apiVersionOf))]
      .map((groupVersion) => ({ groupVersion, version: groupVersion.slice(name.length + 1) }));
    return { name, versions, preferredVersion: versions[0] };
  };
  if (path === "/version") return { major: "1", minor: "34", gitVersion: "v1.34.0" };
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"] };
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(ofGroup) };
  const [, root, group, version] = path.split("/");
  if (root === "apis" && version === undefined) {
    return groups.includes(group!) ? { kind: "APIGroup", apiVersion: "v1", ...ofGroup(group!) } : undefined;
  }
  const [, apiVersion] = /^\/apis?\/(v1|[^/]+\/[^/]+)$/.exec(path) ?? [];
  const served = resources.filter((resource) => apiVersionOf(resource) === apiVersion);
  if (served.length === 0) return undefined;
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersion, resources: served.flatMap(described) };
}

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function described({ plural, kind, namespaced, hasStatus, scale }: Resource): object[] {
  const verbs = ["get", "patch", "update"];
  return [
    { name: plural, singularName: kind.toLowerCase(), namespaced, kind, verbs: VERBS },
    ...hasStatus ? [{ name: `${plural}/status`, singularName: "", namespaced, kind, verbs }] : [],
    ...scale
      ? [{
        name: `${plural}/scale`,
        singularName: "",
        namespaced,
        group: "autoscaling",
        version: "v1",
        kind: "Scale",
        verbs,
      }]
      : [],
  ];
}

/** Returns where the store keeps an object. All versions of a resource share places. */
export function placeOf(resource: Resource, namespace: string | undefined, name: string): string {
  return `${qualified(resource)}/${namespace ?? ""}/${name}`;
}

/** Returns the resource of a kind, if the cluster serves it. */
export function resourceOfKind(store: Store, apiVersion: string, kind: string): Resource | undefined {
  return resourcesIn(store).find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
}
