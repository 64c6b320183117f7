import { argumentError } from "@workqueue/core/internal";
import { createHash } from "node:crypto";
import { type DeepReadonly, keyOf, type KubeObject, type OwnerReference } from "../kube_object.ts";

const ACTION = "apply object";

/** Last applied value of each object, and the answer to it. */
export class AppliedValues {
  readonly #applied = new Map<string, { readonly hash: string; readonly answer: string }>();

  /** Reports whether applying a value to an object would change nothing: it is as the last answer said. */
  isApplied(body: KubeObject, object: KubeObject | undefined): boolean {
    const last = this.#applied.get(keyOf(body));
    return last !== undefined && object !== undefined && last.answer === stateOf(object) && last.hash === hashOf(body);
  }

  add(body: KubeObject, answer: KubeObject): void {
    this.#applied.set(keyOf(body), { hash: hashOf(body), answer: stateOf(answer) });
  }

  delete(key: string): void {
    this.#applied.delete(key);
  }
}

function stateOf({ metadata: { uid, resourceVersion } }: KubeObject): string {
  return `${uid} ${resourceVersion}`;
}

function hashOf(body: KubeObject): string {
  return createHash("sha256").update(JSON.stringify(body)).digest("base64");
}

/** Returns the value to apply, with its kind and a reference to its owner. */
export function applyBody(
  apiVersion: string,
  kind: string,
  wanted: DeepReadonly<KubeObject>,
  owner: DeepReadonly<KubeObject> | undefined,
): KubeObject {
  if (owner === undefined) return { ...wanted, apiVersion, kind };
  const { name, namespace, uid } = owner.metadata;
  if (namespace !== undefined && namespace !== wanted.metadata.namespace) {
    throw argumentError(ACTION, `its owner is in another namespace, "${namespace}"`, TypeError);
  }
  if (!owner.apiVersion || !owner.kind || !name || !uid) {
    throw argumentError(
      ACTION,
      "its owner must have apiVersion, kind, and the name and uid of an existing object",
      TypeError,
    );
  }
  const reference: OwnerReference = {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const ownerReferences = [...wanted.metadata.ownerReferences ?? [], reference];
  return { ...wanted, apiVersion, kind, metadata: { ...wanted.metadata, ownerReferences } };
}

/**
 * Returns the references of an object without the one to an owner that was deleted and created again; `undefined` if
 * there is none. The server would keep both references, and refuse two controllers.
 */
export function withoutOldOwner(
  object: KubeObject | undefined,
  body: KubeObject,
): readonly OwnerReference[] | undefined {
  const references = object?.metadata.ownerReferences ?? [];
  const owner = body.metadata.ownerReferences?.find(({ controller }) => controller);
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
