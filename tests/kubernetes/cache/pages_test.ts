/** Tests of lists in pages. */

import { assertEquals } from "@std/assert";
import { ApiError, type Client, type ListOptions } from "@workqueue/kubernetes";
import type { FakeCluster } from "@workqueue/kubernetes/testing";
import { startCache } from "./started_cache.ts";

Deno.test("after a page of more than 32 MB, the next one has half as many objects", async () => {
  const sizes = [33_000_000, 1000, 40_000_000, 2000];
  const limits: unknown[] = [];
  const watched = Promise.withResolvers<unknown>();
  const client = {
    isAnswering: true,
    close() {},
    request: () => Promise.resolve({ resources: [{ name: "configmaps", kind: "ConfigMap", namespaced: true }] }),
    list(_path: string, { query }: ListOptions<unknown>) {
      limits.push(query?.["limit"]);
      const size = sizes.shift()!;
      return Promise.resolve({ size, metadata: { resourceVersion: "7", continue: sizes.length === 0 ? "" : "token" } });
    },
    // deno-lint-ignore require-yield
    async *watch(_path: string, { query }: ListOptions<unknown>) {
      if (limits.length === 0) throw new ApiError("GET configmaps", { code: 400 });
      await new Promise(() => watched.resolve(query?.["resourceVersion"]));
    },
  } as unknown as Client;
  const { cache } = startCache({ client } as FakeCluster);
  await cache.synced;
  assertEquals(await watched.promise, "7");
  assertEquals(limits, [500, 250, 250, 125]);
});
