/** Parts of objects that requests for the object or its subresources read and write. */

import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import type { ObjectMeta } from "../kube_object.ts";
import type { Target } from "./checks.ts";
import { type Fields, type Stored, valueAt, withValueAt } from "./objects.ts";
import { identityOf, type Resource, type ScalePaths } from "./resources.ts";

const FIELDS: readonly string[] = [
  ...["name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"],
  ...["deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers"],
  "managedFields",
];
/** Returns metadata with the fields that a server keeps: unknown and empty ones are dropped. */
export function cleaned(metadata: { readonly [F in keyof ObjectMeta]: unknown }): ObjectMeta {
  const isKept = ([field, value]: [string, unknown]) =>
    FIELDS.includes(field) && value !== undefined && value !== null && value !== "" &&
    (typeof value !== "object" || Object.keys(value).length > 0);
  return Object.fromEntries(Object.entries(metadata).filter(isKept));
}

/** Returns an object without its status, if that is a subresource. */
export function withoutStatus({ hasStatus }: Resource, object: Fields): Fields {
  const { status: _, ...rest } = object;
  return hasStatus ? rest : object;
}

/** Returns an object as requests for it or its subresource read it. */
export function shown({ subresource, resource }: Target, object: Stored): Stored {
  return subresource === "scale" ? scaleOf(resource.scale!, object) : object;
}

/** Returns the number of replicas of an object, whatever its kind. */
function scaleOf({ specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths, object: Stored): Stored {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = labelSelectorPath && valueAt(object, labelSelectorPath);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: valueAt(object, specReplicasPath) ?? 0 },
    status: { replicas: valueAt(object, statusReplicasPath) ?? 0, ...(selector !== undefined && { selector }) },
  };
}

/** Returns an object with the changes that a request made to it or to its subresource. */
export function written({ subresource, resource }: Target, before: Stored, wanted: Stored): Stored {
  if (subresource === "scale") {
    return withValueAt(before, resource.scale!.specReplicasPath, valueAt(wanted, "spec.replicas")) as Stored;
  }
  const { status, ...rest } = before;
  const { namespace, uid, creationTimestamp, generation, resourceVersion, ...old } = before.metadata;
  if (subresource === "status") {
    return { ...rest, ...("status" in wanted && { status: wanted["status"] }) } as Stored;
  }
  const metadata = cleaned({
    ...{ namespace, uid, ...cleaned(wanted.metadata), creationTimestamp, generation, resourceVersion },
    ...(old.deletionTimestamp && {
      deletionTimestamp: old.deletionTimestamp,
      deletionGracePeriodSeconds: old.deletionGracePeriodSeconds,
    }),
  });
  const kept = resource.hasStatus && status !== undefined && { status };
  return withDefaults(resource, { ...withoutStatus(resource, wanted), ...kept, ...identityOf(resource), metadata });
}

/** Raises the generation if anything but metadata and status changed; for built-in kinds, if the spec changed. */
export function withGeneration(resource: Resource, before: Stored, next: Stored): Stored {
  const content = (object: Stored) =>
    resource.isCustom ? { ...withoutStatus(resource, object), metadata: undefined } : object["spec"];
  if (!resource.hasGeneration || isDeepStrictEqual(content(before), content(next))) return next;
  return { ...next, metadata: { ...next.metadata, generation: (before.metadata.generation ?? 0) + 1 } };
}

/** Adds the fields that a server sets and controllers rely on. Most defaults of a real server are left out. */
export function withDefaults({ kind, isCustom }: Resource, object: Stored): Stored {
  if (isCustom) return object;
  if (kind === "ConfigMap") return withoutEmpty(object, "data", "binaryData");
  if (kind === "Pod") return { status: { phase: "Pending" }, ...object };
  if (kind === "Secret") {
    const { stringData = {}, data, ...secret } = object;
    const added = Object.entries(stringData as Fields)
      .map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]);
    const all = { ...data as Fields, ...Object.fromEntries(added) };
    return withoutEmpty({ type: "Opaque", ...secret, data: all }, "data");
  }
  if (kind !== "Namespace") return object;
  const { name, labels } = object.metadata;
  const metadata = { ...object.metadata, labels: { ...labels, "kubernetes.io/metadata.name": name! } };
  return { spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" }, ...object, metadata };
}

function withoutEmpty(object: Fields, ...fields: string[]): Stored {
  const isKept = ([field, value]: [string, unknown]) => !fields.includes(field) || Object.keys(value ?? {}).length > 0;
  return Object.fromEntries(Object.entries(object).filter(isKept)) as Stored;
}
