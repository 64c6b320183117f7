/** Rules of objects, most of them of their metadata. */

import { isDeepStrictEqual } from "node:util";
import type { ObjectMeta } from "../kube_object.ts";
import type { Stored } from "./objects.ts";
import type { Resource } from "./resource.ts";
import { type Cause, forbiddenField, invalid, invalidValue } from "./status.ts";

const FIELDS: readonly string[] = [
  ...["name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"],
  ...["deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers"],
  "managedFields",
];
const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`);
const NAMESPACE = new RegExp(`^(?=.{1,63}$)${LABEL}$`);
const QUALIFIED = new RegExp(`^(${LABEL}(\\.${LABEL})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`);
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Returns metadata with the fields that a server keeps: unknown and empty ones are dropped. */
export function cleaned(metadata: { readonly [F in keyof ObjectMeta]: unknown }): ObjectMeta {
  const isKept = ([field, value]: [string, unknown]) =>
    FIELDS.includes(field) && value !== undefined && value !== null && value !== "" &&
    (typeof value !== "object" || Object.keys(value).length > 0);
  return Object.fromEntries(Object.entries(metadata).filter(isKept));
}

/** Throws if an object breaks rules that hold for all kinds. */
export function requireObject(resource: Resource, object: Stored, before?: Stored): void {
  const { metadata } = object;
  const { name = "", labels = {}, finalizers = [] } = metadata;
  const causes = [
    ...nameCauses(resource, name),
    ...namesCauses("metadata.labels", Object.keys(labels), QUALIFIED),
    ...namesCauses("metadata.labels", Object.values(labels), LABEL_VALUE),
    ...namesCauses("metadata.finalizers", finalizers, QUALIFIED),
    ...ownerCauses(metadata),
    ...resource.isCustom ? nullCauses(object) : [],
    ...before ? changeCauses(metadata, before.metadata) : [],
  ];
  if (causes.length > 0) throw invalid(resource, name, causes);
}

function namesCauses(field: string, names: readonly string[], pattern: RegExp): Cause[] {
  return names.filter((name) => !pattern.test(name)).map((name) => invalidValue(field, name, `must match ${pattern}`));
}

function nameCauses({ group, plural }: Resource, name: string): Cause[] {
  const field = "metadata.name";
  if (name === "") {
    return [{ reason: "FieldValueRequired", message: "Required value: name or generateName is required", field }];
  }
  if (group === "rbac.authorization.k8s.io") return []; // names of roles may contain colons
  return namesCauses(field, [name], group === "" && plural === "namespaces" ? NAMESPACE : SUBDOMAIN);
}

function ownerCauses({ ownerReferences = [] }: ObjectMeta): Cause[] {
  const field = "metadata.ownerReferences";
  const incomplete = ownerReferences.filter(({ apiVersion, kind, name, uid }) => !(apiVersion && kind && name && uid));
  const causes = incomplete.map((owner) => invalidValue(field, owner, "must have apiVersion, kind, name and uid"));
  const controllers = ownerReferences.filter(({ controller }) => controller).map(({ kind, name }) => `${kind}/${name}`);
  if (controllers.length < 2) return causes;
  const why = `Only one reference can have Controller set to true. Found "true" in references for`;
  return [...causes, invalidValue(field, ownerReferences, `${why} ${controllers.join(" and ")}`)];
}

function nullCauses(object: Stored): Cause[] {
  const message = 'Invalid value: "null": must be an object';
  return Object.keys(object).filter((field) => object[field] === null)
    .map((field) => ({ reason: "FieldValueTypeInvalid", message, field }));
}

function changeCauses(next: ObjectMeta, before: ObjectMeta): Cause[] {
  const causes = (["name", "namespace", "uid", "deletionTimestamp"] as const)
    .filter((field) => !isDeepStrictEqual(next[field], before[field]))
    .map((field) => invalidValue(`metadata.${field}`, next[field], "field is immutable"));
  const added = (next.finalizers ?? []).filter((one) => !before.finalizers?.includes(one));
  if (before.deletionTimestamp === undefined || added.length === 0) return causes;
  const why = "no new finalizers can be added if the object is being deleted, found new finalizers";
  return [...causes, forbiddenField("metadata.finalizers", `${why} ${JSON.stringify(added)}`)];
}
