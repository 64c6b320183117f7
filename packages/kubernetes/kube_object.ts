/** Types of the objects of Kubernetes. */

/** Reference to the owner of an object. When the owner is deleted, the cluster deletes the object. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Whether the owner is the controller that manages the object. An object has at most one. */
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Metadata of an object. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: unknown;
}

/** Any object of Kubernetes. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** Returns the key of an object: `namespace/name`, or `name` for objects without a namespace. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace ? `${namespace}/${name}` : name!;
}
