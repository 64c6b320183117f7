/** Type of the resources of an API server. */

import type { Stored } from "./objects.ts";

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
