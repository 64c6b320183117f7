/** Tests of controllers: which events lead to attempts, and when attempts are repeated. */

import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { type KubeObject, Manager } from "@workqueue/kubernetes";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import { type ConfigMap, configMap } from "../cache/started_cache.ts";
import { pass, settle, until } from "../fake_time.ts";
import { startManager } from "./started_manager.ts";

const WATCHES = { verb: "watch" } as const;
const names = (attempts: readonly KubeObject[]) => attempts.map(({ metadata: { name } }) => name);

Deno.test("each object gets an attempt at the start, and after each change", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  const attempts: string[] = [];
  await using _started = startManager(cluster, {
    reconcile: (object, { key, attempt }) =>
      Promise.resolve(
        void attempts.push(`${key} ${attempt} ${object.data?.["x"]} ${object.apiVersion} ${object.kind}`),
      ),
  });
  await settle();
  cluster.create(configMap("b", { x: "1" }));
  await settle();
  cluster.patch(configMap("a"), { data: { x: "3" } });
  await settle();
  cluster.delete(configMap("b"));
  await settle();
  assertEquals(attempts, [
    "default/a 1 undefined v1 ConfigMap",
    "default/b 1 1 v1 ConfigMap",
    "default/a 1 3 v1 ConfigMap",
  ]);
});

Deno.test("objects of the first list wait behind objects that change", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  for (const name of ["a", "b", "c"]) cluster.create(configMap(name));
  const attempts: ConfigMap[] = [];
  await using _started = startManager(cluster, {
    concurrency: 1,
    async reconcile(object) {
      attempts.push(object as ConfigMap);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    },
  });
  await settle();
  await pass(time, 500);
  cluster.create(configMap("new"));
  await pass(time, 4000);
  assertEquals(names(attempts), ["a", "new", "b", "c"]);
});

Deno.test("a failed attempt is repeated without a limit, and a change ends the delay and keeps the count", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", { color: "wrong" }));
  const attempts: number[] = [];
  let isReconciled = false;
  await using started = startManager(cluster, {
    async reconcile({ data }, { attempt }) {
      attempts.push(attempt);
      await Promise.resolve();
      if (data?.["color"] === "wrong") throw new Error("no such color");
      isReconciled = true;
    },
  });
  await pass(time, 3_600_000, 10_000);
  const count = attempts.length;
  assertEquals(attempts.at(-1), count);
  assertEquals(count > 15, true, `${count} attempts in an hour`);
  assertEquals(started.errors[1], "configmap default/a, attempt 2: no such color");
  cluster.patch(configMap("a"), { data: { color: "red" } });
  await until(time, () => isReconciled, { within: 100 });
  assertEquals(attempts.at(-1), count + 1);
});

Deno.test("an attempt that writes and fails is repeated after its delay, and one that writes and succeeds, at once", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  let [attempts, isFailing] = [0, true];
  await using _started = startManager(cluster, ({ secrets }) => ({
    async reconcile(object) {
      attempts++;
      const wanted = { metadata: { namespace: "default", name: "a" }, data: { n: `${isFailing ? attempts : "last"}` } };
      await secrets.apply(wanted, { owner: object });
      if (isFailing) throw new Error("no");
    },
  }));
  await pass(time, 60_000);
  assertEquals(attempts < 20, true, `${attempts} attempts in a minute`);
  isFailing = false;
  await pass(time, 60_000);
  const before = attempts;
  await pass(time, 600_000, 1000);
  assertEquals(attempts, before);
});

Deno.test("a write by another cache of the kind counts as the attempt's own, and its answer is in all caches", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  const manager = new Manager({ name: "tests", client: cluster.client, onError() {} });
  const configMaps = manager.cache<ConfigMap>("v1", "ConfigMap", { namespaces: ["default"] });
  const all = manager.cache<ConfigMap>("v1", "Secret");
  const own = manager.cache<ConfigMap>("v1", "Secret", { labelSelector: "own=yes" });
  const seen: unknown[] = [];
  manager.control(configMaps, {
    owns: [all],
    async reconcile(object) {
      const metadata = { namespace: "default", name: "a", labels: { own: "yes" } };
      const written = await own.apply({ metadata, data: { n: `${seen.length}` } }, { owner: object });
      seen.push([own.get("default/a"), all.get("default/a")?.data?.["n"] === written.data?.["n"]]);
      throw new Error("no");
    },
  });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  await pass(time, 60_000);
  assertEquals(seen.length < 20, true, `${seen.length} attempts in a minute`);
  assertEquals(seen.every((pair) => (pair as unknown[])[0] !== undefined && (pair as unknown[])[1]), true);
  stop.abort();
  await ended;
});

