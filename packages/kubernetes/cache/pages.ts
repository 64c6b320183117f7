import { ApiError } from "../client/api_error.ts";
import type { Client, Query } from "../client/client.ts";

/** Objects of a page. */
const PAGE = 500;

interface Page<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[] | null;
}

/**
 * Lists objects in pages. Resolves with the version of the list.
 *
 * @param onObject Called with each object.
 * @param onRestart Called if the list begins again: all objects before were of another list.
 */
export async function listPages<T>(
  client: Client,
  path: string,
  { selectors, signal, onObject, onRestart }: {
    selectors: Query;
    signal: AbortSignal;
    onObject: (object: T) => void;
    onRestart: () => void;
  },
): Promise<string> {
  let limit: number | undefined = PAGE;
  let token: string | undefined;
  for (;;) {
    try {
      const query: Query = { ...selectors, limit, continue: token };
      const { metadata, items } = await client.request<Page<T>>("GET", path, { query, signal });
      items?.forEach(onObject);
      if (!metadata.continue) return metadata.resourceVersion;
      token = metadata.continue;
    } catch (error) {
      if (token === undefined || !(error instanceof ApiError) || error.status !== 410) throw error;
      [limit, token] = [undefined, undefined]; // the server forgot the version: takes one list instead
      onRestart();
    }
  }
}
