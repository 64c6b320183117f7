import { ApiError } from "../client/api_error.ts";
import type { Client } from "../client/client.ts";

/** Resource that serves the objects of one kind. */
export interface Resource {
  /** Path of the API version, such as `/apis/apps/v1`. */
  readonly root: string;
  /** Name in paths, such as `deployments`. */
  readonly plural: string;
  /** Whether the objects have a namespace. */
  readonly isNamespaced: boolean;
}

/** Finds the resource of a kind. Resolves with `undefined` if the server doesn't know the kind, as before its CRD. */
export async function discover(
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
