/** Tests of answers to own writes: they are in the cache at once, and never bring back older or deleted objects. */

import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiError } from "@workqueue/kubernetes";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import { attempts } from "../../../packages/kubernetes/cache/change.ts";
import { pass, settle, until } from "../fake_time.ts";
import { configMap, startCache } from "./started_cache.ts";

const wanted = (name: string, data = {}) => ({ metadata: { namespace: "default", name }, data });
const attempt = { controller: {}, key: "default/a", signal: new AbortController().signal, check: undefined };

Deno.test("the answer to a write is in the cache when the write resolves, and is reported once", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  const { cache, told } = started;
  await cache.synced;
  const created = await cache.create(wanted("a", { x: "1" }));
  assertEquals(cache.get("default/a"), created);
  const patched = await cache.patch(created, { data: { x: "2" } });
  assertEquals(cache.get("default/a")?.data, { x: "2" });
  await settle();
  assertEquals(cache.get("default/a"), patched);
  const { metadata: { name } } = await cache.create({ metadata: { namespace: "default", generateName: "b-" } });
  assertEquals(cache.get(`default/${name}`)?.metadata.name, name);
  await cache.delete("default/a");
  assertEquals(cache.get("default/a"), undefined);
  await settle();
  assertEquals(told, ["add default/a", "update default/a", `add default/${name}`, "delete default/a"]);
});

Deno.test("an object that another program deleted during a write is not brought back by the answer", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster({ latency: 1000 });
  cluster.create(configMap("a"));
  await using started = startCache(cluster);
  const { cache } = started;
  await until(time, () => cluster.count({ verb: "watch" }) === 2);
  await pass(time, 1000);
  const patched = cache.patch(cache.get("default/a")!, { data: { x: "1" } });
  await settle();
  cluster.delete(configMap("a"));
  await until(time, () => cache.size === 0, { within: 900 });
  time.tick(1000);
  assertEquals((await patched).data, { x: "1" });
  await settle();
  assertEquals(cache.size, 0);
});

Deno.test("an object that this process deleted is not brought back by a watch that is late", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  const { cache, told } = started;
  await cache.synced;
  cluster.failNext({ verb: "watch" }, 503, { times: 20 });
  cluster.closeWatches();
  await settle();
  await cache.create(wanted("a"));
  cluster.patch(configMap("a"), { data: { x: "1" } });
  await cache.delete("default/a");
  assertEquals(cache.size, 0);
  await until(time, () => cluster.requests.filter(({ verb, code }) => verb === "watch" && code === 200).length === 2, {
    within: 30_000,
  });
  cluster.create(configMap("b"));
  await until(time, () => cache.size === 1);
  assertEquals(told, ["add default/a", "delete default/a", "add default/b"]);
});

Deno.test("a list replaces everything except newer answers that came after it began", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  for (const name of ["old", "removed"]) cluster.create(configMap(name));
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  await settle();
  const stale = cache.get("default/old")!;
  cluster.expireWatches();
  cluster.delete(configMap("old"));
  cluster.failNext({ verb: "watch" }, 422);
  // The list is answered before the writes reach the server, and arrives after their answers.
  const { transport } = cluster;
  const send = transport.send.bind(transport);
  let deliver!: () => void;
  transport.send = async (request) => {
    const response = await send(request);
    if (request.path.includes("limit=500")) await new Promise<void>((resolve) => deliver = resolve);
    return response;
  };
  await until(time, () => deliver !== undefined);
  const created = await cache.create(wanted("new"));
  await cache.delete("default/removed");
  assertEquals(cache.get("default/old"), stale);
  deliver();
  await settle();
  assertEquals(cache.list(), [created]);
});

Deno.test("an object that was deleted and created again is reported as deleted and added", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", { x: "1" }));
  await using started = startCache(cluster);
  await started.cache.synced;
  cluster.delete(configMap("a"));
  cluster.create(configMap("a", { x: "2" }));
  await settle();
  assertEquals(started.told, ["add default/a", "delete default/a", "add default/a"]);
  assertEquals(started.cache.get("default/a")?.data, { x: "2" });
});

