import { argumentError } from "@workqueue/core/internal";
import { type DeepReadonly, keyOf, type KubeObject, type OwnerReference } from "../kube_object.ts";

const ACTION = "apply object";

/** Returns a value with a reference to its owner. */
export function withOwner(wanted: KubeObject, owner: DeepReadonly<KubeObject>): KubeObject {
  const { apiVersion, kind, metadata: { name, namespace, uid } } = owner;
  if (namespace !== undefined && namespace !== wanted.metadata.namespace) {
    const { name, namespace: own } = wanted.metadata;
    const reason = own ? `its owner is in another namespace, "${namespace}"` : `set metadata.namespace of "${name}"`;
    throw argumentError(ACTION, reason, TypeError);
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
 * Checks that an object has no controlling owner, or the same one as a value that is applied to it. Two owners would
 * take the object from each other forever.
 *
 * @throws {Error} If another owner controls the object.
 */
export function requireNoOtherOwner(object: KubeObject, wanted: KubeObject): void {
  const [other, owner] = [controllerOf(object), controllerOf(wanted)];
  if (other === undefined || owner === undefined || isSameOwner(other, owner)) return;
  throw argumentError(ACTION, `${other.kind} "${other.name}" controls "${keyOf(object)}" already`, Error);
}

function controllerOf({ metadata: { ownerReferences = [] } }: KubeObject): OwnerReference | undefined {
  return ownerReferences.find(({ controller }) => controller);
}

/** Reports whether two references name the same owner, which may have been created again. */
function isSameOwner(one: OwnerReference, other: OwnerReference): boolean {
  return one.name === other.name && one.kind === other.kind && groupOf(one.apiVersion) === groupOf(other.apiVersion);
}

/**
 * Returns the references of an object without the one to an owner that was deleted and created again; `undefined` if
 * there is none. The server would keep both references, and refuses two controllers.
 */
export function withoutOldOwner(object: KubeObject, wanted: KubeObject): readonly OwnerReference[] | undefined {
  const references = object.metadata.ownerReferences ?? [];
  const owner = controllerOf(wanted);
  const isOld = (reference: OwnerReference) =>
    reference.controller && owner !== undefined && reference.uid !== owner.uid && isSameOwner(reference, owner);
  const kept = references.filter((reference) => !isOld(reference));
  return kept.length === references.length ? undefined : kept;
}

/** Returns the group of an API version: `""` for `v1`. */
export function groupOf(apiVersion = ""): string {
  return apiVersion.includes("/") ? apiVersion.split("/")[0]! : "";
}
