/** Tests of lists in pages. */

import { assertEquals } from "@std/assert";
import type { Client, ListOptions } from "@workqueue/kubernetes";
import { listPages } from "../../../packages/kubernetes/cache/pages.ts";

Deno.test("after a page of more than 32 MB, the next one has half as many objects", async () => {
  const sizes = [33_000_000, 1000, 40_000_000, 2000];
  const limits: unknown[] = [];
  const list = ({ query }: ListOptions<unknown>) => {
    limits.push(query?.["limit"]);
    const size = sizes.shift()!;
    return Promise.resolve({ size, metadata: { resourceVersion: "7", continue: sizes.length === 0 ? "" : "token" } });
  };
  const client = { list: (_path: string, options: ListOptions<unknown>) => list(options) } as unknown as Client;
  const { signal } = new AbortController();
  const options = { selectors: {}, signal, onObject: () => {}, onRestart: () => {} };
  assertEquals(await listPages(client, "/api/v1/pods", options), "7");
  assertEquals(limits, [500, 250, 250, 125]);
});
