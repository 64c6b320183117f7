import { ApiError } from "../client/api_error.ts";
import type { Client, Query } from "../client/client.ts";

/** Objects of a page. */
const PAGE = 500;
/** Longest page, in characters. After a longer one, pages have half as many objects. */
const MAX_LENGTH = 32_000_000;

/**
 * Lists objects in pages. Resolves with the version of the list.
 *
 * @param onObject Called with each object.
 * @param onRestart Called if the list begins again: the objects that were passed to `onObject` before don't belong to
 * the new list.
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
      const { metadata, size } = await client.list<T>(path, { query, signal, onItem: onObject });
      if (!metadata.continue) return metadata.resourceVersion!;
      token = metadata.continue;
      if (limit !== undefined && size > MAX_LENGTH) limit = Math.max(1, Math.floor(limit / 2));
    } catch (error) {
      if (token === undefined || !(error instanceof ApiError) || error.status !== 410) throw error;
      [limit, token] = [undefined, undefined]; // the server forgot the version: takes one list instead
      onRestart();
    }
  }
}