Deno.test("a conflict puts the newer object into the cache", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", { x: "1" }));
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  const stale = cache.get("default/a")!;
  cluster.failNext({ verb: "watch" }, 503, { times: 100 });
  cluster.closeWatches();
  cluster.patch(configMap("a"), { data: { x: "2" } });
  await settle();
  const error = await assertRejects(() => cache.patch(stale, { data: { y: "3" } }), ApiError);
  assertEquals(error.reason, "Conflict");
  assertEquals(cache.get("default/a")?.data, { x: "2" });
  await cache.patch(cache.get("default/a")!, { data: { y: "3" } });
  assertEquals(cache.get("default/a")?.data, { x: "2", y: "3" });
});

Deno.test("a write to an object that is gone removes it from the cache, but not if only its status part is missing", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  for (const name of ["gone", "left"]) cluster.create(configMap(name));
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  const [gone, left] = [cache.get("default/gone")!, cache.get("default/left")!];
  cluster.failNext({ verb: "watch" }, 503, { times: 100 });
  cluster.closeWatches();
  cluster.delete(configMap("gone"));
  await settle();
  await assertRejects(() => cache.patch(gone, { data: { x: "1" } }), ApiError, "404");
  await assertRejects(() => cache.patch(left, { data: { x: "1" } }, { subresource: "status" }), ApiError, "404");
  assertEquals(cache.list().map(({ metadata: { name } }) => name), ["left"]);
});

Deno.test("deleting an object sends its uid, and deleting an object that is gone succeeds", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  const old = cache.get("default/a")!;
  cluster.delete(configMap("a"));
  cluster.create(configMap("a", { x: "new" }));
  await assertRejects(() => cache.delete(old), ApiError, "409");
  await settle();
  assertEquals(cluster.get("v1", "ConfigMap", "default/a")?.["data"], { x: "new" });
  await cache.delete(cache.get("default/a")!);
  await cache.delete("default/a");
  assertEquals([cache.size, cluster.list("v1", "ConfigMap", { namespace: "default" }).length], [0, 0]);
});

Deno.test("an object whose deletion waits for a finalizer stays in the cache until the server has deleted it", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create({ ...configMap("a"), metadata: { namespace: "default", name: "a", finalizers: ["example.dev/x"] } });
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  await cache.delete(cache.get("default/a")!);
  const deleted = cache.get("default/a");
  assertEquals(typeof deleted?.metadata.deletionTimestamp, "string");
  await cache.patch(deleted!, { metadata: { finalizers: null } });
  assertEquals(cache.size, 0);
});

Deno.test("answers and live reads of objects that the selectors don't select stay out of the cache", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", {}, { app: "shop" }));
  cluster.create(configMap("other", {}, { app: "blog" }));
  await using started = startCache(cluster, { labelSelector: "app in (shop, cart),!hidden" });
  const { cache } = started;
  await cache.synced;
  await cache.create(wanted("b"));
  assertEquals((await cache.fetch("default/other"))?.metadata.labels, { app: "blog" });
  assertEquals(cache.list().length, 1);
  await cache.patch(cache.get("default/a")!, { metadata: { labels: { hidden: "yes" } } });
  assertEquals(cache.list(), []);
});

Deno.test("an object that is created or applied, and that the cache doesn't select, is reported each time", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  const options = { labelSelector: "app=shop", fieldSelector: "metadata.name!=b", namespaces: ["default"] };
  await using started = startCache(cluster, options);
  const { cache, errors } = started;
  await cache.synced;
  const labels = { app: "shop" };
  // The server may select `b` later, after a change of its fields.
  for (const name of ["a", "b"]) await cache.apply({ metadata: { namespace: "default", name, labels } });
  await cache.patch(cache.get("default/a")!, { metadata: { labels: { app: null } } } as never);
  assertEquals(errors, []);
  await cache.create(wanted("c"));
  for (let i = 0; i < 2; i++) await cache.apply(wanted("d"));
  await cache.apply({ metadata: { namespace: "kube-system", name: "e", labels } });
  const reason = "but the cache doesn't hold it, so its changes go unseen: " +
    "the 'labelSelector' or the 'namespaces' of the cache don't select it";
  assertEquals(errors, [
    `"default/c" was created, ${reason}`,
    `"default/d" was applied, ${reason}`,
    `"default/d" was applied, ${reason}`,
    `"kube-system/e" was applied, ${reason}`,
  ]);
});

