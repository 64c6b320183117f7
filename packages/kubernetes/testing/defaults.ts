import type { Fields, Stored } from "./objects.ts";
import type { Resource } from "./resource.ts";

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
