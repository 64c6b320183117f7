/** Writes of objects, under the rules of an API server. */

import { isDeepStrictEqual } from "node:util";
import { cleaned, requireMetadata } from "./metadata.ts";
import { type Fields, isFields, type Stored, valueAt, withValueAt } from "./objects.ts";
import { apiVersionOf, placeOf, type Resource } from "./resources.ts";
import * as status from "./status.ts";
import { Failure, invalidValue, OLD_VERSION } from "./status.ts";
import type { Store } from "./store.ts";

/** Object, or its subresource, that a request is about. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource?: string | undefined;
}

/** Options of the deletion of an object. */
export interface DeleteOptions {
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** Returns the current time as objects contain it. */
export function timestamp(): string {
  return new Date(Date.now()).toISOString().replace(/\.\d+/, "");
}

/** Writes to a store. */
export class Writes {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the object or the subresource that a request is about. */
  read(target: Target): Stored {
    return viewOf(target, this.#find(target));
  }

  create(target: Omit<Target, "name">, body: Fields): Stored {
    const { resource, namespace } = target;
    const { name: given, generateName, ...metadata } = requireBody(target, body);
    const name = given || (generateName ? generateName + randomLetters() : "");
    this.#requireNamespace(target, name);
    if (metadata.resourceVersion) {
      throw new Failure(500, "resourceVersion should not be set on objects to be created");
    }
    const object = withDefaults(resource, {
      ...withoutStatus(body, resource),
      ...identityOf(resource),
      metadata: cleaned({
        ...metadata,
        name,
        ...(generateName && { generateName }),
        ...(namespace !== undefined && { namespace }),
        uid: crypto.randomUUID(),
        creationTimestamp: timestamp(),
        deletionTimestamp: "",
        generation: resource.hasGeneration ? 1 : undefined,
      }),
    });
    requireMetadata(resource, object);
    const place = placeOf(resource, namespace, name);
    if (this.#store.get(place)) throw status.alreadyExists(resource, name);
    return this.#store.put(place, object);
  }

  /** Replaces an object, as PUT does. */
  update(target: Target, body: Fields): Stored {
    const { resource, name, subresource } = target;
    const { uid, resourceVersion, name: given } = requireBody(target, body);
    if (given !== name) {
      throw new Failure(400, `the name of the object (${given ?? ""}) does not match the name on the URL (${name})`);
    }
    if (!this.#store.get(placeOfTarget(target)) && resource.createsOnPut && !subresource) {
      return this.create(target, body);
    }
    const before = this.#find(target);
    requireUid(target, before, uid);
    if (!resourceVersion && resource.putNeedsVersion) {
      throw status.invalid(resource, name, [
        invalidValue("metadata.resourceVersion", 0, "must be specified for an update"),
      ]);
    }
    return this.#replace(target, before, body as Stored);
  }

  /** Changes an object by a function from its present state. */
  patch(target: Target, change: (before: Stored) => unknown): Stored {
    const before = this.#find(target);
    const wanted = change(viewOf(target, before));
    if (!isFields(wanted)) throw new Failure(400, "the patched object is not an object");
    requireBody(target, wanted);
    return this.#replace(target, before, wanted as Stored);
  }

  /** Deletes an object, or marks it as deleted while it has finalizers. Returns it as it is now. */
  remove(target: Target, { propagationPolicy, preconditions = {} }: DeleteOptions = {}): Stored {
    const { resource, name } = target;
    const before = this.#find(target);
    requireUid(target, before, preconditions.uid);
    requireVersion(target, before, preconditions.resourceVersion);
    const { metadata } = before;
    const collectors = { Foreground: ["foregroundDeletion"], Orphan: ["orphan"], Background: [] };
    const finalizers = propagationPolicy === undefined ? metadata.finalizers ?? [] : [
      ...(metadata.finalizers ?? []).filter((one) => one !== "foregroundDeletion" && one !== "orphan"),
      ...collectors[propagationPolicy] ?? [],
    ];
    const isMarked = metadata.deletionTimestamp !== undefined;
    const marked = isMarked ? {} : {
      deletionTimestamp: timestamp(),
      deletionGracePeriodSeconds: 0,
      ...(metadata.generation && { generation: metadata.generation + 1 }),
    };
    const next: Stored = { ...before, metadata: cleaned({ ...metadata, finalizers, ...marked }) };
    if (isHeld(next)) return this.#commit(target, before, resource.kind === "Namespace" ? terminating(next) : next);
    return this.#store.put(placeOf(resource, target.namespace, name), before, true);
  }

  #find(target: Target): Stored {
    const found = this.#store.get(placeOfTarget(target));
    if (found === undefined) throw status.notFound(target.resource, target.name);
    return found;
  }

  #requireNamespace({ resource, namespace }: Omit<Target, "name">, name: string): void {
    if (namespace === undefined) return;
    const found = this.#store.get(`namespaces//${namespace}`);
    if (!found) {
      throw new Failure(404, `namespaces "${namespace}" not found`, {
        details: { name: namespace, kind: "namespaces" },
      });
    }
    if (found.metadata.deletionTimestamp === undefined) return;
    throw status.forbidden(
      resource,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    );
  }

  #replace(target: Target, before: Stored, wanted: Stored): Stored {
    requireVersion(target, before, wanted.metadata.resourceVersion);
    const next = withView(target, before, wanted);
    requireMetadata(target.resource, next, before);
    return viewOf(target, this.#commit(target, before, next));
  }

  /** Stores an object unless nothing changes. An object that was deleted goes when nothing holds it. */
  #commit(target: Target, before: Stored, next: Stored): Stored {
    if (isDeepStrictEqual(before, next)) return before;
    return this.#store.put(placeOfTarget(target), next, next.metadata.deletionTimestamp !== undefined && !isHeld(next));
  }
}

