/** Types of the objects of Kubernetes. */

/** Reference to the owner of an object. When the owner is deleted, the cluster deletes the object. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Whether the owner is the controller that manages the object. An object has at most one. */
  readonly controller?: boolean | undefined;
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** Metadata of an object. */
export interface ObjectMeta {
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly deletionTimestamp?: string | undefined;
  /** Seconds that a deleted object, such as a pod, has left to end on its own. */
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  readonly managedFields?: unknown;
}

/** Any object of Kubernetes. */
export interface KubeObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
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

/** Object to create or to apply: the fields that are set, and metadata. */
export type Wanted<T extends KubeObject> =
  & DeepReadonly<Partial<Omit<T, "metadata">>>
  & {
    readonly metadata: ObjectMeta;
  };

/** Changes to an object, as a merge patch: `null` removes a field, and a list is replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[] ? DeepReadonly<T>
  : T extends object ? { readonly [K in keyof T]?: MergePatch<T[K]> | null }
  : T;