Deno.test("a change says which attempt made it, also if the watch was faster than the answer", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster({ latency: 100 });
  cluster.create(configMap("a"));
  await using started = startCache(cluster);
  const { cache, changes } = started;
  await until(time, () => cluster.count({ verb: "watch" }) === 2);
  await pass(time, 100);
  changes.length = 0;
  const patched = attempts.run(attempt, () => cache.patch(cache.get("default/a")!, { data: { x: "own" } }));
  await settle();
  assertEquals(changes.map(({ author }) => author), [attempt]); // told by the watch
  time.tick(100);
  await patched;
  assertEquals(changes.length, 1);
});

Deno.test("a change by another program during a write of an attempt is reported as such when the write has ended", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster({ latency: 100 });
  cluster.create(configMap("a"));
  await using started = startCache(cluster);
  const { cache, changes } = started;
  await until(time, () => cluster.count({ verb: "watch" }) === 2);
  await pass(time, 100);
  changes.length = 0;
  const patched = attempts.run(attempt, () => cache.patch(cache.get("default/a")!, { data: { x: "own" } }));
  await settle();
  cluster.patch(configMap("a"), { data: { y: "other" } });
  await settle();
  time.tick(100);
  await patched;
  assertEquals(changes.map(({ object, author }) => [Object.keys(object.data ?? {}), author === attempt]), [
    [["x"], true],
    [["x", "y"], true],
    [["x", "y"], false],
  ]);
});

Deno.test("a change of the scale is in the cache as a change of the object", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.dev" },
    spec: {
      group: "example.dev",
      names: { kind: "Widget", plural: "widgets" },
      scope: "Namespaced",
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
      }],
    },
  });
  await settle();
  const spec = { color: "red", replicas: 1 };
  cluster.create({ apiVersion: "example.dev/v1", kind: "Widget", metadata: { namespace: "default", name: "a" }, spec });
  await using started = startCache(cluster, {}, "Widget");
  const { cache, changes } = started;
  await cache.synced;
  changes.length = 0;
  const changed = await attempts.run(
    attempt,
    () => cache.patch(cache.get("default/a")!, { spec: { replicas: 5 } } as never, { subresource: "scale" }),
  );
  await settle();
  assertEquals([changed.kind, (changed as unknown as { spec: unknown }).spec], ["Widget", {
    color: "red",
    replicas: 5,
  }]);
  assertEquals(cache.get("default/a"), changed);
  assertEquals(changes.map(({ type, author }) => [type, author]), [["update", attempt]]);
});

Deno.test("a namespace stays in the cache until the server has emptied it", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const held = { namespace: "shop", name: "held", finalizers: ["example.dev/tests"] };
  cluster.create({ ...configMap("held"), metadata: held });
  await using started = startCache(cluster, {}, "Namespace");
  const { cache } = started;
  await cache.synced;
  await cache.delete("shop");
  assertEquals(typeof cache.get("shop")?.metadata.deletionTimestamp, "string");
  cluster.patch({ ...configMap("held"), metadata: held }, { metadata: { finalizers: null } });
  await until(time, () => cache.get("shop") === undefined);
});

Deno.test("an object that a write takes out of the selection is not brought back by a watch that is late", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", {}, { app: "shop" }));
  await using started = startCache(cluster, { labelSelector: "app=shop" });
  const { cache, told } = started;
  await cache.synced;
  cluster.failNext({ verb: "watch" }, 503, { times: 3 });
  cluster.closeWatches();
  await settle();
  const changed = await cache.patch(cache.get("default/a")!, { data: { x: "1" } });
  await cache.patch(changed, { metadata: { labels: { app: null } } } as never);
  await pass(time, 10_000);
  assertEquals(told, ["add default/a", "update default/a", "delete default/a"]);
  cluster.patch(configMap("a"), { metadata: { labels: { app: "shop" } } });
  await settle();
  assertEquals(cache.get("default/a")?.data, { x: "1" });
});

Deno.test("a write needs a name and, for a kind with namespaces, a namespace", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  await settle();
  const sent = cluster.requests.length;
  await assertRejects(() => cache.delete("default/"), TypeError, "its name is missing");
  await assertRejects(() => cache.delete("/a"), TypeError, "needs a namespace");
  await assertRejects(() => cache.apply({ metadata: { namespace: "default" } }), TypeError, "its name is missing");
  assertEquals(cluster.requests.length, sent);
});
