/** Tests of `fakeCluster`: the suite for API servers, garbage collection, faults, and acting as somebody else. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiError, NoAnswerError } from "@workqueue/kubernetes";
import { type FakeCluster, fakeCluster, type FakeClusterOptions } from "@workqueue/kubernetes/testing";
import { isSettled } from "../../queue_helpers.ts";
import { type AnyObject, apiServerSuite, type Event, type List } from "./api_server_suite.ts";

apiServerSuite("fake cluster", () => fakeCluster());

const MAPS = "/api/v1/namespaces/default/configmaps";
const GREETER = { apiVersion: "example.com/v1", kind: "Greeter" };

function test(
  what: string,
  run: (cluster: FakeCluster) => void | Promise<void>,
  options: FakeClusterOptions = {},
): void {
  Deno.test(`fake cluster: ${what}`, () => run(fakeCluster({ resources: [GREETER], ...options })));
}

/** Runs a test under fake time. */
function timed(
  what: string,
  run: (cluster: FakeCluster, time: FakeTime) => Promise<void>,
  options: FakeClusterOptions = {},
): void {
  test(what, async (cluster) => {
    const time = new FakeTime();
    try {
      await run(cluster, time);
    } finally {
      time.restore();
    }
  }, options);
}

function configMap(name: string, owners: readonly AnyObject[] = [], more: object = {}) {
  const ownerReferences = owners.map(({ apiVersion, kind, metadata: { name, uid } }) => ({
    ...{ apiVersion: apiVersion!, kind: kind!, name: name!, uid: uid! },
    blockOwnerDeletion: true,
  }));
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ownerReferences, ...more } };
}

function greeter(name: string, more: object = {}) {
  return { ...GREETER, metadata: { name, ...more } };
}

/** Lets the controllers of the cluster run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

function namesOf(cluster: FakeCluster): string[] {
  return cluster.list("v1", "ConfigMap").map(({ metadata }) => metadata.name!);
}

/** Opens a watch, and returns its events and its end: `"end"`, or the error's message. */
function watch(cluster: FakeCluster, query: Record<string, string | boolean> = {}, idleTimeout = 30_000) {
  const stopped = new AbortController();
  const events: string[] = [];
  const ended = (async () => {
    const options = { query: { watch: true, ...query }, signal: stopped.signal, idleTimeout };
    for await (const { type, object } of cluster.client.watch<Event>(MAPS, options)) {
      events.push(
        `${type} ${object.metadata.name ?? object.metadata.resourceVersion ?? (object as { code?: number }).code}`,
      );
    }
    return "end";
  })().catch((error) =>
    error instanceof NoAnswerError ? "no answer" : error === stopped.signal.reason ? "stopped" : error.message
  );
  return { events, ended, stop: () => stopped.abort() };
}

/** Returns how a watch ended. Fails if it goes on. */
async function endOf({ ended }: { readonly ended: Promise<string> }): Promise<string> {
  assert(await isSettled(ended), "the watch goes on");
  return await ended;
}

test("writes by another user take effect at once, and return frozen objects", async (cluster) => {
  const created = cluster.create({ ...configMap("a"), data: { color: "red" } });
  assertEquals(cluster.get("v1", "ConfigMap", "default/a"), created);
  assertThrows(() => (created.data as { color: string }).color = "blue", TypeError);
  const patched = cluster.patch(created, { data: { size: "1" } });
  assertEquals(patched.data as object, { color: "red", size: "1" });
  assertEquals(cluster.apply({ ...configMap("b"), data: { x: "1" } }).metadata.namespace, "default");
  assertEquals(
    cluster.list<AnyObject>("v1", "ConfigMap", { namespace: "default" }).map(({ kind, data }) => [kind, data]),
    [
      ["ConfigMap", { color: "red", size: "1" }],
      ["ConfigMap", { x: "1" }],
    ],
  );
  cluster.delete(created);
  assertEquals(cluster.get("v1", "ConfigMap", "default/a"), undefined);
  assertEquals(assertThrows(() => cluster.delete(created), ApiError).reason, "NotFound");
  assertThrows(
    () => cluster.create({ apiVersion: "v1", kind: "Unicorn", metadata: { name: "a" } }),
    ApiError,
    "Unicorn",
  );
  const status = cluster.patch(cluster.create(greeter("a")), { status: { ready: true } }, {
    subresource: "status",
  });
  assertEquals(status.status, { ready: true });
  assertEquals(cluster.requests, [], "they are not requests of the client");
  const list = await cluster.client.request<List>("GET", MAPS);
  assertThrows(() => (list.items as AnyObject[]).pop(), TypeError);
});