Deno.test("the first attempt's own finalizer and writes lead to one more attempt, which sends nothing", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a", { x: "1" }));
  let attempts = 0;
  await using _started = startManager(cluster, ({ configMaps, secrets }) => ({
    finalizer: "example.dev/tests",
    cleanup: async () => {},
    async reconcile(object) {
      attempts++;
      await secrets.apply({ metadata: { namespace: "default", name: "a" }, data: { y: "1" } }, { owner: object });
      if (object.metadata.annotations?.["done"]) return;
      await configMaps.patch(object, { metadata: { annotations: { done: "yes" } } });
    },
  }));
  await settle();
  assertEquals(attempts, 2);
  assertEquals(cluster.requests.filter(({ verb }) => !["get", "watch"].includes(verb)).length, 3);
});

Deno.test("a change of an owned object is an event of its owner, also for owners without a namespace", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const namespace = cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const attempts: string[] = [];
  await using started = startManager(cluster, {}, {});
  await started.stop();
  const manager = new Manager({ name: "tests", client: cluster.client, onError() {} });
  const namespaces = manager.cache("v1", "Namespace", { fieldSelector: "metadata.name=shop" });
  const secrets = manager.cache<ConfigMap>("v1", "Secret");
  manager.control(namespaces, {
    owns: [secrets],
    async reconcile({ metadata: { name } }) {
      attempts.push(name!);
      await secrets.apply({ metadata: { namespace: "shop", name: "a" }, data: { x: "1" } }, { owner: namespace });
    },
  });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  await settle();
  attempts.length = 0;
  cluster.delete({ apiVersion: "v1", kind: "Secret", metadata: { namespace: "shop", name: "a" } });
  await settle();
  assertEquals(attempts, ["shop", "shop"]); // the second is for the secret that the first one wrote
  assertEquals(secrets.size, 1);
  await pass(time, 2000);
  cluster.failNext({ verb: "watch", resource: "namespaces" }, 404); // the server may no longer know the kind
  cluster.closeWatches();
  await settle();
  cluster.delete({ apiVersion: "v1", kind: "Secret", metadata: { namespace: "shop", name: "a" } });
  await settle();
  assertEquals(attempts.length, 4);
  stop.abort();
  await ended;
});

Deno.test("a change of a watched object is an event of the objects that the mapping returns, before and after", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  for (const name of ["a", "b", "c"]) cluster.create(configMap(name));
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name: "s" }, stringData: {} };
  cluster.create({ ...secret, metadata: { ...secret.metadata, labels: { for: "a" } } });
  const attempts: ConfigMap[] = [];
  await using _started = startManager(cluster, ({ secrets }) => ({
    owns: [],
    watches: [{ cache: secrets as never, keys: ({ metadata }) => [`default/${metadata.labels?.["for"]}`] }],
    reconcile: (object) => Promise.resolve(void attempts.push(object as ConfigMap)),
  }));
  await settle();
  attempts.length = 0;
  cluster.patch(secret, { metadata: { labels: { for: "b" } } });
  await settle();
  assertEquals(names(attempts).toSorted(), ["a", "b"]);
});

Deno.test("a predicate filters updates, but no creation, no deletion and no object of the first list", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  const held = { namespace: "default", name: "held", finalizers: ["example.dev/tests"] };
  cluster.create({ ...configMap("held"), metadata: held });
  const [attempts, cleaned] = [[] as ConfigMap[], [] as ConfigMap[]];
  await using _started = startManager(cluster, {
    changed: ({ data }, before) => data?.["x"] !== before.data?.["x"],
    finalizer: "example.dev/tests",
    cleanup: (object) => Promise.resolve(void cleaned.push(object as ConfigMap)),
    reconcile: (object) => Promise.resolve(void attempts.push(object as ConfigMap)),
  });
  await settle();
  cluster.patch(configMap("held"), { data: { y: "1" } });
  await settle();
  assertEquals(names(attempts), ["held"]);
  cluster.patch(configMap("held"), { data: { x: "1" } });
  await settle();
  assertEquals(names(attempts), ["held", "held"]);
  cluster.delete(configMap("held"));
  await settle();
  assertEquals(names(cleaned), ["held"]);
  assertEquals(cluster.get("v1", "ConfigMap", "default/held"), undefined);
});

Deno.test("if a predicate throws, the update is an event, and the error is reported", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  let attempts = 0;
  await using started = startManager(cluster, {
    changed() {
      throw new Error("a bug");
    },
    reconcile: () => Promise.resolve(void attempts++),
  });
  await settle();
  cluster.patch(configMap("a"), { data: { x: "1" } });
  await settle();
  assertEquals([attempts, started.errors], [2, ["configmap default/a: a bug"]]);
});

