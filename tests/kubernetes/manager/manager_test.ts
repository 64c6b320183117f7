/** Tests of a manager's run: the start, permissions, health, and the end. */

import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiError, Manager } from "@workqueue/kubernetes";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import process from "node:process";
import { configMap } from "../cache/started_cache.ts";
import { pass, settle, until } from "../fake_time.ts";
import { answerOf } from "../../../packages/kubernetes/manager/health.ts";
import { startManager } from "./started_manager.ts";

Deno.test("no attempt begins before all caches are synced", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  let attempts = 0;
  cluster.failNext({ verb: "watch", resource: "secrets" }, 503, { times: 3 });
  await using started = startManager(cluster, { reconcile: () => Promise.resolve(void attempts++) });
  await settle();
  assertEquals([started.configMaps.size, attempts], [1, 0]);
  await until(time, () => attempts === 1);
});

Deno.test("run rejects if a permission for a first list is missing for two minutes", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.denyAccess("watch", "secrets");
  await using started = startManager(cluster, {});
  const rejected = assertRejects(
    () => started.ended,
    Error,
    'cannot watch resource "secrets" in API group "" in the namespace "default"',
  );
  await pass(time, 119_000, 1000);
  assertEquals(started.errors.length > 0, true);
  await pass(time, 3000, 1000);
  await rejected;
});

for (const verb of ["get", "create"] as const) {
  Deno.test(`run rejects if the permission to ${verb} leases is missing for two minutes, and continues if it is granted`, async () => {
    using time = new FakeTime();
    const cluster = fakeCluster();
    cluster.create(configMap("a"));
    const allow = cluster.denyAccess(verb, "leases");
    const attempts: string[] = [];
    const reconcile = ({ metadata }: { readonly metadata: { readonly name?: string | undefined } }) =>
      Promise.resolve(void attempts.push(metadata.name!));
    const lease = { name: "leader", namespace: "default" };
    await using denied = startManager(cluster, { reconcile }, { lease });
    const rejected = assertRejects(() => denied.ended, ApiError, `cannot ${verb} resource "leases"`);
    await pass(time, 119_000, 1000);
    assertStringIncludes(denied.errors.at(-1)!, "lease: ");
    await pass(time, 5000, 1000);
    await rejected;
    await using granted = startManager(cluster, { reconcile }, { lease });
    await pass(time, 115_000, 1000); // a lease is tried again every 2 to 2.4 s
    assertEquals(attempts, []);
    allow();
    await pass(time, 5000, 1000);
    assertEquals(attempts, ["a"]);
    await granted.stop();
  });
}

Deno.test("run waits longer for a kind that isn't defined, and continues if a permission is granted in time", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const allow = cluster.denyAccess("watch", "secrets");
  await using started = startManager(cluster, {});
  let isEnded = false;
  started.ended.finally(() => isEnded = true).catch(() => {});
  await pass(time, 100_000, 1000);
  allow();
  await pass(time, 100_000, 1000);
  assertEquals(isEnded, false);
  await started.secrets.synced;
});

Deno.test("the end doesn't wait for a backlog, and lets running attempts end", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  for (let i = 0; i < 100; i++) cluster.create(configMap(`${i}`));
  let [began, ended] = [0, 0];
  await using started = startManager(cluster, {
    async reconcile() {
      began++;
      await new Promise((resolve) => setTimeout(resolve, 200));
      ended++;
    },
  });
  await settle();
  let isStopped = false;
  started.stop().then(() => isStopped = true);
  assertEquals(await until(time, () => isStopped, { within: 500, step: 10 }), 200);
  assertEquals([began, ended], [5, 5]);
});

Deno.test("after shutdownGrace, the signals of running attempts abort", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  await using started = startManager(cluster, {
    reconcile: (_object, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  }, { shutdownGrace: "5s" });
  await settle();
  let isStopped = false;
  started.stop().then(() => isStopped = true);
  await pass(time, 4900);
  assertEquals(isStopped, false);
  await pass(time, 200);
  assertEquals(isStopped, true);
});