test("a kind without a definition has a status and any fields", async (cluster) => {
  const body = { ...greeter("a"), spec: { any: { thing: [1] } } };
  const path = "/apis/example.com/v1/namespaces/default/greeters";
  assertEquals((await cluster.client.request<AnyObject>("POST", path, { body })).spec, { any: { thing: [1] } });
  assert(cluster.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "greeters.example.com"));
});

test("requests are kept and counted", async (cluster) => {
  await cluster.client.request("POST", MAPS, { body: configMap("a") });
  await cluster.client.request("GET", `${MAPS}/a`);
  await assertRejects(() => cluster.client.request("GET", `${MAPS}/b`), ApiError);
  assertEquals(
    cluster.requests.map(({ verb, resource, namespace, name, code }) => [verb, resource, namespace, name, code]),
    [
      ["create", "configmaps", "default", undefined, 201],
      ["get", "configmaps", "default", "a", 200],
      ["get", "configmaps", "default", "b", 404],
    ],
  );
  assertEquals([cluster.count(), cluster.count({ verb: "get" }), cluster.count(({ code }) => code === 404)], [3, 2, 1]);
});

test("objects are deleted when all of their owners are deleted", async (cluster) => {
  const [one, two] = [cluster.create(greeter("one")), cluster.create(greeter("two"))];
  const mapOfOne = cluster.create(configMap("of-one", [one]));
  cluster.create(configMap("of-both", [one, two]));
  cluster.create(configMap("of-map", [mapOfOne]));
  cluster.create(configMap("of-nobody"));
  cluster.create(configMap("of-other", [{ ...one, metadata: { ...one.metadata, uid: "other" } }]));
  await settle();
  assertEquals(
    namesOf(cluster),
    ["of-both", "of-map", "of-nobody", "of-one"],
    "an owner with another uid is not there",
  );
  cluster.delete(one);
  assertEquals(namesOf(cluster).length, 4, "it happens later");
  await settle();
  assertEquals(namesOf(cluster), ["of-both", "of-nobody"]);
  assertEquals(cluster.get("v1", "ConfigMap", "default/of-both")?.metadata.ownerReferences?.map(({ name }) => name), [
    "two",
  ]);
});

test("a deletion in the foreground waits for the owned objects", async (cluster) => {
  const owner = cluster.create(greeter("a"));
  cluster.create(configMap("m", [owner], { finalizers: ["example.com/a"] }));
  cluster.delete(owner, { propagationPolicy: "Foreground" });
  await settle();
  const map = cluster.get("v1", "ConfigMap", "default/m")!;
  assert(map.metadata.deletionTimestamp && cluster.get("example.com/v1", "Greeter", "default/a"));
  cluster.patch(map, { metadata: { finalizers: null } });
  await settle();
  assertEquals(cluster.get("example.com/v1", "Greeter", "default/a"), undefined);
});

test("a deletion with the policy Orphan leaves the owned objects", async (cluster) => {
  const owner = cluster.create(greeter("a"));
  cluster.create(configMap("m", [owner]));
  cluster.delete(owner, { propagationPolicy: "Orphan" });
  await settle();
  assertEquals(cluster.get("example.com/v1", "Greeter", "default/a"), undefined);
  assertEquals(cluster.get("v1", "ConfigMap", "default/m")?.metadata.ownerReferences, undefined);
});

test("a namespace is removed when it is empty", async (cluster) => {
  const namespace = cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } });
  const held = cluster.create(configMap("a", [], { namespace: "n", finalizers: ["example.com/a"] }));
  cluster.create(configMap("b", [], { namespace: "n" }));
  cluster.delete(namespace);
  await settle();
  assertEquals(namesOf(cluster), ["a"]);
  assert(cluster.get("v1", "Namespace", "n"));
  cluster.patch(held, { metadata: { finalizers: null } });
  await settle();
  assertEquals([namesOf(cluster), cluster.get("v1", "Namespace", "n")], [[], undefined]);
});

