/** Tests of reading a cache: indexes, transforms, and errors of functions of the program. */

import { assertEquals, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import { isNewer } from "../../../packages/kubernetes/cache/versions.ts";
import { fieldTerms, fieldTest, labelTest } from "../../../packages/kubernetes/cache/selectors.ts";
import { settle } from "../fake_time.ts";
import { type ConfigMap, configMap, startCache } from "./started_cache.ts";

Deno.test("an index finds objects by the values of a function, as they change", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", { tags: "x y" }));
  cluster.create(configMap("b", { tags: "y" }));
  const indexes = { tag: ({ data }: { data?: Readonly<Record<string, string>> }) => data?.["tags"]?.split(" ") ?? [] };
  await using started = startCache(cluster, { indexes });
  const { cache } = started;
  const names = (tag: string) => cache.byIndex("tag", tag).map(({ metadata: { name } }) => name).toSorted();
  await cache.synced;
  assertEquals([names("x"), names("y"), names("z")], [["a"], ["a", "b"], []]);
  cluster.patch(configMap("a"), { data: { tags: "z" } });
  cluster.delete(configMap("b"));
  await settle();
  assertEquals([names("x"), names("y"), names("z")], [[], [], ["a"]]);
  assertThrows(() => cache.byIndex("color", "red"), TypeError, 'it has no index "color"');
});

Deno.test("objects are cached as the transform returns them, without managed fields", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.apply(configMap("a", { x: "1", large: "2" }));
  await using started = startCache(cluster, {
    transform: (object) => ({ ...object, data: { x: object.data!["x"]! } }),
  });
  await started.cache.synced;
  const found = started.cache.get("default/a")!;
  assertEquals(found.data, { x: "1" });
  assertEquals("managedFields" in found.metadata, false);
});

Deno.test("objects that are not in the cache are transformed, too", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", { x: "1", large: "2" }));
  await using started = startCache(cluster, {
    labelSelector: "app=shop",
    transform: (object) => ({ ...object, data: { x: object.data!["x"]! } }),
  });
  await started.cache.synced;
  assertEquals((await started.cache.fetch("default/a"))?.data, { x: "1" });
  const wanted = { metadata: { namespace: "default", name: "b" }, data: { x: "1", large: "2" } };
  assertEquals((await started.cache.create(wanted)).data, { x: "1" });
});

Deno.test("a transform that drops metadata is reported, and the cache follows the whole object", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", { x: "1" }));
  const transform = ({ data, metadata: { namespace, name } }: ConfigMap) =>
    ({ data, metadata: { namespace, name } }) as unknown as ConfigMap;
  await using started = startCache(cluster, { transform });
  await started.cache.synced;
  cluster.patch(configMap("a"), { data: { x: "2" } });
  await settle();
  assertEquals(started.cache.get("default/a")?.data, { x: "2" });
  assertEquals(started.errors[0], "Cannot transform object: the result lacks metadata.uid");
});

for (const code of [undefined, 422]) {
  const source = code === undefined ? "by a watch" : "in pages";
  Deno.test(`in the cluster for tests, nobody can change objects of a cache that lists ${source}`, async () => {
    using _time = new FakeTime();
    const cluster = fakeCluster();
    cluster.create(configMap("a", { x: "1" }));
    if (code !== undefined) cluster.failNext({ verb: "watch" }, code);
    await using started = startCache(cluster);
    await started.cache.synced;
    const created = await started.cache.create({ metadata: { namespace: "default", name: "b" }, data: { x: "1" } });
    for (const object of [started.cache.get("default/a"), created] as unknown as Record<string, { x: string }>[]) {
      for (const part of [object, object["metadata"]!, object["data"]!]) assertThrows(() => part["x"] = "2", TypeError);
    }
  });
}

Deno.test("errors of the program's functions are reported, and the objects are in the cache", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  const fail = () => {
    throw new Error("a bug");
  };
  await using started = startCache(cluster, {
    transform: fail,
    indexes: { tag: fail, none: () => undefined as never },
  });
  started.cache.subscribe(fail);
  await started.cache.synced;
  cluster.delete(configMap("a"));
  await settle();
  assertEquals(started.told, ["add default/a", "delete default/a"]);
  assertEquals(started.errors.filter((message) => message === "a bug").length, 6);
  assertEquals(started.errors.filter((message) => message !== "a bug").length, 2); // one for each change of the index
});

Deno.test("versions are compared as numbers of any length", () => {
  assertEquals(isNewer("10", "9"), true);
  assertEquals(isNewer("9", "10"), false);
  assertEquals(isNewer("9007199254740993", "9007199254740992"), true);
  assertEquals(isNewer("7", "7"), false);
  assertEquals([isNewer("x", "7"), isNewer("x", "x"), isNewer("7", undefined)], [true, false, true]);
});

Deno.test("selectors select as the server does", () => {
  const labels = { app: "shop", tier: "web" };
  const selected = {
    "": true,
    "app": true,
    "!app": false,
    "app=shop": true,
    "app==shop,tier!=web": false,
    "app in (cart, shop)": true,
    "app in (cart,shop),tier notin (db)": true,
    "color notin (red)": true,
    "color!=red": true,
    "color in (red)": false,
    "app= shop , !color": true,
  };
  for (const [selector, expected] of Object.entries(selected)) {
    assertEquals(labelTest(selector)(labels), expected, selector);
  }
  const pod = { metadata: { name: "a" }, status: { phase: "Running" } };
  assertEquals(fieldTest(fieldTerms("metadata.name=a,status.phase!=Failed"))(pod), true);
  assertEquals(fieldTest(fieldTerms("spec.nodeName="))(pod), true);
  assertEquals(fieldTest(fieldTerms("spec.nodeName=b"))(pod), false);
  const node = { apiVersion: "v1", metadata: { name: "a" }, spec: {} };
  assertEquals(fieldTest(fieldTerms("spec.unschedulable=false,spec.count!=0"))(node), false);
  assertEquals(fieldTest(fieldTerms("spec.unschedulable=false,spec.unschedulable!=true"))(node), true);
  assertEquals(fieldTest(fieldTerms("spec.paused=false"))({ ...node, apiVersion: "example.dev/v1" }), false);
});
