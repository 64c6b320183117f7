/** Tests of finalizers: added first, removed last, and not forgotten if a label is removed. */

import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import { type ConfigMap, configMap } from "../cache/started_cache.ts";
import { pass, settle } from "../fake_time.ts";
import { startManager } from "./started_manager.ts";

const FINALIZER = "example.dev/tests";
const held = (name: string, finalizers: string[], labels = {}) => ({
  ...configMap(name),
  metadata: { namespace: "default", name, finalizers, labels },
});
const finalizersOf = (object: ConfigMap | undefined) => object?.metadata.finalizers;

Deno.test("a finalizer is added before the first attempt and removed after the cleanup, and other finalizers stay", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  const read = () => cluster.get<ConfigMap>("v1", "ConfigMap", "default/a");
  cluster.create(held("a", ["example.dev/other"]));
  const events: string[] = [];
  await using _started = startManager(cluster, {
    finalizer: FINALIZER,
    cleanup: () => Promise.resolve(void events.push(`cleanup ${finalizersOf(read())}`)),
    reconcile: () => Promise.resolve(void events.push(`reconcile ${finalizersOf(read())}`)),
  });
  await settle();
  assertEquals(events[0], `reconcile example.dev/other,${FINALIZER}`);
  events.length = 0;
  cluster.delete(configMap("a"));
  await settle();
  assertEquals(events, [`cleanup example.dev/other,${FINALIZER}`]);
  assertEquals(finalizersOf(read()), ["example.dev/other"]);
  cluster.patch(configMap("a"), { metadata: { finalizers: null } });
  await settle();
  assertEquals(events.length, 1);
});

Deno.test("a cleanup that fails is repeated, and the object stays", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(held("a", [FINALIZER]));
  cluster.delete(configMap("a"));
  let cleanups = 0;
  await using _started = startManager(cluster, {
    finalizer: FINALIZER,
    async cleanup() {
      await Promise.resolve();
      if (++cleanups < 3) throw new Error("not yet");
    },
  });
  await pass(time, 1000, 5);
  assertEquals(cleanups, 3);
  assertEquals(cluster.get("v1", "ConfigMap", "default/a"), undefined);
});

Deno.test("objects that are being deleted are not reconciled, and a deletion sends no reads", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(held("a", ["example.dev/other"]));
  cluster.delete(configMap("a"));
  cluster.create(held("b", [FINALIZER], { app: "shop" }));
  let attempts = 0;
  await using _started = startManager(
    cluster,
    { finalizer: FINALIZER, cleanup: async () => {}, reconcile: () => Promise.resolve(void attempts++) },
    {},
    { labelSelector: "app=shop" },
  );
  await settle();
  cluster.delete(configMap("b"));
  await settle();
  assertEquals(attempts, 1); // at b
  assertEquals(cluster.requests.filter(({ verb, name }) => verb === "get" && name).length, 0);
  assertEquals(cluster.get("v1", "ConfigMap", "default/b"), undefined);
});

Deno.test("if the label of an object is removed, its cleanup is done, and its finalizer removed", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", {}, { app: "shop" }));
  let cleanups = 0;
  await using started = startManager(
    cluster,
    { finalizer: FINALIZER, cleanup: () => Promise.resolve(void cleanups++) },
    {},
    { labelSelector: "app=shop" },
  );
  await settle();
  assertEquals(finalizersOf(cluster.get("v1", "ConfigMap", "default/a")), [FINALIZER]);
  cluster.patch(configMap("a"), { metadata: { labels: { app: null } } });
  await settle();
  assertEquals(cleanups, 1);
  assertEquals(finalizersOf(cluster.get("v1", "ConfigMap", "default/a")), undefined);
  assertEquals(started.configMaps.size, 0);
});

Deno.test("an object that has its label again is not cleaned up, even if the watch is late", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const object = configMap("a", {}, { app: "shop" });
  cluster.create(object);
  const done: string[] = [];
  await using _started = startManager(
    cluster,
    {
      finalizer: FINALIZER,
      cleanup: () => Promise.resolve(void done.push("cleanup")),
      reconcile: () => Promise.resolve(void done.push("reconcile")),
    },
    {},
    { labelSelector: "app=shop" },
  );
  await settle();
  done.length = 0;
  cluster.failNext({ verb: "get", resource: "configmaps" }, 500);
  cluster.patch(object, { metadata: { labels: { app: null } } });
  await settle();
  cluster.failNext({ verb: "watch" }, 503, { times: 10 });
  cluster.closeWatches();
  cluster.patch(object, { metadata: { labels: { app: "shop" } } });
  await pass(time, 100, 5);
  assertEquals(new Set(done), new Set(["reconcile"]));
  assertEquals(finalizersOf(cluster.get("v1", "ConfigMap", "default/a")), [FINALIZER]);
});