Deno.test("attempts that ignore their signals are reported while they keep the manager from ending", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  await using started = startManager(cluster, {
    reconcile: () => new Promise((resolve) => setTimeout(resolve, 60_000)),
  }, { shutdownGrace: "5s" });
  await settle();
  let isStopped = false;
  started.stop().then(() => isStopped = true);
  await pass(time, 9900);
  assertEquals(started.errors, []);
  await pass(time, 200);
  assertEquals(started.errors, ["configmap: The manager can't stop: attempts ignore their signals: default/a"]);
  await pass(time, 50_000);
  assertEquals(isStopped, true);
});

Deno.test("SIGTERM ends a run, and then the process has no listener for it", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  const before = process.listeners("SIGTERM");
  await using started = startManager(cluster, {});
  await settle();
  const [listener, ...others] = process.listeners("SIGTERM").filter((one) => !before.includes(one));
  assertEquals(others, []);
  listener!("SIGTERM");
  await started.ended;
  assertEquals(process.listeners("SIGTERM"), before);
});

Deno.test("a process is alive while it runs, and ready while its caches are up to date", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.failNext({ verb: "watch", resource: "secrets" }, 503, { times: 3 });
  await using started = startManager(cluster, {});
  const caches = [started.configMaps, started.secrets] as never;
  await settle();
  assertEquals(answerOf(caches, "/healthz").status, 200);
  assertEquals(answerOf(caches, "/readyz"), { status: 503, text: "ConfigMap: watching\nSecret: not synced\n" });
  await until(time, () => answerOf(caches, "/readyz").status === 200);
  cluster.stop();
  await pass(time, 30_000);
  assertEquals(answerOf(caches, "/readyz").status, 200);
  await pass(time, 31_000);
  assertEquals(answerOf(caches, "/readyz").text, "ConfigMap: last seen 61 s ago\nSecret: last seen 61 s ago\n");
  assertEquals([answerOf(caches, "/readyz").status, answerOf(caches, "/healthz").status], [503, 200]);
  assertEquals(answerOf(caches, "/metrics").status, 404);
});

Deno.test("metrics show the results of attempts, restarts of watches, and sizes of caches", async () => {
  using time = new FakeTime();
  const { InMemoryMetrics } = await import("@workqueue/core");
  const cluster = fakeCluster();
  for (const name of ["success", "requeue", "later", "error"]) cluster.create(configMap(name));
  const [results, restarts, sizes] = [[] as string[], [] as string[], new Map<string, () => number>()];
  const leading: unknown[] = [];
  const metrics = Object.assign(new InMemoryMetrics(), {
    reconciled: (controller: string, result: string, seconds: number) =>
      void results.push(`${controller} ${result} ${seconds}`),
    watchRestarted: (kind: string) => void restarts.push(kind),
    cacheSize: (kind: string, read: () => number) => void sizes.set(kind, read),
    leading: (lease: string, isLeading: boolean) => void leading.push([lease, isLeading]),
  });
  await using started = startManager(cluster, {
    async reconcile({ metadata: { name } }, { attempt }) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      if (attempt > 1) return;
      if (name === "requeue") return { requeue: true };
      if (name === "later") return { requeueAfter: "1h" };
      if (name === "error") throw new Error("no");
    },
  }, { metrics });
  await pass(time, 550, 50);
  cluster.closeWatches();
  await settle();
  assertEquals(results.toSorted(), [
    "configmap error 0.5",
    "configmap requeue 0.5",
    "configmap requeue_after 0.5",
    "configmap success 0.5",
  ]);
  assertEquals(restarts.toSorted(), ["ConfigMap", "Secret"]);
  assertEquals(sizes.get("ConfigMap")?.(), 4);
  await started.stop();
  assertEquals(leading, []); // there is no lease
});

