/** Tests of lists and watches: fallbacks, gaps, restarts, permissions and kinds that come and go. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Client } from "@workqueue/kubernetes";
import { type FakeCluster, fakeCluster } from "@workqueue/kubernetes/testing";
import { pass, settle, until } from "../fake_time.ts";
import { configMap, startCache } from "./started_cache.ts";

const WATCHES = { verb: "watch", resource: "configmaps" } as const;
const LISTS = { verb: "list", resource: "configmaps" } as const;

Deno.test("a cache lists by a watch, and then watches from the version of the list", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  await using started = startCache(cluster);
  await until(time, () => started.told.length === 1);
  await started.cache.synced;
  cluster.create(configMap("b"));
  await settle();
  assertEquals(started.told, ["add default/a", "add default/b"]);
  assertEquals([cluster.count(WATCHES), cluster.count(LISTS)], [2, 0]);
});

Deno.test("a watch lives for five to ten minutes, and nothing is lost when it begins again", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  await started.cache.synced;
  for (let i = 0; i < 100; i++) {
    await pass(time, 30_000, 10_000);
    cluster.create(configMap(`${i}`));
    await settle();
    assertEquals(started.cache.size, i + 1);
  }
  const opened = cluster.count(WATCHES) - 2;
  assertEquals(opened >= 5 - 1 && opened <= 10 + 1, true, `${opened} in fifty minutes`);
});

Deno.test("a watch that gets no bookmark is on a broken connection", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  await started.cache.synced;
  await pass(time, 3000);
  cluster.hang();
  cluster.start(); // new connections work
  cluster.create(configMap("a"));
  await until(time, () => started.cache.size === 1, { within: 151_000 });
});

for (const code of [400, 422, 500]) {
  Deno.test(`a cache lists pages if a list by a watch is answered with ${code}`, async () => {
    using _time = new FakeTime();
    const cluster = fakeCluster();
    for (let i = 0; i < 501; i++) cluster.create(configMap(`${i}`));
    cluster.failNext(WATCHES, code);
    await using started = startCache(cluster);
    await started.cache.synced;
    await settle();
    assertEquals(started.cache.size, 501);
    assertEquals(started.cache.get("default/7")?.kind, "ConfigMap"); // items of a list come without their kind
    assertEquals([cluster.count(WATCHES), cluster.count(LISTS)], [2, 2]);
  });
}

for (const code of [401, 403, 429, 503, 504]) {
  Deno.test(`a cache tries again if a list by a watch is answered with ${code}`, async () => {
    using time = new FakeTime();
    const cluster = fakeCluster();
    cluster.create(configMap("a"));
    cluster.failNext(WATCHES, code);
    await using started = startCache(cluster);
    await until(time, () => started.cache.size === 1, { within: 200 });
    assertEquals([cluster.count(WATCHES), cluster.count(LISTS)], [3, 0]);
    assertEquals(started.errors.length, 1);
  });
}

Deno.test("a cache lists pages if the server treats a list by a watch as an ordinary watch", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  cluster.failNext(WATCHES, "hang");
  await using started = startCache(cluster);
  await until(time, () => started.cache.size === 1, { within: 10_100 });
  assertEquals(cluster.count(LISTS), 1);
});

Deno.test("each list tries a watch first, also after pages", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.failNext(WATCHES, 422);
  await using started = startCache(cluster);
  await started.cache.synced;
  await settle();
  cluster.expireWatches();
  cluster.create(configMap("a"));
  await until(time, () => started.cache.size === 1);
  assertEquals([cluster.count(WATCHES), cluster.count(LISTS)], [4, 1]);
});

Deno.test("if the server forgets the version of the first page, the cache takes one list without pages", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  for (let i = 0; i < 600; i++) cluster.create(configMap(`${i}`));
  cluster.failNext(WATCHES, 422);
  cluster.failNext(({ verb, path }) => verb === "list" && path.includes("continue="), 410);
  await using started = startCache(cluster);
  await started.cache.synced;
  assertEquals(started.cache.size, 600);
  assertEquals(cluster.requests.filter(({ verb }) => verb === "list").map(({ path }) => path.includes("limit")), [
    true,
    true,
    false,
  ]);
});

Deno.test("a watch that ends is opened again at once, from the last version", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  await started.cache.synced;
  for (let i = 0; i < 5; i++) {
    await pass(time, 3000);
    cluster.closeWatches();
    cluster.create(configMap(`${i}`));
    await settle();
    assertEquals(started.cache.size, i + 1);
  }
  assertEquals([cluster.count(WATCHES), cluster.count(LISTS)], [7, 0]);
});

Deno.test("a watch that ends at once is opened again with a delay", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  await started.cache.synced;
  const before = cluster.count(WATCHES);
  for (let i = 0; i < 600; i++) {
    cluster.closeWatches();
    await pass(time, 100);
  }
  const opened = cluster.count(WATCHES) - before;
  assertEquals(opened >= 55 && opened <= 130, true, `${opened} in a minute`);
  cluster.create(configMap("a"));
  await until(time, () => started.cache.size === 1, { within: 1100 });
});

Deno.test("after a gap, a cache reports changed and deleted objects, with the last objects", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  for (const name of ["same", "changed", "deleted", "again"]) cluster.create(configMap(name, { x: "1" }));
  await using started = startCache(cluster);
  await started.cache.synced;
  started.told.length = started.changes.length = 0;
  cluster.stop();
  cluster.patch(configMap("changed"), { data: { x: "2" } });
  cluster.delete(configMap("deleted"));
  cluster.delete(configMap("again"));
  cluster.create(configMap("again", { x: "2" }));
  cluster.compact();
  await pass(time, 20_000);
  cluster.start();
  await until(time, () => started.told.length > 0, { within: 2000 });
  assertEquals(started.told.toSorted(), [
    "add default/again",
    "delete default/again",
    "delete default/deleted",
    "update default/changed",
  ]);
  const deleted = started.changes.find(({ type, object }) => type === "delete" && object.metadata.name === "deleted");
  assertEquals(deleted?.object.data, { x: "1" });
});

Deno.test("while the server doesn't answer, a cache sends nothing, and the answer to a probe wakes it", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  await started.cache.synced;
  cluster.dropConnections();
  await settle();
  assertEquals(started.errors, []);
  cluster.dropConnections();
  cluster.hang();
  await pass(time, 60_000);
  assertEquals(started.errors.length, 1);
  const before = cluster.count(WATCHES) + cluster.count(LISTS);
  await pass(time, 60_000);
  assertEquals(cluster.count(WATCHES) + cluster.count(LISTS), before);
  cluster.start();
  cluster.create(configMap("a"));
  await until(time, () => started.cache.size === 1, { within: 6000 });
});

Deno.test("a cache follows a server whose versions went back", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("kept", { x: "1" }));
  const backup = cluster.snapshot();
  cluster.patch(configMap("kept"), { data: { x: "2" } });
  cluster.create(configMap("lost"));
  for (let i = 0; i < 10; i++) cluster.patch(configMap("lost"), { data: { x: `${i}` } });
  await using started = startCache(cluster);
  await started.cache.synced;
  cluster.stop();
  await pass(time, 5000);
  cluster.restore(backup);
  cluster.start();
  await until(time, () => started.cache.get("default/lost") === undefined, { within: 2000 });
  assertEquals(started.cache.get("default/kept")?.data, { x: "1" });
  cluster.patch(configMap("kept"), { data: { x: "3" } });
  await settle();
  assertEquals(started.cache.get("default/kept")?.data, { x: "3" });
});

Deno.test("a cache lists again if the server says that a version is from the future", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  await started.cache.synced;
  await pass(time, 3000);
  cluster.failNext(WATCHES, 504, { reason: "Timeout", message: "Too large resource version: 9, current: 7" });
  cluster.closeWatches();
  cluster.create(configMap("a"));
  await until(time, () => started.cache.size === 1, { within: 1000 });
});

Deno.test("a cache waits for its kind, and follows a kind that is deleted and defined again", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster, {}, "Website");
  await pass(time, 600_000, 1000);
  assertEquals(started.errors, ["The server doesn't know Website of example.dev/v1"]);
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "websites.example.dev" },
    spec: {
      group: "example.dev",
      names: { kind: "Website", plural: "websites" },
      scope: "Cluster",
      versions: [{ name: "v1", served: true, storage: true }],
    },
  };
  cluster.create(definition);
  await settle();
  const website = { apiVersion: "example.dev/v1", kind: "Website", metadata: { name: "a" } };
  cluster.create(website);
  await until(time, () => started.cache.size === 1, { within: 5500 });
  assertEquals(started.cache.isNamespaced, false);
  cluster.delete(definition);
  await pass(time, 10_000);
  cluster.create(definition);
  await settle();
  cluster.create({ ...website, metadata: { name: "b" } });
  await until(time, () => started.cache.get("b") !== undefined, { within: 12_000 });
  assertEquals(started.cache.size, cluster.list("example.dev/v1", "Website").length);
});

Deno.test("a cache reports which permission is missing, and continues when it is granted", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const allow = cluster.denyAccess("watch", "configmaps");
  await using started = startCache(cluster, { namespaces: ["default"] });
  await pass(time, 1000);
  assertStringIncludes(
    started.cache.denial!.message,
    'cannot watch resource "configmaps" in API group "" in the namespace "default"',
  );
  assertStringIncludes(started.errors[0]!, "403 Forbidden");
  allow();
  await until(time, () => started.cache.denial === undefined, { within: 10_000 });
  await started.cache.synced;
});

Deno.test("several namespaces are several lists in one cache", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const inSystem = (name: string) => ({ ...configMap(name), metadata: { name, namespace: "kube-system" } });
  cluster.create(configMap("a"));
  cluster.create(inSystem("a"));
  cluster.create({ ...configMap("a"), metadata: { name: "a", namespace: "kube-public" } });
  await using started = startCache(cluster, { namespaces: ["default", "kube-system"] });
  await started.cache.synced;
  assertEquals(started.cache.list().map(({ metadata: { namespace } }) => namespace).toSorted(), [
    "default",
    "kube-system",
  ]);
  cluster.expireWatches();
  cluster.delete(inSystem("a"));
  await until(time, () => started.cache.size === 1);
  assertEquals(started.told.slice(2), ["delete kube-system/a"]);
});

Deno.test("a cache reports every object again from time to time", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  await using started = startCache(cluster, { resync: "10m" });
  await started.cache.synced;
  await pass(time, 539_000, 1000);
  assertEquals(started.told, ["add default/a"]);
  await pass(time, 122_000, 1000);
  assertEquals(started.told, ["add default/a", "resync default/a"]);
});

Deno.test("namespaces of a kind without namespaces are an error", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster, { namespaces: ["default"] }, "Namespace");
  await pass(time, 60_000, 1000);
  assertStringIncludes(started.errors[0]!, "the kind has no namespaces, so 'namespaces' can't be set");
  assertEquals([started.cache.isSynced, started.cache.size, started.errors.length < 20], [false, 0, true]);
});

Deno.test("a cache asks for credentials that can't be got at most every five to ten seconds", async () => {
  using time = new FakeTime();
  const { transport } = fakeCluster();
  let asked = 0;
  const headers = () => {
    asked++;
    throw new Error("the login has expired");
  };
  const client = new Client({ transport, headers });
  await using started = startCache({ client } as FakeCluster);
  await pass(time, 600_000, 1000);
  assertEquals(asked < 150, true, `${asked} times in ten minutes`);
  assertEquals(started.errors[0], "the login has expired");
});

Deno.test("after its client was closed, a cache retries slowly", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  await started.cache.synced;
  cluster.stop();
  await pass(time, 2000);
  cluster.client.close();
  const before = cluster.requests.length;
  await pass(time, 60_000, 1000);
  assertEquals(cluster.requests.length - before < 150, true, `${cluster.requests.length - before} requests`);
});
