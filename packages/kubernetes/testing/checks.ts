/** Checks of requests, and of the objects that they write. */

import { isDeepStrictEqual } from "node:util";
import type { ObjectMeta } from "../kube_object.ts";
import { isFields, type Stored } from "./objects.ts";
import { identityOf, type Resource } from "./resources.ts";
import { type Cause, conflict, Failure, forbiddenField, invalid, invalidValue } from "./status.ts";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`);
const NAMESPACE = new RegExp(`^(?=.{1,63}$)${LABEL}$`);
const QUALIFIED = new RegExp(`^(${LABEL}(\\.${LABEL})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`);
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Object, or its subresource, that a request is about. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  /** Name, empty for a new object. */
  readonly name: string;
  readonly subresource?: string | undefined;
  /** Name of the field manager. */
  readonly manager: string;
}

const OLD_VERSION = "the object has been modified; please apply your changes to the latest version and try again";

/** Checks that a body is an object of the kind, the name and the namespace of the request, and returns its metadata. */
export function requireBody(
  { resource, namespace, name, subresource }: Target,
  body: unknown,
  isApply = false,
): Stored["metadata"] {
  const { apiVersion, kind, metadata = {} } = isFields(body) ? body : { metadata: null };
  if (!isFields(metadata)) throw new Failure(400, "the object provided is unrecognized");
  if ((resource.isCustom || isApply) && !subresource && (!apiVersion || !kind)) {
    throw new Failure(400, `Object '${kind ? "apiVersion" : "Kind"}' is missing in the body of the request`);
  }
  const wanted = subresource === "scale" ? { apiVersion: "autoscaling/v1", kind: "Scale" } : identityOf(resource);
  if ((apiVersion ?? wanted.apiVersion) !== wanted.apiVersion || (kind ?? wanted.kind) !== wanted.kind) {
    throw new Failure(
      400,
      `the object is of the kind ${apiVersion} ${kind} instead of ${wanted.apiVersion} ${wanted.kind}`,
    );
  }
  if (name && metadata["name"] !== name) {
    throw new Failure(
      400,
      `the name of the object (${metadata["name"] ?? ""}) does not match the name on the URL (${name})`,
    );
  }
  if ((metadata["namespace"] ?? namespace) !== namespace) {
    throw new Failure(400, "the namespace of the provided object does not match the namespace sent on the request");
  }
  return metadata as Stored["metadata"];
}

/** Throws if an object doesn't have the uid and the version that a request names. */
export function requirePreconditions(
  { resource, name }: Target,
  { metadata }: Stored,
  { uid, resourceVersion }: Pick<ObjectMeta, "uid" | "resourceVersion">,
): void {
  if (uid && uid !== metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
    throw conflict(resource, name, why);
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) throw conflict(resource, name, OLD_VERSION);
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

function changeCauses(next: ObjectMeta, before: ObjectMeta): Cause[] {
  const causes = (["name", "namespace", "uid", "deletionTimestamp"] as const)
    .filter((field) => !isDeepStrictEqual(next[field], before[field]))
    .map((field) => invalidValue(`metadata.${field}`, next[field], "field is immutable"));
  const added = (next.finalizers ?? []).filter((one) => !before.finalizers?.includes(one));
  if (before.deletionTimestamp === undefined || added.length === 0) return causes;
  const why = "no new finalizers can be added if the object is being deleted, found new finalizers";
  return [...causes, forbiddenField("metadata.finalizers", `${why} ${JSON.stringify(added)}`)];
}
