import type { Duration } from "@workqueue/core";
import type { DeepReadonly, KubeObject } from "../kube_object.ts";

/** Options of a cache. */
export interface CacheOptions<T extends KubeObject> {
  /** Namespaces whose objects are cached. Each has a list and a watch of its own. @default {all} */
  namespaces?: readonly string[] | undefined;
  /** Labels of the objects that are cached, such as `"app=shop,tier!=test"`. @default {all} */
  labelSelector?: string | undefined;
  /** Fields of the objects that are cached, such as `"spec.nodeName=node-1"`. @default {all} */
  fieldSelector?: string | undefined;
  /** Functions that return the values under which {@linkcode Cache.byIndex} finds an object, by the indexes' names. */
  indexes?: Readonly<Record<string, (object: DeepReadonly<T>) => readonly string[]>> | undefined;
  /**
   * Returns an object as it is to be cached, such as without fields that nobody reads. It may drop labels and
   * annotations, and must keep all other metadata. The field `metadata.managedFields` is always dropped.
   */
  transform?: ((object: T) => T) | undefined;
  /** Mean time after which every object gets an attempt although nothing changed. @default {"10h"} */
  resync?: Duration | undefined;
}

/** Options of {@linkcode Cache.patch}. */
export interface PatchOptions {
  /** Part of the object that is changed. By default, everything but the status, if the kind has that part. */
  subresource?: "status" | "scale" | undefined;
}

/** Options of {@linkcode Cache.apply}. */
export interface ApplyOptions {
  /**
   * Object that owns the applied object, as its controller: when the owner is deleted, the cluster deletes the applied
   * object.
   */
  owner?: DeepReadonly<KubeObject> | undefined;
  /** Whether to take fields over from other managers instead of failing. @default {true} */
  force?: boolean | undefined;
}

/** Options of {@linkcode Cache.delete}. */
export interface DeleteOptions {
  /** Whether the cluster deletes owned objects after the object, before it, or never. By default, the kind decides. */
  propagationPolicy?: "Background" | "Foreground" | "Orphan" | undefined;
  /** Properties that the object must have, or the server answers with a conflict. */
  preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}
