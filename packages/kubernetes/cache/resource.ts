import { argumentError } from "@workqueue/core/internal";
import { ApiError } from "../client/api_error.ts";
import type { Client } from "../client/client.ts";
import { sleep } from "../client/sleep.ts";
import type { DeepReadonly, KubeObject } from "../kube_object.ts";
import { attempts } from "./attempt.ts";
import { Backoff } from "./backoff.ts";

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

/** Resource of one kind, which the server is asked for when it is needed. */
export class KindResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly #client: Client;
  readonly #report: (error: Error) => void;
  #known: Resource | undefined;
  /** Whether the server must be asked again. */
  #isForgotten = false;

  constructor(client: Client, apiVersion: string, kind: string, report: (error: Error) => void) {
    this.#client = client;
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

  /** Returns the resource for an object. Throws if the server doesn't know the kind, or a namespace is missing. */
  async of({ metadata: { namespace } }: DeepReadonly<KubeObject>): Promise<Resource> {
    const known = await this.#current(attempts.getStore()?.signal ?? new AbortController().signal);
    if (known === undefined) throw this.#absence();
    if (known.isNamespaced === Boolean(namespace)) return known;
    const rule = known.isNamespaced ? "needs a namespace" : "has no namespace";
    throw argumentError(`write ${this.kind}`, `an object of this kind ${rule}`, TypeError);
  }

  /** Resolves with the path of the objects in a namespace, or of all, once the server knows their kind. */
  async pathIn(namespace: string | undefined, signal: AbortSignal): Promise<string> {
    const backoff = new Backoff();
    for (;;) {
      const known = await this.#current(signal);
      if (known !== undefined) {
        if (namespace === undefined || known.isNamespaced) return pathOf(known, namespace);
        throw argumentError(`list ${this.kind}`, "the kind has no namespaces, so 'namespaces' can't be set", TypeError);
      }
      if (backoff.isFresh) this.#report(this.#absence());
      await sleep(backoff.next(MAX_ABSENT), signal);
    }
  }

  /** Resolves with the resource, after asking the server if needed; with `undefined` if it doesn't know the kind. */
  async #current(signal: AbortSignal): Promise<Resource | undefined> {
    if (this.#known !== undefined && !this.#isForgotten) return this.#known;
    const found = await discover(this.#client, this.apiVersion, this.kind, signal);
    if (found === undefined) return undefined;
    this.#isForgotten = false;
    return this.#known = found;
  }

  #absence(): Error {
    return new Error(`The server doesn't know ${this.kind} of ${this.apiVersion}`);
  }
}

/** Finds the resource of a kind. Resolves with `undefined` if the server doesn't know the kind, as before its CRD. */
async function discover(
  client: Client,
  apiVersion: string,
  kind: string,
  signal: AbortSignal,
): Promise<Resource | undefined> {
  const root = `/${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}`;
  interface Resources {
    resources: { name: string; kind: string; namespaced: boolean }[];
  }
  try {
    const { resources } = await client.request<Resources>("GET", root, { signal });
    const found = resources.find(({ name, kind: other }) => other === kind && !name.includes("/"));
    return found && { root, plural: found.name, isNamespaced: found.namespaced };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** Returns the path of a collection or an object. */
export function pathOf({ root, plural }: Resource, namespace?: string, name?: string): string {
  const collection = namespace ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}