test("expired watches end with an error 410, and don't begin again", async (cluster) => {
  const { metadata: { resourceVersion } } = cluster.create(configMap("a"));
  const first = watch(cluster);
  await settle();
  cluster.create(configMap("b"));
  cluster.expireWatches();
  assertEquals([await endOf(first), first.events], ["end", ["ADDED a", "ADDED b", "ERROR 410"]]);
  const second = watch(cluster, { resourceVersion: resourceVersion! });
  assertEquals([await endOf(second), second.events], ["end", ["ERROR 410"]]);
});

test("closed watches end, and can begin again", async (cluster) => {
  const { metadata: { resourceVersion } } = cluster.create(configMap("a"));
  const first = watch(cluster, { resourceVersion: resourceVersion! });
  await settle();
  cluster.closeWatches();
  assertEquals(await endOf(first), "end");
  cluster.create(configMap("b"));
  const second = watch(cluster, { resourceVersion: resourceVersion! });
  await settle();
  second.stop();
  assertEquals([await endOf(second), second.events], ["stopped", ["ADDED b"]]);
});

test("dropped connections break watches, and new ones work", async (cluster) => {
  const watching = watch(cluster);
  await settle();
  cluster.dropConnections();
  assertEquals(await endOf(watching), "no answer");
  await cluster.client.request("GET", MAPS);
});

test("a stopped server refuses connections until it starts", async (cluster) => {
  const watching = watch(cluster);
  await settle();
  cluster.stop();
  assertEquals(await endOf(watching), "no answer");
  await assertRejects(() => cluster.client.request("GET", MAPS), NoAnswerError, "ECONNREFUSED");
  cluster.start();
  await cluster.client.request("GET", MAPS);
  cluster.client.close();
});

timed("on a cut network nothing arrives, until the client gives up", async (cluster, time) => {
  const { ended, events } = watch(cluster, {}, 20_000);
  await settle();
  cluster.hang();
  cluster.create(configMap("a"));
  const request = cluster.client.request("GET", MAPS, { timeout: "10s" });
  request.catch(() => {});
  await time.tickAsync(10_000);
  await assertRejects(() => request, NoAnswerError, "10000 ms");
  cluster.start();
  await time.tickAsync(9_999);
  assertEquals([await isSettled(ended), events], [false, []]);
  await time.tickAsync(1);
  assertEquals([await ended, events], ["no answer", []]);
  assertEquals((await cluster.client.request<List>("GET", MAPS)).items.length, 1);
  cluster.client.close();
});

test("requests fail as configured", async (cluster) => {
  cluster.failNext({ verb: "create" }, 409, { times: 2 });
  cluster.failNext(({ name }) => name === "b", 429, { retryAfter: 60, reason: "Busy", message: "too much" });
  for (let i = 0; i < 2; i++) {
    const error = await assertRejects(() => cluster.client.request("POST", MAPS, { body: configMap("a") }), ApiError);
    assertEquals([error.status, error.reason], [409, "Conflict"]);
  }
  await cluster.client.request("POST", MAPS, { body: configMap("a") });
  const error = await assertRejects(() => cluster.client.request("GET", `${MAPS}/b`), ApiError, "too much");
  assertEquals([error.status, error.reason, error.retryAfter], [429, "Busy", 60_000]);
  cluster.client.close();
});

test("a request can be dropped before or after its effect", async (cluster) => {
  const create = (name: string) => cluster.client.request("POST", MAPS, { body: configMap(name) });
  cluster.failNext({ verb: "create" }, "drop");
  await assertRejects(() => create("a"), NoAnswerError);
  cluster.failNext({ verb: "create" }, "lose");
  await assertRejects(() => create("b"), NoAnswerError);
  assertEquals(namesOf(cluster), ["b"]);
  cluster.client.close();
});

test("denied requests fail with 403 until they are allowed", async (cluster) => {
  const allow = cluster.denyAccess("list", "configmaps");
  const error = await assertRejects(() => cluster.client.request("GET", MAPS), ApiError);
  assertEquals([error.status, error.reason], [403, "Forbidden"]);
  assert(
    error.message.includes('cannot list resource "configmaps" in API group "" in the namespace "default"'),
    error.message,
  );
  await cluster.client.request("POST", MAPS, { body: configMap("a") });
  allow();
  await cluster.client.request("GET", MAPS);
});

