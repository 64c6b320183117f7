/** Controllers of the cluster: they collect garbage, empty namespaces, and establish custom resource definitions. */

import type { OwnerReference } from "../kube_object.ts";
import type { Target } from "./checks.ts";
import { type Stored, timestamp, valueAt, withValueAt } from "./objects.ts";
import { CLEANUP, isEstablished, placeOf, qualified, resourceOfKind } from "./resources.ts";
import type { Change, Store } from "./store.ts";
import type { DeleteOptions, Writes } from "./writes.ts";

/** Controllers that run in the microtask after a change. */
export class Controllers {
  readonly #store: Store;
  readonly #writes: Writes;
  readonly #changes: Change[] = [];

  constructor(store: Store, writes: Writes) {
    this.#store = store;
    this.#writes = writes;
    store.listeners.add((change) => {
      if (this.#changes.push(change) === 1) queueMicrotask(() => this.run());
    });
  }

  /** Reacts to all changes, and to the changes that it makes itself. */
  run(): void {
    for (let change = this.#changes[0]; change; change = this.#changes[0]) {
      this.#react(change);
      this.#changes.shift();
    }
  }

  #react({ place, before, after }: Change): void {
    if (after !== undefined) {
      const object = this.#store.get(place);
      if (object !== undefined) this.#settle(object);
      return;
    }
    for (const dependent of this.#dependentsOf(before!.metadata.uid!)) this.#collect(dependent);
    // Owners, namespaces and definitions that are being deleted may have waited for this object.
    for (const object of this.#store.all()) if (object.metadata.deletionTimestamp !== undefined) this.#settle(object);
  }

  #settle(object: Stored): void {
    this.#collect(object);
    if (object.kind === "CustomResourceDefinition") this.#manageDefinition(object);
    if (object.kind === "Namespace") this.#emptyNamespace(object);
    this.#deleteOwner(object);
  }

  /** Deletes an object whose owners are all gone. References to single owners that are gone are removed. */
  #collect(object: Stored): void {
    const { ownerReferences = [], namespace, deletionTimestamp } = object.metadata;
    const present = ownerReferences.filter((owner) => this.#find(owner, namespace));
    if (present.length === ownerReferences.length) return;
    if (present.length > 0) this.#setMetadata(object, { ownerReferences: present });
    else if (deletionTimestamp === undefined) this.#remove(object, { propagationPolicy: "Background" });
  }

  /** Deletes or frees the dependents of an object that waits for this, and then lets it go. */
  #deleteOwner(owner: Stored): void {
    const { finalizers = [], deletionTimestamp, uid } = owner.metadata;
    const finalizer = finalizers.find((one) => one === "orphan" || one === "foregroundDeletion");
    if (deletionTimestamp === undefined || finalizer === undefined) return;
    for (const dependent of this.#dependentsOf(uid!)) {
      const { ownerReferences, deletionTimestamp } = dependent.metadata;
      if (finalizer === "orphan") {
        this.#setMetadata(dependent, { ownerReferences: ownerReferences!.filter((one) => one.uid !== uid) });
      } else if (deletionTimestamp === undefined && ownerReferences!.every((one) => one.uid === uid)) {
        this.#remove(dependent, { propagationPolicy: "Background" });
      }
    }
    const blocks = ({ uid: ownerUid, blockOwnerDeletion }: OwnerReference) => ownerUid === uid && blockOwnerDeletion;
    if (this.#dependentsOf(uid!).some(({ metadata }) => metadata.ownerReferences!.some(blocks))) return;
    this.#setMetadata(owner, { finalizers: finalizers.filter((one) => one !== finalizer) });
  }

  #emptyNamespace(namespace: Stored): void {
    const { name, deletionTimestamp } = namespace.metadata;
    if (deletionTimestamp === undefined) return;
    if (!this.#removeAll((object) => object.metadata.namespace === name)) return;
    this.#writes.patch(this.#targetOf(namespace), (before) => withValueAt(before, "spec.finalizers", []));
  }

  #manageDefinition(definition: Stored): void {
    const { name, deletionTimestamp, finalizers = [] } = definition.metadata;
    const target = this.#targetOf(definition);
    if (deletionTimestamp !== undefined) {
      const isOfKind = (object: Stored) => qualified(this.#targetOf(object).resource) === name;
      if (!this.#removeAll(isOfKind)) return;
      this.#setMetadata(definition, { finalizers: finalizers.filter((one) => one !== CLEANUP) });
    } else if (!isEstablished(definition)) {
      const conditions = ["NamesAccepted", "Established"]
        .map((type) => ({ type, status: "True", lastTransitionTime: timestamp(), reason: type, message: "" }));
      const status = { conditions, acceptedNames: valueAt(definition, "spec.names"), storedVersions: [] };
      this.#writes.patch({ ...target, subresource: "status" }, (before) => ({ ...before, status }));
    }
  }

  /** Deletes objects, and reports whether none of them is left. */
  #removeAll(isMeant: (object: Stored) => boolean): boolean {
    const meant = this.#store.all().filter(isMeant);
    for (const object of meant) if (object.metadata.deletionTimestamp === undefined) this.#remove(object, {});
    return !this.#store.all().some(isMeant);
  }

  #dependentsOf(uid: string): Stored[] {
    return this.#store.all().filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  }

  #find({ apiVersion, kind, name, uid }: OwnerReference, namespace: string | undefined): Stored | undefined {
    const resource = resourceOfKind(this.#store, apiVersion, kind);
    const found = resource &&
      this.#store.get(placeOf({ resource, namespace: resource.isClustered ? undefined : namespace, name }));
    return found?.metadata.uid === uid ? found : undefined;
  }

  #targetOf({ apiVersion, kind, metadata: { namespace, name } }: Stored): Target {
    return { resource: resourceOfKind(this.#store, apiVersion, kind)!, namespace, name: name!, manager: "controllers" };
  }

  #setMetadata(object: Stored, changes: Partial<Stored["metadata"]>): void {
    this.#writes.patch(
      this.#targetOf(object),
      (now) => ({ ...now, metadata: { ...(now as Stored).metadata, ...changes } }),
    );
  }

  #remove(object: Stored, options: DeleteOptions): void {
    this.#writes.remove(this.#targetOf(object), options);
  }
}
