/** Resources that the cluster serves: built-in ones, and those of definitions. */

import { DEFINITION_PLACES, DEFINITIONS, resourcesOf } from "./definitions.ts";
import { apiVersionOf, type Resource } from "./resource.ts";
import type { Store } from "./store.ts";

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