function placeOfTarget({ resource, namespace, name }: Target): string {
  return placeOf(resource, namespace, name);
}

function identityOf(resource: Resource): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind };
}

function randomLetters(): string {
  return Array.from({ length: 5 }, () => NAME_LETTERS[Math.floor(Math.random() * NAME_LETTERS.length)]).join("");
}

/** Checks that a body is of the kind and namespace of the request, and returns its metadata. */
function requireBody({ resource, namespace, subresource }: Omit<Target, "name">, body: Fields): Stored["metadata"] {
  const { apiVersion, kind, metadata = {} } = body;
  const wanted = subresource === "scale" ? { apiVersion: "autoscaling/v1", kind: "Scale" } : identityOf(resource);
  if (resource.isCustom && (apiVersion === undefined || kind === undefined)) {
    throw new Failure(
      400,
      `Object '${kind === undefined ? "Kind" : "apiVersion"}' is missing in the body of the request`,
    );
  }
  if ((apiVersion ?? wanted.apiVersion) !== wanted.apiVersion || (kind ?? wanted.kind) !== wanted.kind) {
    const given = `${apiVersion}, Kind=${kind}`;
    throw new Failure(
      400,
      `the object provided is unrecognized: ${given} instead of ${wanted.apiVersion}, Kind=${wanted.kind}`,
    );
  }
  if (!isFields(metadata)) throw new Failure(400, "metadata is not an object");
  if ((metadata["namespace"] ?? namespace) !== namespace) {
    throw new Failure(400, "the namespace of the provided object does not match the namespace sent on the request");
  }
  return metadata as Stored["metadata"];
}

function requireUid({ resource, name }: Target, { metadata }: Stored, uid: string | undefined): void {
  if (!uid || uid === metadata.uid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
  throw status.conflict(resource, name, why);
}

function requireVersion({ resource, name }: Target, { metadata }: Stored, version: string | undefined): void {
  if (version && version !== metadata.resourceVersion) throw status.conflict(resource, name, OLD_VERSION);
}

/** Reports whether finalizers keep an object from being deleted. */
function isHeld(object: Stored): boolean {
  const ofNamespace = object.kind === "Namespace" && valueAt(object, "spec.finalizers") as string[] | undefined;
  return (object.metadata.finalizers?.length ?? 0) > 0 || (ofNamespace || []).length > 0;
}

function terminating(namespace: Stored): Stored {
  return withValueAt(namespace, "status.phase", "Terminating") as Stored;
}

function withoutStatus(object: Fields, { hasStatus }: Resource): Fields {
  const { status: _, ...rest } = object;
  return hasStatus ? rest : object;
}

/** Returns the part of an object that requests for a subresource read and write. */
function viewOf({ subresource, resource }: Target, object: Stored): Stored {
  if (subresource !== "scale") return object;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const { spec, status, selector } = resource.scale!;
  const labels = selector && valueAt(object, selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as Stored["metadata"],
    spec: { replicas: valueAt(object, spec) ?? 0 },
    status: { replicas: valueAt(object, status) ?? 0, ...(typeof labels === "string" && { selector: labels }) },
  };
}

/** Returns an object with what a request wrote to it or to one of its subresources. */
function withView({ subresource, resource }: Target, before: Stored, wanted: Stored): Stored {
  if (subresource === "scale") {
    return withGeneration(
      resource,
      before,
      withValueAt(before, resource.scale!.spec, valueAt(wanted, "spec.replicas")) as Stored,
    );
  }
  const { status, ...rest } = before;
  if (subresource === "status") return { ...rest, ...("status" in wanted && { status: wanted["status"] }) } as Stored;
  const { namespace, uid, creationTimestamp, generation, resourceVersion, ...deletion } = before.metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds } = deletion;
  const metadata = cleaned({
    namespace,
    uid,
    ...cleaned(wanted.metadata),
    ...{ creationTimestamp, generation, resourceVersion },
    ...(deletionTimestamp && { deletionTimestamp, deletionGracePeriodSeconds }),
  });
  const kept = resource.hasStatus && status !== undefined && { status };
  const next = { ...withoutStatus(wanted, resource), ...kept, ...identityOf(resource), metadata };
  return withGeneration(resource, before, withDefaults(resource, next));
}

/** Raises the generation if anything but metadata and status changed; for built-in kinds, if the spec changed. */
function withGeneration({ hasGeneration, isCustom }: Resource, before: Stored, next: Stored): Stored {
  const content = (object: Stored) => isCustom ? { ...object, metadata: undefined } : object["spec"];
  if (!hasGeneration || isDeepStrictEqual(content(before), content(next))) return next;
  return { ...next, metadata: { ...next.metadata, generation: (before.metadata.generation ?? 0) + 1 } };
}

/** Adds the fields that a server sets and controllers rely on. Most defaults of a real server are left out. */
function withDefaults({ kind, isCustom }: Resource, object: Stored): Stored {
  if (isCustom) return object;
  if (kind === "Namespace") {
    const labels = { "kubernetes.io/metadata.name": object.metadata.name!, ...object.metadata.labels };
    const metadata = { ...object.metadata, labels };
    return { spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" }, ...object, metadata };
  }
  if (kind === "Secret") {
    const { stringData, ...secret } = object;
    const data = { ...secret["data"] as object, ...encoded(stringData as Record<string, string> | undefined) };
    return { type: "Opaque", ...secret, ...(Object.keys(data).length > 0 && { data }) } as Stored;
  }
  if (kind === "Pod") return { status: { phase: "Pending" }, ...object };
  return object;
}

function encoded(texts: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
}
