import type { KubeObject } from "../kube_object.ts";
import type { Attempt, Change } from "./change.ts";

/** Object that a request of this process writes. The name is unknown if the server generates it. */
export interface Target {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
}

/** Request of this process that is being sent, with the changes that a watch has reported since it began. */
export class OwnWrite<T extends KubeObject> {
  /** Attempt that sent the request. */
  readonly author: Attempt | undefined;
  /** Changes to the same object. Only the answer shows which of them this request made. */
  readonly changes: Change<T>[] = [];
  /** Objects that were deleted since the request began, by their uids. The answer must not bring them back. */
  readonly deleted: Set<string | undefined> = new Set();
  readonly #target: Target;

  constructor(target: Target, author: Attempt | undefined) {
    this.#target = target;
    this.author = author;
  }

  /** Reports whether the request may have written an object. */
  mayHaveWritten({ metadata: { namespace, name = "" } }: KubeObject): boolean {
    const target = this.#target;
    if ((namespace ?? "") !== (target.namespace ?? "")) return false;
    return target.name === undefined ? name.startsWith(target.generateName ?? "") : name === target.name;
  }
}
