/** Tests of `apply`: when it sends nothing, owners, and what it sends. */

import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiError } from "@workqueue/kubernetes";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import { withoutOldOwner } from "../../../packages/kubernetes/cache/owner.ts";
import { settle } from "../fake_time.ts";
import { configMap, startCache } from "./started_cache.ts";

const PATCHES = { verb: "patch", resource: "configmaps" } as const;
const reference = (name: string, uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid, controller: true });
const wanted = (name: string, data = {}) => ({ metadata: { namespace: "default", name }, data });

Deno.test("applying the same value twice sends one request, until another program changes the object", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  const applied = await cache.apply(wanted("a", { x: "1" }));
  await settle();
  assertEquals(await cache.apply(wanted("a", { x: "1" })), applied);
  assertEquals(cluster.count(PATCHES), 1);

  await cache.apply(wanted("a", { y: "1" })); // the field x is removed: this manager had set it
  assertEquals(cluster.get("v1", "ConfigMap", "default/a")?.["data"], { y: "1" });
  assertEquals(cluster.count(PATCHES), 2);

  cluster.patch(configMap("a"), { data: { y: "other", z: "other" } });
  await settle();
  await cache.apply(wanted("a", { y: "1" }));
  assertEquals(cluster.get("v1", "ConfigMap", "default/a")?.["data"], { y: "1", z: "other" });
  assertEquals(cluster.count(PATCHES), 3);

  cluster.delete(configMap("a"));
  await settle();
  await cache.apply(wanted("a", { y: "1" }));
  assertEquals(cluster.count(PATCHES), 4);
  assertEquals(cache.size, 1);
});

Deno.test("a new process sends nothing for a value that an earlier one applied, unless another program changed it", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  const owner = cluster.create(configMap("owner"));
  const names = ["same", "added", "changed", "taken", "shared"];
  const apply = async () => {
    await using started = startCache(cluster);
    await started.cache.synced;
    const before = cluster.count(PATCHES);
    for (const name of names) await started.cache.apply(wanted(name, { x: "1", y: "2" }), { owner });
    return cluster.count(PATCHES) - before;
  };
  assertEquals(await apply(), 5);
  assertEquals(await apply(), 0);
  cluster.patch(configMap("added"), { data: { z: "3" }, metadata: { labels: { z: "3" } } });
  cluster.patch(configMap("changed"), { data: { y: "other" } });
  cluster.apply({ ...configMap("taken"), data: { y: "other" } }, { manager: "other" });
  cluster.apply({ ...configMap("shared"), data: { y: "2" } }, { manager: "other" });
  assertEquals(await apply(), 2);
  for (const name of ["changed", "taken"]) {
    assertEquals(cluster.get("v1", "ConfigMap", `default/${name}`)?.["data"], { x: "1", y: "2" });
  }
  assertEquals(await apply(), 0);
});

Deno.test("the reference to an owner that was created again replaces the old one, also outside of the cache", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  const owner = () => cluster.create({ ...configMap("owner"), metadata: { namespace: "default", name: "owner" } });
  const old = owner();
  await using started = startCache(cluster, { labelSelector: "none=such" });
  const { cache } = started;
  await cache.synced;
  const keep = { ...reference("keep", cluster.create(configMap("keep")).metadata.uid!), controller: false };
  cluster.create({ ...configMap("a"), metadata: { namespace: "default", name: "a", ownerReferences: [keep] } });
  await cache.apply(wanted("a"), { owner: old });
  cluster.delete(old, { propagationPolicy: "Orphan" });
  await settle();
  cluster.patch(configMap("a"), {
    metadata: { ownerReferences: [keep, { ...reference("owner", old.metadata.uid!), blockOwnerDeletion: true }] },
  });
  const again = owner();
  const { metadata } = await cache.apply(wanted("a"), { owner: again });
  assertEquals(metadata.ownerReferences?.map(({ uid }) => uid), [keep.uid, again.metadata.uid]);
});

Deno.test("without force, applying a field that another manager has set fails with a conflict", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.apply(configMap("a", { x: "other" }), { manager: "other" });
  await using started = startCache(cluster);
  await started.cache.synced;
  await assertRejects(() => started.cache.apply(wanted("a", { x: "1" }), { force: false }), ApiError, "409");
  await started.cache.apply(wanted("a", { x: "1" }));
  assertEquals(started.cache.get("default/a")?.data, { x: "1" });
});

Deno.test("an applied object has its owner, and is deleted with it", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  const owner = cluster.create(configMap("owner"));
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  await cache.apply(wanted("a"), { owner });
  assertEquals(cache.get("default/a")?.metadata.ownerReferences, [
    { ...reference("owner", owner.metadata.uid!), blockOwnerDeletion: true },
  ]);
  cluster.delete(configMap("owner"));
  await settle();
  assertEquals(cache.size, 0);
});

Deno.test("a reference to an owner that was deleted and created again is removed first, and no other", () => {
  const other = { ...reference("other", "3"), controller: false };
  const owned = (uid: string) => ({ metadata: { name: "a", ownerReferences: [other, reference("owner", uid)] } });
  const body = { metadata: { name: "a", ownerReferences: [reference("owner", "2")] } };
  assertEquals(withoutOldOwner(owned("1"), body), [other]);
  assertEquals(withoutOldOwner(owned("2"), body), undefined);
  assertEquals(withoutOldOwner({ metadata: { ownerReferences: [reference("second", "1")] } }, body), undefined);
  assertEquals(withoutOldOwner(owned("1"), { metadata: { name: "a" } }), undefined);
});

Deno.test("an owner must exist, and be in the same namespace", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  await assertRejects(
    () => cache.apply(wanted("a"), { owner: configMap("b") }),
    TypeError,
    "uid of an existing object",
  );
  const metadata = { namespace: "kube-system", name: "b" };
  const owner = cluster.create({ ...configMap("b"), metadata });
  await assertRejects(() => cache.apply(wanted("a"), { owner }), TypeError, 'another namespace, "kube-system"');
  const nowhere = { metadata: { name: "a" } };
  await assertRejects(() => cache.apply(nowhere, { owner }), TypeError, 'set metadata.namespace of "a"');
  await assertRejects(() => cache.apply({ metadata: { name: "a" } }), TypeError, "needs a namespace");
});

Deno.test("an object that another owner controls is refused, and left as it is", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  const [one, two] = [cluster.create(configMap("one")), cluster.create(configMap("two"))];
  await using started = startCache(cluster);
  const { cache } = started;
  await cache.synced;
  await cache.apply(wanted("a", { x: "1" }), { owner: one });
  await settle();
  await assertRejects(
    () => cache.apply(wanted("a", { x: "2" }), { owner: two }),
    Error,
    'Cannot apply object: ConfigMap "one" controls "default/a" already',
  );
  const found = cluster.get("v1", "ConfigMap", "default/a");
  assertEquals([found?.["data"], found?.metadata.ownerReferences?.map(({ name }) => name)], [{ x: "1" }, ["one"]]);
});
