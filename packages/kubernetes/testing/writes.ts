/** Writes of objects, under the rules of an API server. */

import { isDeepStrictEqual } from "node:util";
import { requireBody, requireObject, requirePreconditions, type Target } from "./checks.ts";
import { withApplied, withManagers, type Writer } from "./field_managers.ts";
import { type Fields, type Stored, timestamp, valueAt, withValueAt } from "./objects.ts";
import { apiVersionOf, CLEANUP, identityOf, inVersion, placeOf } from "./resources.ts";
import { conflict, Failure, failureOf, forbidden, invalid, invalidValue, notFound } from "./status.ts";
import type { Store } from "./store.ts";
import { cleaned, shown, withDefaults, withGeneration, withoutStatus, written } from "./views.ts";

/** Options of the deletion of an object. */
export interface DeleteOptions {
  /** Deletes the objects that it owns after it (`"Background"`, the default), before it, or not at all. */
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** UID and version that the object must have. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** Writes to a store. */
export class Writes {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the object or the subresource that a request is about. */
  read(target: Target): Stored {
    return shown(target, this.#find(target));
  }

  create(target: Target, body: Fields, applied?: Set<string>): Stored {
    const { resource, namespace } = target;
    const { generateName, resourceVersion, ...metadata } = requireBody(target, body);
    const name = metadata.name || (generateName ? generateName + randomLetters() : "");
    this.#requireNamespace(target, name);
    if (resourceVersion) throw new Failure(500, "resourceVersion should not be set on objects to be created");
    const object = withDefaults(resource, {
      ...withoutStatus(resource, body),
      ...identityOf(resource),
      metadata: cleaned({
        ...metadata,
        ...{ name, generateName, namespace },
        ...{ uid: crypto.randomUUID(), creationTimestamp: timestamp(), deletionTimestamp: undefined },
        generation: resource.hasGeneration ? 1 : undefined,
      }),
    });
    requireObject(resource, object);
    const place = placeOf({ resource, namespace, name });
    if (this.#store.get(place)) {
      throw failureOf(409, resource, name, `${resource.plural} "${name}" already exists`, { reason: "AlreadyExists" });
    }
    return this.#store.put(
      place,
      withManagers(undefined, object, writerOf(target, applied ? "Apply" : "Update"), applied),
    );
  }

  /** Replaces an object, as PUT does. */
  update(target: Target, body: Fields): Stored {
    const { resource, name } = target;
    const { uid, resourceVersion } = requireBody(target, body);
    const before = this.#find(target);
    requirePreconditions(target, before, { uid });
    if (!resourceVersion && resource.putNeedsVersion) {
      throw invalid(resource, name, [invalidValue("metadata.resourceVersion", 0, "must be specified for an update")]);
    }
    return this.#replace(target, before, body as Stored);
  }

  /** Changes an object by a function from its present state. */
  patch(target: Target, change: (before: Stored) => unknown): Stored {
    const before = this.#find(target);
    const wanted = change(shown(target, before));
    requireBody(target, wanted);
    return this.#replace(target, before, wanted as Stored);
  }

  /** Applies a configuration on the server side, which creates the object if it does not exist. */
  apply(target: Target, config: Fields, isForced: boolean): Stored {
    const { resource, name, subresource } = target;
    const { uid, resourceVersion, managedFields } = requireBody(target, config, true);
    if (managedFields) throw new Failure(400, "metadata.managedFields must be nil");
    const before = subresource ? this.#find(target) : this.#get(target);
    if (!before && uid) {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(resource, name, why);
    }
    const part = subresource === undefined
      ? withoutStatus(resource, config)
      : { metadata: cleaned({ resourceVersion }), status: config["status"] };
    const { after, applied } = withApplied(before, part, writerOf(target, "Apply"), isForced);
    return before ? this.#replace(target, before, after, applied) : this.create(target, after, applied);
  }

