/** Rules of the metadata of objects. */

import { isDeepStrictEqual } from "node:util";
import type { ObjectMeta, OwnerReference } from "../kube_object.ts";
import type { Stored } from "./objects.ts";
import type { Resource } from "./resources.ts";
import { type Cause, forbiddenField, invalid, invalidValue } from "./status.ts";

const FIELDS: readonly string[] = [
  ...["name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"],
  ...["deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers"],
  "managedFields",
];
const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const QUALIFIED = new RegExp(`^(${LABEL}(\\.${LABEL})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`);
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Returns metadata with the fields that a server keeps: unknown and empty ones are dropped. */
export function cleaned(metadata: { readonly [F in keyof ObjectMeta]: unknown }): ObjectMeta {
  const isKept = ([field, value]: [string, unknown]) =>
    FIELDS.includes(field) && value !== undefined && value !== null && value !== "" &&
    (typeof value !== "object" || Object.keys(value).length > 0);
  return Object.fromEntries(Object.entries(metadata).filter(isKept));
}

/** Throws if the metadata of an object breaks rules. */
export function requireMetadata(resource: Resource, { metadata }: Stored, before?: Stored): void {
  const { name = "", labels = {}, finalizers = [], ownerReferences = [] } = metadata;
  const causes: Cause[] = [
    ...nameCauses(resource, name),
    ...Object.entries(labels).flatMap(([key, value]) => [
      ...QUALIFIED.test(key) ? [] : [invalidValue("metadata.labels", key, "a key is a name with an optional domain")],
      ...LABEL_VALUE.test(value) ? [] : [invalidValue("metadata.labels", value, "not a valid label value")],
    ]),
    ...finalizers.filter((one) => !QUALIFIED.test(one))
      .map((one) => invalidValue("metadata.finalizers", one, "not a qualified name")),
    ...ownerCauses(ownerReferences),
  ];
  if (before) causes.push(...changeCauses(metadata, before.metadata));
  if (causes.length > 0) throw invalid(resource, name, causes);
}

function nameCauses({ group, plural }: Resource, name: string): Cause[] {
  if (name === "") {
    return [{
      reason: "FieldValueRequired",
      message: "Required value: name or generateName is required",
      field: "metadata.name",
    }];
  }
  if (group === "rbac.authorization.k8s.io") return []; // names of roles may contain colons
  const isNamespace = group === "" && plural === "namespaces";
  if (SUBDOMAIN.test(name) && name.length <= (isNamespace ? 63 : 253) && !(isNamespace && name.includes("."))) {
    return [];
  }
  return [
    invalidValue("metadata.name", name, `a lowercase RFC 1123 ${isNamespace ? "label" : "subdomain"} is expected`),
  ];
}

function ownerCauses(owners: readonly OwnerReference[]): Cause[] {
  const field = "metadata.ownerReferences";
  const controllers = owners.filter(({ controller }) => controller).map(({ kind, name }) => `${kind}/${name}`);
  const incomplete = owners.filter(({ apiVersion, kind, name, uid }) => !(apiVersion && kind && name && uid));
  return [
    ...incomplete.map((owner) => invalidValue(field, owner, "apiVersion, kind, name and uid must not be empty")),
    ...controllers.length > 1
      ? [
        invalidValue(
          field,
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${
            controllers.join(" and ")
          }`,
        ),
      ]
      : [],
  ];
}

function changeCauses(next: ObjectMeta, before: ObjectMeta): Cause[] {
  const added = (next.finalizers ?? []).filter((one) => !before.finalizers?.includes(one));
  return [
    ...(["name", "namespace", "uid", "deletionTimestamp"] as const)
      .filter((field) => !isDeepStrictEqual(next[field], before[field]))
      .map((field) => invalidValue(`metadata.${field}`, next[field], "field is immutable")),
    ...before.deletionTimestamp !== undefined && added.length > 0
      ? [
        forbiddenField(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers ${
            JSON.stringify(added)
          }`,
        ),
      ]
      : [],
  ];
}
