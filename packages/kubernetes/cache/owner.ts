import { argumentError } from "@workqueue/core/internal";
import type { DeepReadonly, KubeObject, OwnerReference } from "../kube_object.ts";

const ACTION = "apply object";

/** Returns a value with a reference to its owner. */
export function withOwner(wanted: KubeObject, owner: DeepReadonly<KubeObject>): KubeObject {
  const { apiVersion, kind, metadata: { name, namespace, uid } } = owner;
  if (namespace !== undefined && namespace !== wanted.metadata.namespace) {
    throw argumentError(ACTION, `its owner is in another namespace, "${namespace}"`, TypeError);
  }
  if (!apiVersion || !kind || !name || !uid) {
    const rule = "must have apiVersion, kind, and the name and uid of an existing object";
    throw argumentError(ACTION, `its owner ${rule}`, TypeError);
  }
  const reference = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  const ownerReferences = [...wanted.metadata.ownerReferences ?? [], reference];
  return { ...wanted, metadata: { ...wanted.metadata, ownerReferences } };
}

/**
 * Returns the references of an object without the one to an owner that was deleted and created again; `undefined` if
 * there is none. The server would keep both references, and refuses two controllers.
 */
export function withoutOldOwner(object: KubeObject, wanted: KubeObject): readonly OwnerReference[] | undefined {
  const references = object.metadata.ownerReferences ?? [];
  const owner = wanted.metadata.ownerReferences?.find(({ controller }) => controller);
  const isOld = ({ apiVersion, kind, name, uid, controller }: OwnerReference) =>
    controller && owner !== undefined && uid !== owner.uid && name === owner.name && kind === owner.kind &&
    groupOf(apiVersion) === groupOf(owner.apiVersion);
  const kept = references.filter((reference) => !isOld(reference));
  return kept.length === references.length ? undefined : kept;
}

/** Returns the group of an API version: `""` for `v1`. */
export function groupOf(apiVersion = ""): string {
  return apiVersion.includes("/") ? apiVersion.split("/")[0]! : "";
}
