/** Objects that requests are about, and the conditions that requests must meet. */

import { isFields, type Stored } from "./objects.ts";
import { identityOf, type Resource } from "./resource.ts";
import { conflict, Failure } from "./status.ts";

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

/** Throws if an object is not the one with the given uid. */
export function requireUid({ resource, name }: Target, { metadata }: Stored, uid: string | undefined): void {
  if (!uid || uid === metadata.uid) return;
  throw conflict(
    resource,
    name,
    `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
  );
}

/** Throws if an object does not have the given version. */
export function requireVersion({ resource, name }: Target, { metadata }: Stored, version: string | undefined): void {
  if (version && version !== metadata.resourceVersion) throw conflict(resource, name, OLD_VERSION);
}
