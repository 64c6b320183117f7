/** Objects of the cluster with the history of their changes, like etcd. */

import { freeze, type Stored } from "./objects.ts";

/** Change of one object. */
export interface Change {
  /** Version of the store after the change. */
  readonly version: number;
  /** Place of the object in the store: `resource/namespace/name`, with an empty namespace if it has none. */
  readonly place: string;
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

/** State of a store at one time. */
export interface Snapshot {
  /** Version of the store. */
  readonly version: number;
  /** Objects by their places in the store. */
  readonly objects: ReadonlyMap<string, Stored>;
}

/** Store with one version for all objects. Each write raises the version by one. */
export class Store {
  version = 1;
  /** Version of the last compaction. States before this version are lost. */
  compacted = 0;
  readonly listeners: Set<(change: Change) => void> = new Set();
  /** Objects by their places, by resource. */
  #resources = new Map<string, Map<string, Stored>>();
  #changes: Change[] = [];

  get(place: string): Stored | undefined {
    return this.#placesOf(place).get(place);
  }

  /** Replaces or deletes an object, and returns the new or the deleted object with its new version. */
  put(place: string, object: Stored, isDeleted = false): Stored {
    const places = this.#placesOf(place);
    const before = places.get(place);
    const version = ++this.version;
    const stored = freeze({ ...object, metadata: { ...object.metadata, resourceVersion: `${version}` } });
    if (isDeleted) places.delete(place);
    else places.set(place, stored);
    const change = { version, place, before, after: isDeleted ? undefined : stored };
    this.#changes.push(change);
    for (const listener of [...this.listeners]) listener(change);
    return stored;
  }

  /** Returns the objects of a resource in the order of their places, as they were at a version. */
  list(resource: string, version: number = this.version): [place: string, object: Stored][] {
    const places = new Map(this.#placesOf(resource));
    const later = version < this.version ? this.#changes.filter((change) => change.version > version) : [];
    for (const { place, before } of later.reverse()) {
      if (!place.startsWith(`${resource}/`)) continue;
      if (before) places.set(place, before);
      else places.delete(place);
    }
    return [...places].sort(([a], [b]) => a < b ? -1 : 1);
  }

  /** Returns all objects. */
  all(): Stored[] {
    return [...this.#resources.values()].flatMap((places) => [...places.values()]);
  }

  /** Returns the changes after a version, or `undefined` if some of them are lost. */
  since(version: number): readonly Change[] | undefined {
    return version < this.compacted ? undefined : this.#changes.filter((change) => change.version > version);
  }

  /** Forgets the history. */
  compact(): void {
    this.compacted = this.version;
    this.#changes = [];
  }

  snapshot(): Snapshot {
    return { version: this.version, objects: new Map([...this.#resources.values()].flatMap((places) => [...places])) };
  }

  /** Goes back to a state. The history is lost. */
  restore({ version, objects }: Snapshot): void {
    this.version = version;
    this.#resources.clear();
    for (const [place, object] of objects) this.#placesOf(place).set(place, object);
    this.compact();
  }

  #placesOf(place: string): Map<string, Stored> {
    const resource = place.split("/", 1)[0]!;
    let places = this.#resources.get(resource);
    if (!places) this.#resources.set(resource, places = new Map());
    return places;
  }
}