timed("an answer comes after the latency, and the event of the write before it", async (cluster, time) => {
  const { events, stop, ended } = watch(cluster);
  await time.tickAsync(100);
  const created = cluster.client.request("POST", MAPS, { body: configMap("a") });
  await time.tickAsync(99);
  assertEquals([await isSettled(created), events], [false, ["ADDED a"]]);
  await time.tickAsync(1);
  await created;
  stop();
  assertEquals(await ended, "stopped");
}, { latency: 100 });

timed("a watch gets a bookmark every minute, and ends after its timeout", async (cluster, time) => {
  const { events, ended } = watch(
    cluster,
    { allowWatchBookmarks: true, resourceVersion: "0", timeoutSeconds: "150" },
    200_000,
  );
  await time.tickAsync(30_000);
  const { metadata } = cluster.create(greeter("a"));
  await time.tickAsync(30_000);
  await settle();
  assertEquals(events, [`BOOKMARK ${metadata.resourceVersion}`], "it is newer than the last event");
  await time.tickAsync(89_999);
  assertEquals(await isSettled(ended), false);
  await time.tickAsync(1);
  assertEquals([await ended, events.length], ["end", 2]);
});

test("a list can't continue after its version was compacted", async (cluster) => {
  for (const name of ["a", "b", "c"]) cluster.create(configMap(name));
  const page = await cluster.client.request<List>("GET", MAPS, { query: { limit: 1 } });
  cluster.compact();
  cluster.create(configMap("d"));
  cluster.compact();
  const query = { limit: 1, continue: page.metadata.continue };
  const error = await assertRejects(() => cluster.client.request("GET", MAPS, { query }), ApiError);
  assertEquals([error.status, error.reason], [410, "Expired"]);
});

test("a restored backup has the objects and versions of its time", async (cluster) => {
  const a = cluster.create(configMap("a"));
  const snapshot = cluster.snapshot();
  const b = cluster.create(configMap("b"));
  cluster.delete(a);
  const watching = watch(cluster);
  await settle();
  cluster.restore(snapshot);
  assertEquals(await endOf(watching), "no answer");
  assertEquals(cluster.list("v1", "ConfigMap"), [a]);
  assertEquals(cluster.create(configMap("c")).metadata.resourceVersion, b.metadata.resourceVersion);
});

test("a watch from a version before the restore sends no changes until the version is reached again", async (cluster) => {
  const snapshot = cluster.snapshot();
  cluster.create(configMap("a"));
  const { metadata: { resourceVersion } } = cluster.create(configMap("b"));
  cluster.restore(snapshot);
  const watching = watch(cluster, { resourceVersion: resourceVersion! });
  await settle();
  for (const name of ["c", "d", "e"]) cluster.create(configMap(name));
  await settle();
  watching.stop();
  assertEquals([await endOf(watching), watching.events], ["stopped", ["ADDED e"]]);
});

timed("a request in flight gets no answer when the server stops", async (cluster, time) => {
  const created = cluster.client.request("POST", MAPS, { body: configMap("a") });
  created.catch(() => {});
  await time.tickAsync(50);
  cluster.stop();
  await time.tickAsync(50);
  await assertRejects(() => created, NoAnswerError);
  assertEquals(namesOf(cluster), ["a"]);
  cluster.client.close();
}, { latency: 100 });

test("an object of a kind without generations has none", (cluster) => {
  const service = cluster.create({ apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: { ports: [] } });
  assertEquals(cluster.patch(service, { spec: { type: "ExternalName" } }).metadata.generation, undefined);
});

test("without the option watchList, a watch can't begin with a list", async (cluster) => {
  const { ended } = watch(cluster, { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" });
  assert((await ended).includes("422 Invalid"));
}, { watchList: false });

Deno.test("fake cluster: options are checked", () => {
  assertThrows(() => fakeCluster({ latency: "soon" as "1s" }), Error, "latency");
  assertThrows(() => fakeCluster({ watchlist: true } as FakeClusterOptions), TypeError, "watchList");
});