Deno.test("a conflict is repeated once at once with the newer object, and then with a delay", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  const seen: (string | undefined)[] = [];
  let others = 1;
  await using started = startManager(cluster, ({ configMaps }) => ({
    async reconcile(object) {
      seen.push(object.data?.["other"]);
      if (object.data?.["own"] !== undefined) return;
      if (others > 0) {
        cluster.failNext(WATCHES, 503);
        cluster.patch(configMap("a"), { data: { other: `${others--}` } });
      }
      await configMaps.patch(object, { data: { own: "1" } });
    },
  }));
  await settle();
  assertEquals(seen.slice(0, 2), [undefined, "1"]);
  assertEquals(started.errors.filter((error) => error.includes("409")), []);
  await until(time, () => cluster.get<ConfigMap>("v1", "ConfigMap", "default/a")?.data?.["own"] === "1");
});

Deno.test("an answer with a Retry-After delays the next attempt for at least that long", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  let attempts = 0;
  await using started = startManager(cluster, ({ secrets }) => ({
    async reconcile() {
      attempts++;
      await secrets.create({ metadata: { namespace: "default", name: "a" } });
    },
  }));
  cluster.failNext({ verb: "create" }, 429, { retryAfter: 120 });
  await pass(time, 119_000, 1000);
  assertEquals(attempts, 1);
  assertEquals(started.errors.length, 1);
  await pass(time, 2000);
  assertEquals(attempts >= 2, true);
});

Deno.test("while the server doesn't answer, no attempts are made, and then the failed ones are repeated at once", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  for (let i = 0; i < 20; i++) cluster.create(configMap(`${i}`));
  let [attempts, isOn] = [0, false];
  await using _started = startManager(cluster, ({ secrets }) => ({
    async reconcile({ metadata: { name } }) {
      attempts++;
      if (isOn) await secrets.apply({ metadata: { namespace: "default", name: name! }, data: { x: "1" } });
    },
  }));
  await settle();
  [attempts, isOn] = [0, true];
  for (let i = 0; i < 20; i++) cluster.patch(configMap(`${i}`), { data: { x: "1" } });
  cluster.stop();
  await pass(time, 60_000);
  assertEquals(attempts <= 5, true, `${attempts} attempts`);
  cluster.start();
  await until(time, () => cluster.list("v1", "Secret", { namespace: "default" }).length === 20, { within: 2000 });
});

Deno.test("an attempt that takes too long is told to end, and its requests end", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  cluster.failNext({ verb: "patch" }, "hang");
  const reasons: unknown[] = [];
  await using started = startManager(cluster, ({ secrets }) => ({
    timeout: "10s",
    async reconcile() {
      const wanted = { metadata: { namespace: "default", name: "a" } };
      await secrets.apply(wanted).catch((error) => {
        reasons.push(error.name);
        throw error;
      });
    },
  }));
  await pass(time, 10_100);
  assertEquals(reasons, ["TimeoutError"]);
  await until(time, () => started.secrets.size === 1, { within: 200 });
});

Deno.test("a write of another controller of the program ends a delay", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  const manager = new Manager({ name: "tests", client: cluster.client, onError() {} });
  const configMaps = manager.cache<ConfigMap>("v1", "ConfigMap", { namespaces: ["default"] });
  let [isPrepared, isDone] = [false, false];
  manager.control(configMaps, {
    name: "waiting",
    async reconcile({ data }) {
      await Promise.resolve();
      if (!data?.["prepared"]) throw new Error("not prepared");
      isDone = true;
    },
  });
  manager.control(configMaps, {
    name: "preparing",
    async reconcile(object) {
      if (isPrepared) await configMaps.patch(object, { data: { prepared: "yes" } });
    },
  });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  await pass(time, 600_000, 1000);
  isPrepared = true;
  cluster.patch(configMap("a"), { metadata: { labels: { now: "yes" } } });
  await until(time, () => isDone, { within: 100 });
  stop.abort();
  await ended;
});

Deno.test("a run ends at once while the server doesn't answer", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  let isFailing = false;
  await using started = startManager(cluster, ({ secrets }) => ({
    async reconcile() {
      if (isFailing) await secrets.apply({ metadata: { namespace: "default", name: "a" } });
    },
  }));
  await settle();
  isFailing = true;
  cluster.patch(configMap("a"), { data: { x: "1" } });
  cluster.stop();
  await pass(time, 5000);
  let isStopped = false;
  started.stop().then(() => isStopped = true);
  await until(time, () => isStopped, { within: 100 });
});

Deno.test("a client that is closed while the server doesn't answer delays no attempt for ever", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  let isWriting = false;
  await using _started = startManager(cluster, ({ secrets }) => ({
    async reconcile({ metadata: { name } }) {
      if (isWriting) await secrets.apply({ metadata: { namespace: "default", name: name! }, data: { x: "1" } });
    },
  }));
  await settle();
  isWriting = true;
  cluster.patch(configMap("a"), { data: { x: "1" } });
  cluster.stop();
  await pass(time, 5000);
  cluster.client.close();
  cluster.start();
  await until(time, () => cluster.get("v1", "Secret", "default/a") !== undefined, { within: 60_000 });
});
