/** Types of the objects of Kubernetes. */

/** Reference to the owner of an object. When the owner is deleted, the cluster deletes the object. */
export interface OwnerReference {
  /** API version of the owner, such as `apps/v1`. */
  readonly apiVersion: string;
  /** Kind of the owner. */
  readonly kind: string;
  /** Name of the owner, which is in the same namespace or in none. */
  readonly name: string;
  /** Identifier of the owner. An owner that is created again under the same name has another one. */
  readonly uid: string;
  /** Whether the owner is the controller that manages the object. An object has at most one. */
  readonly controller?: boolean | undefined;
  /** Whether a foreground deletion of the owner waits for the object's deletion. */
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** Metadata of an object. */
export interface ObjectMeta {
  /** Name, unique for the kind and the namespace. */
  readonly name?: string | undefined;
  /** Beginning of the name that the server generates if there is no `name`. */
  readonly generateName?: string | undefined;
  /** Namespace; absent for kinds without namespaces. */
  readonly namespace?: string | undefined;
  /** Identifier that no other object ever has. */
  readonly uid?: string | undefined;
  /** Version of the object. It grows with each change. */
  readonly resourceVersion?: string | undefined;
  /** Number of changes of the desired state: the status and most metadata don't count. */
  readonly generation?: number | undefined;
  /** Time of creation. */
  readonly creationTimestamp?: string | undefined;
  /** Time at which the deletion was requested. The object stays until its finalizers are removed. */
  readonly deletionTimestamp?: string | undefined;
  /** Seconds that a deleted object, such as a pod, has left to end on its own. */
  readonly deletionGracePeriodSeconds?: number | undefined;
  /** Labels, by which selectors select objects. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Annotations: texts that no selector reads. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Names of the controllers that must clean up before the object is deleted. */
  readonly finalizers?: readonly string[] | undefined;
  /** Owners of the object. */
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  /** Fields that each manager has set. Caches drop them. */
  readonly managedFields?: unknown;
}

/** Any object of Kubernetes. */
export interface KubeObject {
  /** API version, such as `apps/v1`. */
  readonly apiVersion?: string | undefined;
  /** Kind, such as `Deployment`. */
  readonly kind?: string | undefined;
  /** Name, version and other metadata. */
  readonly metadata: ObjectMeta;
}

/** Returns the key of an object: `namespace/name`, or `name` for objects without a namespace. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace ? `${namespace}/${name}` : name!;
}

/** The type with all properties and lists read-only: objects of a cache are shared, so nobody may change them. */
export type DeepReadonly<T> = T extends readonly (infer E)[] ? readonly DeepReadonly<E>[]
  : T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
  : T;

/** Object to create or to apply: the fields that are set, and metadata. Undefined fields are left out. */
export type Wanted<T extends KubeObject> =
  & { readonly [K in Exclude<keyof T, "metadata">]?: PartOf<T[K]> | undefined }
  & { readonly metadata: ObjectMeta };

/** Part of a value: any of its fields, at any depth. */
export type PartOf<T> = T extends readonly (infer E)[] ? readonly PartOf<E>[]
  : T extends object ? { readonly [K in keyof T]?: PartOf<T[K]> | undefined }
  : T;

/** Changes to an object, as a merge patch: `null` removes a field, and a list is replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[] ? DeepReadonly<T>
  : T extends object ? { readonly [K in keyof T]?: MergePatch<T[K]> | null | undefined }
  : T;
