import { argumentError } from "@workqueue/core/internal";
import { ignoreAbsence } from "../client/errors.ts";
import type { Client } from "../client/client.ts";
import { sleep } from "../client/sleep.ts";
import type { KubeObject } from "../kube_object.ts";
import { attempts } from "./change.ts";
import type { Store } from "./store.ts";
import { backoff } from "./backoff.ts";

/** Longest time between two looks for a kind that the server doesn't know yet, in milliseconds. */
const MAX_ABSENT = 5000;

/** Resource that serves the objects of one kind. */
export interface Resource {
  /** Path of the API version, such as `/apis/apps/v1`. */
  readonly root: string;
  /** Name in paths, such as `deployments`. */
  readonly plural: string;
  /** Whether the objects have a namespace. */
  readonly isNamespaced: boolean;
}

/** Answer of the server about the resources of an API version. */
interface Resources {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/** Resource of one kind, which the server is asked for when it is needed. The caches of the kind share it. */
export class KindResource<T extends KubeObject> {
  readonly client: Client;
  readonly apiVersion: string;
  readonly kind: string;
  /** Stores of all caches of the kind: the answer to a write is in all of them. */
  readonly stores: Store<T>[] = [];
  readonly #report: (error: Error) => void;
  #known: Resource | undefined;
  /** Whether the server must be asked again. */
  #isForgotten = false;

  constructor(client: Client, apiVersion: string, kind: string, report: (error: Error) => void) {
    this.client = client;
    this.apiVersion = apiVersion;
    this.kind = kind;
    this.#report = report;
  }

  /** The resource in the server's latest answer; `undefined` if no answer had one. */
  get known(): Resource | undefined {
    return this.#known;
  }

  /** Notes that the server may no longer know the kind, or know it as another resource. */
  forget(): void {
    this.#isForgotten = true;
  }

  /**
   * Returns the resource for an object in a namespace, or in none. Throws if the server doesn't know the kind, or if
   * the kind needs a namespace and there is none, or the other way round.
   */
  async of(namespace: string | undefined): Promise<Resource> {
    const known = await this.#current(attempts.getStore()?.signal ?? new AbortController().signal);
    if (known === undefined) throw this.#absence();
    if (known.isNamespaced === Boolean(namespace)) return known;
    const rule = known.isNamespaced ? "needs a namespace" : "has no namespace";
    throw argumentError(`write ${this.kind}`, `an object of this kind ${rule}`, TypeError);
  }

  /** Resolves with the path of the objects in a namespace, or of all, once the server knows their kind. */
  async pathIn(namespace: string | undefined, signal: AbortSignal): Promise<string> {
    for (let failures = 1;; failures++) {
      const known = await this.#current(signal);
      if (known !== undefined) {
        if (namespace === undefined || known.isNamespaced) return pathOf(known, namespace);
        throw argumentError(`list ${this.kind}`, "the kind has no namespaces, so 'namespaces' can't be set", TypeError);
      }
      if (failures === 1) this.#report(this.#absence());
      await sleep(backoff(failures, MAX_ABSENT), signal);
    }
  }

  /** Resolves with the resource, after asking the server if needed; with `undefined` if it doesn't know the kind. */
  async #current(signal: AbortSignal): Promise<Resource | undefined> {
    if (this.#known !== undefined && !this.#isForgotten) return this.#known;
    const { apiVersion, kind } = this;
    const root = `/${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}`;
    const answer = await this.client.request<Resources>("GET", root, { signal }).catch(ignoreAbsence);
    const found = answer?.resources.find(({ name, kind: other }) => other === kind && !name.includes("/"));
    if (found === undefined) return undefined;
    this.#isForgotten = false;
    return this.#known = { root, plural: found.name, isNamespaced: found.namespaced };
  }

  #absence(): Error {
    return new Error(`The server doesn't know ${this.kind} of ${this.apiVersion}`);
  }
}

/** Returns the path of a collection or an object. */
export function pathOf(
  { root, plural }: Pick<Resource, "root" | "plural">,
  namespace?: string,
  name?: string,
): string {
  const collection = namespace ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}
