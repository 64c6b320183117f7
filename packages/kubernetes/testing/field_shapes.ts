/** Manners in which a server merges the fields of kinds. */

import { type Fields, isFields, valueAt } from "./objects.ts";

/** Manner of merging a field: as a whole, as a set, or by keys of its items. Other maps are merged, and lists not. */
export type Shape = "atomic" | "set" | readonly string[] | undefined;

/** Returns the shape of the field at a path of names. */
export type ShapeOf = (names: readonly string[]) => Shape;

const OF_METADATA: Readonly<Record<string, Shape>> = {
  "metadata.ownerReferences": ["uid"],
  "metadata.finalizers": "set",
};

/** Shapes of fields of built-in kinds, by their names. */
const BY_NAME: Readonly<Record<string, Shape>> = {
  conditions: ["type"],
  containers: ["name"],
  initContainers: ["name"],
  env: ["name"],
  volumes: ["name"],
  volumeMounts: ["mountPath"],
  selector: "atomic",
};

/** Returns the shape of a field of a built-in kind. */
export function builtInShape(names: readonly string[]): Shape {
  return OF_METADATA[names.join(".")] ?? BY_NAME[names.at(-1) ?? ""];
}

/** Returns the shapes that a schema of a definition says. */
export function shapesIn(schema: Fields | undefined): ShapeOf {
  return (names) => {
    let found = schema;
    for (const name of names) {
      while (isFields(found?.["items"])) found = found["items"];
      found = valueAt(found, `properties.${name}`) as Fields | undefined;
    }
    const type = found?.["x-kubernetes-map-type"] ?? found?.["x-kubernetes-list-type"];
    const keys = type === "map" ? found?.["x-kubernetes-list-map-keys"] : type;
    return OF_METADATA[names.join(".")] ?? keys as Shape;
  };
}