Deno.test("metrics that throw are reported, and change nothing", async () => {
  using time = new FakeTime();
  const { InMemoryMetrics } = await import("@workqueue/core");
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  const fail = () => {
    throw new Error("a bug");
  };
  const metrics = Object.assign(new InMemoryMetrics(), { reconciled: fail, watchRestarted: fail, leading: fail });
  let attempts = 0;
  const lease = { name: "leader", namespace: "default" };
  await using started = startManager(
    cluster,
    { reconcile: () => Promise.resolve(void attempts++) },
    { metrics, lease },
  );
  await settle();
  cluster.closeWatches();
  await pass(time, 2000);
  cluster.patch(configMap("a"), { data: { x: "1" } });
  await settle();
  assertEquals(attempts, 2);
  assertEquals(
    new Set(started.errors),
    new Set(["metrics: a bug", "cache of ConfigMap: a bug", "cache of Secret: a bug"]),
  );
  await started.stop();
});

Deno.test("a controller uses the caches of its manager, and has a name of its own", () => {
  const { client } = fakeCluster();
  const [one, two] = [new Manager({ name: "one", client }), new Manager({ name: "two", client })];
  const [pods, foreign] = [one.cache("v1", "Pod"), two.cache("v1", "Secret")];
  const reconcile = async () => {};
  const message = "Cannot create controller: the cache of Secret belongs to another manager";
  assertThrows(() => one.control(foreign, { reconcile }), TypeError, message);
  assertThrows(() => one.control(pods, { reconcile, owns: [foreign] }), TypeError, message);
  assertThrows(
    () => one.control(pods, { reconcile, watches: [{ cache: foreign, keys: () => [] }] }),
    TypeError,
    message,
  );
  one.control(pods, { reconcile });
  assertThrows(() => one.control(pods, { reconcile }), Error, `there is a controller "pod" already: set 'name'`);
  assertEquals(one.control(pods, { reconcile, name: "other" }).name, "other");
});

Deno.test("options are checked", () => {
  const { client } = fakeCluster();
  const create = (options: object) => () => new Manager(options as never);
  assertThrows(create({ client }), TypeError, "'name' must be a non-empty string, got undefined");
  assertThrows(create({ name: "a", client, lease: "a" }), TypeError, "'lease' must be an object");
  assertThrows(
    create({ name: "a", client, lease: { name: "a" } }),
    TypeError,
    "'namespace' must be a non-empty string",
  );
  assertThrows(create({ name: "a", client, port: 0 }), RangeError, "'port' must be a port from 1 to 65535, got 0");
  assertThrows(create({ name: "a", client, metric: {} }), TypeError, 'did you mean "metrics"');
  const manager = new Manager({ name: "a", client });
  assertThrows(() => manager.cache("v1", "Pod", { namespaces: [] }), TypeError, "at least one name");
  assertThrows(
    () => manager.cache("v1", "Pod", { labelSelector: "app in shop" }),
    TypeError,
    "must be a label selector",
  );
  assertThrows(() => manager.cache("v1", "Pod", { fieldSelector: "name" }), TypeError, "must be a field selector");
  const pods = manager.cache("v1", "Pod");
  const control = (options: object) => () => manager.control(pods, options as never);
  assertThrows(control({}), TypeError, "'reconcile' must be a function");
  const reconcile = async () => {};
  assertThrows(control({ reconcile, finalizer: "a/b" }), TypeError, "'finalizer' and 'cleanup' need each other");
  const cleanup = reconcile;
  assertThrows(control({ reconcile, cleanup, finalizer: "a" }), TypeError, "'finalizer' must be a name with a domain");
  assertThrows(control({ reconcile, owns: ["pods"] }), TypeError, "'owns' must be a list of caches");
  assertThrows(control({ reconcile, concurrency: 0 }), RangeError, "'concurrency' must be a positive integer");
});

Deno.test("a manager runs once", async () => {
  using _time = new FakeTime();
  await using started = startManager(fakeCluster(), {});
  await assertRejects(() => started.manager.run(), Error, "the manager runs already, or has run");
  assertThrows(() => started.manager.cache("v1", "Pod"), Error, "runs already");
});
