/** Custom resource definitions. */

import { type Stored, valueAt } from "./objects.ts";
import type { Resource, ScalePaths } from "./resource.ts";

/** Kind that tests add to the cluster without writing a whole definition. */
export interface CustomKind {
  /** Group and version, such as `example.com/v1`. */
  readonly apiVersion: string;
  /** Kind, such as `Greeter`. */
  readonly kind: string;
  /** Name in paths. @default {"the kind in lower case with an s"} */
  readonly plural?: string;
  /** Scope of the objects. @default {"Namespaced"} */
  readonly scope?: "Namespaced" | "Cluster";
  /** Subresources, as in a definition. @default {{ status: {} }} */
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
}

/** Group and version of definitions. */
export const DEFINITIONS = "apiextensions.k8s.io/v1";
/** Name of the resource of definitions in the store. */
export const DEFINITION_PLACES = "customresourcedefinitions.apiextensions.k8s.io";
/** Finalizer of a deleted definition while there are objects of its kind. */
export const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

/** Returns the definition of a custom kind. */
export function definitionOf({ apiVersion, kind, ...rest }: CustomKind): Stored {
  const [group, name] = apiVersion.split("/");
  const { plural = `${kind.toLowerCase()}s`, scope = "Namespaced", subresources = { status: {} } } = rest;
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  return {
    apiVersion: DEFINITIONS,
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, names, scope, versions: [{ name, served: true, storage: true, subresources }] },
  };
}

interface Definition {
  readonly group: string;
  readonly names: { readonly kind: string; readonly plural: string };
  readonly scope: string;
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly subresources?: CustomKind["subresources"];
    readonly selectableFields?: readonly { readonly jsonPath: string }[];
  }[];
}

/** Reports whether a definition is established: the server serves its resource. */
export function isEstablished(definition: Stored): boolean {
  const conditions = valueAt(definition, "status.conditions") as { type: string; status: string }[] | undefined;
  return conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
}

/** Returns the resources of a definition, one for each version that is served. */
export function resourcesOf(definition: Stored): Resource[] {
  if (!isEstablished(definition)) return [];
  const { group, names: { kind, plural }, scope, versions } = definition["spec"] as Definition;
  return versions.filter(({ served }) => served).map((version) => ({
    ...{ group, version: version.name, kind, plural, isClustered: scope === "Cluster", isCustom: true },
    hasStatus: version.subresources?.status !== undefined,
    scale: version.subresources?.scale,
    hasGeneration: true,
    putNeedsVersion: true,
    selectable: version.selectableFields?.map(({ jsonPath }) => jsonPath.slice(1)) ?? [],
  }));
}
