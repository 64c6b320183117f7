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

  constructor(client: Client, apiVersion: string, kind: string, report: (error: Error) => void) {
    this.#client = client;
    this.apiVersion = apiVersion;
    this.kind = kind;
    this.#report = report;
  }

  /** The resource, once the server has told it. */
  get known(): Resource | undefined {
    return this.#known;
  }

  /** Notes that the server may no longer know the kind, or know it as another resource. */
  forget(): void {
    this.#known = undefined;
  }

  /** Returns the resource for an object. Throws if the server doesn't know the kind, or a namespace is missing. */
  async of({ metadata: { namespace } }: DeepReadonly<KubeObject>): Promise<Resource> {
    this.#known ??= await this.#ask(attempts.getStore()?.signal ?? new AbortController().signal);
    if (this.#known === undefined) throw this.#absence();
    if (this.#known.isNamespaced === (namespace !== undefined)) return this.#known;
    const rule = this.#known.isNamespaced ? "needs a namespace" : "has no namespace";
    throw argumentError(`write ${this.kind}`, `an object of this kind ${rule}`, TypeError);
  }

  /** Resolves with the path of the objects in a namespace, or of all, once the server knows their kind. */
  async pathIn(namespace: string | undefined, signal: AbortSignal): Promise<string> {
    const backoff = new Backoff();
    while (this.#known === undefined) {
      this.#known = await this.#ask(signal);
      if (this.#known !== undefined) break;
      if (backoff.isFresh) this.#report(this.#absence());
      await sleep(backoff.next(MAX_ABSENT), signal);
    }
    return pathOf(this.#known, this.#known.isNamespaced ? namespace : undefined);
  }

  #ask(signal: AbortSignal): Promise<Resource | undefined> {
    return discover(this.#client, this.apiVersion, this.kind, signal);
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

/** Returns the path of a collection or an object, with its subresource. */
export function pathOf({ root, plural }: Resource, namespace?: string, name?: string, subresource?: string): string {
  const collection = namespace ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`;
  return [collection, ...(name === undefined ? [] : [encodeURIComponent(name)]), ...(subresource ? [subresource] : [])]
    .join("/");
}