  /** Deletes an object, or marks it as deleted while it has finalizers. Returns it if it is left. */
  remove(target: Target, { propagationPolicy, preconditions = {} }: DeleteOptions = {}): Stored | undefined {
    const before = this.#find(target);
    requirePreconditions(target, before, preconditions);
    const { metadata } = before;
    const isMarked = metadata.deletionTimestamp !== undefined;
    const hasInstances = !isMarked && before.kind === "CustomResourceDefinition";
    const next: Stored = {
      ...before,
      metadata: cleaned({
        ...metadata,
        finalizers: [
          ...finalizersAfter(metadata.finalizers ?? [], propagationPolicy),
          ...hasInstances ? [CLEANUP] : [],
        ],
        ...(!isMarked && { deletionTimestamp: timestamp(), deletionGracePeriodSeconds: 0 }),
        ...(!isMarked && metadata.generation && { generation: metadata.generation + 1 }),
      }),
    };
    if (!isHeld(next)) return void this.#store.put(placeOf(target), before, true);
    const isNamespace = next.kind === "Namespace";
    const marked = isNamespace ? withValueAt(next, "status.phase", "Terminating") as Stored : next;
    return this.#commit(target, before, marked);
  }

  #get(target: Target): Stored | undefined {
    const found = this.#store.get(placeOf(target));
    return found && inVersion(found, target.resource);
  }

  #find(target: Target): Stored {
    const found = this.#get(target);
    if (found === undefined) throw notFound(target.resource, target.name);
    return found;
  }

  #requireNamespace({ resource, namespace }: Target, name: string): void {
    if (namespace === undefined) return;
    const found = this.#store.get(`namespaces//${namespace}`);
    if (!found) throw notFound({ plural: "namespaces", group: "" }, namespace);
    if (found.metadata.deletionTimestamp === undefined) return;
    const why = `namespace ${namespace} is being terminated`;
    const cause = { reason: "NamespaceTerminating", message: why, field: "metadata.namespace" };
    throw forbidden(resource, name, `unable to create new content: ${why}`, [cause]);
  }

  #replace(target: Target, before: Stored, wanted: Stored, applied?: Set<string>): Stored {
    const { resourceVersion } = wanted.metadata;
    requirePreconditions(target, before, { resourceVersion });
    const next = withGeneration(target.resource, before, written(target, before, wanted));
    requireObject(target.resource, next, before);
    const managed = withManagers(before, next, writerOf(target, applied ? "Apply" : "Update"), applied);
    return shown(target, this.#commit(target, before, managed));
  }

  /** Stores an object unless nothing changes. An object that was deleted is removed when nothing holds it. */
  #commit(target: Target, before: Stored, next: Stored): Stored {
    if (isDeepStrictEqual(before, next)) return before;
    return this.#store.put(placeOf(target), next, next.metadata.deletionTimestamp !== undefined && !isHeld(next));
  }
}

function writerOf({ resource, manager, subresource }: Target, operation: Writer["operation"]): Writer {
  return { manager, operation, apiVersion: apiVersionOf(resource), subresource };
}

function randomLetters(): string {
  return Array.from({ length: 5 }, () => NAME_LETTERS[Math.floor(Math.random() * NAME_LETTERS.length)]).join("");
}

/** Reports whether finalizers keep an object from being deleted. */
function isHeld(object: Stored): boolean {
  const ofNamespace = object.kind === "Namespace" ? valueAt(object, "spec.finalizers") as string[] ?? [] : [];
  return (object.metadata.finalizers?.length ?? 0) + ofNamespace.length > 0;
}

function finalizersAfter(finalizers: readonly string[], policy: DeleteOptions["propagationPolicy"]): readonly string[] {
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((one) => one !== "foregroundDeletion" && one !== "orphan");
  return [...others, ...{ Background: [], Foreground: ["foregroundDeletion"], Orphan: ["orphan"] }[policy]];
}
