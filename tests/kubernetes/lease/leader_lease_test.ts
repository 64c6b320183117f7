/** Tests of leases: acquiring, renewing, losing and giving back. */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { LeaderLease, Manager } from "@workqueue/kubernetes";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import type { KubeObject } from "@workqueue/kubernetes";
import type { FakeCluster } from "@workqueue/kubernetes/testing";
import { pass, settle, until } from "../fake_time.ts";
import { startManager } from "../manager/started_manager.ts";
import { configMap } from "../cache/started_cache.ts";

interface Lease extends KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: { holderIdentity: string; leaseTransitions: number; renewTime: string; leaseDurationSeconds: number };
}

const NAME = { name: "leader", namespace: "default" };
const NEVER = new AbortController().signal;
const readLease = (cluster: FakeCluster) => cluster.get<Lease>("coordination.k8s.io/v1", "Lease", "default/leader");
const holderIn = (cluster: FakeCluster) => readLease(cluster)?.spec.holderIdentity;

function leaseOf(cluster: FakeCluster, identity: string): { lease: LeaderLease; events: string[]; errors: string[] } {
  const [events, errors] = [[] as string[], [] as string[]];
  const onError = (error: unknown) => void errors.push((error as Error).message);
  return { lease: new LeaderLease(cluster.client, { ...NAME, identity, onError }), events, errors };
}

function acquire({ lease, events }: ReturnType<typeof leaseOf>, signal = NEVER): Promise<void> {
  const acquired = lease.acquire(signal, (error) => events.push(`lost: ${(error as { code?: string }).code}`));
  return acquired.then(() => void events.push("acquired"));
}

Deno.test("one process gets the lease, and another one when it is given back", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const [a, b] = [leaseOf(cluster, "a"), leaseOf(cluster, "b")];
  await acquire(a);
  const second = acquire(b);
  await pass(time, 60_000);
  assertEquals([a.events, b.events, a.lease.isHeld], [["acquired"], [], true]);
  await a.lease.release();
  assertEquals([holderIn(cluster), a.lease.isHeld], ["", false]);
  await until(time, () => b.events.length === 1, { within: 2500 });
  await second;
  assertEquals([holderIn(cluster), readLease(cluster)?.spec.leaseTransitions], ["b", 1]);
  assertEquals([...a.errors, ...b.errors], []);
  await b.lease.release();
});

Deno.test("a lease whose holder was killed is taken after its duration, and not before", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const spec = { holderIdentity: "killed", leaseDurationSeconds: 15, renewTime: "1999-01-01T00:00:00.000000Z" };
  cluster.create({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: NAME, spec });
  const b = leaseOf(cluster, "b");
  const acquired = acquire(b);
  const passed = await until(time, () => b.events.length === 1, { within: 18_000 });
  assertEquals(passed >= 15_000, true, `${passed} ms`);
  await acquired;
  await b.lease.release();
});

Deno.test("the holder stops at its deadline, also while a request hangs, before another process takes the lease", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const a = leaseOf(cluster, "a");
  await acquire(a);
  await pass(time, 3000);
  cluster.hang();
  const passed = await until(time, () => a.events.length === 2, { within: 10_100 });
  assertEquals([a.events[1], passed > 8000], ["lost: WQ_LEASE_LOST", true]);
  assertThrows(() => a.lease.check(), Error, "The lease of the leader was lost");
  cluster.client.close();
});

Deno.test("the deadline counts from the time when a renewal was sent, not when its answer came", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster({ latency: 2000 }); // of the reading and of the writing
  const a = leaseOf(cluster, "a");
  const acquired = acquire(a);
  await pass(time, 4100);
  await acquired;
  cluster.hang();
  const passed = await until(time, () => a.events.length === 2, { within: 10_000 });
  assertEquals(passed <= 6000, true, `${passed} ms after an answer that took 4 s`);
  cluster.client.close();
});

Deno.test("the holder stops if another process holds the lease", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const a = leaseOf(cluster, "a");
  await acquire(a);
  cluster.patch(readLease(cluster)!, { spec: { holderIdentity: "b" } });
  await until(time, () => a.events.length === 2, { within: 2100 });
  assertEquals(a.events, ["acquired", "lost: WQ_LEASE_LOST"]);
  await a.lease.release();
  assertEquals(holderIn(cluster), "b");
});

Deno.test("a change to the lease by another program doesn't end it", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const a = leaseOf(cluster, "a");
  await acquire(a);
  for (let i = 0; i < 30; i++) {
    await pass(time, 1000);
    cluster.patch(readLease(cluster)!, { metadata: { annotations: { note: `${i}` } } });
  }
  assertEquals([a.events, a.errors], [["acquired"], []]);
  await a.lease.release();
});

Deno.test("each renewal changes the lease, even if the wall clock stands still", async () => {
  using _time = new FakeTime();
  const cluster = fakeCluster();
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  const clock = {
    now: () => now,
    setTimeout(callback: () => void, ms: number) {
      const timer = { at: now + ms, callback };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer: unknown) => void timers.delete(timer as never),
  };
  const lease = new LeaderLease(cluster.client, { ...NAME, clock });
  await lease.acquire(NEVER, () => {});
  const versions = new Set<string | undefined>();
  for (; now < 10_000; now += 500) {
    for (const timer of timers) if (timer.at <= now && timers.delete(timer)) timer.callback();
    await settle();
    versions.add(readLease(cluster)?.metadata.resourceVersion);
  }
  assertEquals(versions.size >= 4, true, `${versions.size} versions`);
  await lease.release();
});

Deno.test("an acquisition that is aborted leaves no holder, even if its answer comes later", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster({ latency: 500 });
  const a = leaseOf(cluster, "a");
  const stop = new AbortController();
  const rejected = assertRejects(() => acquire(a, stop.signal), Error, "stopped");
  await pass(time, 700, 50); // the first request was answered, and the second is under way
  assertEquals(holderIn(cluster), "a");
  stop.abort(new Error("stopped"));
  await pass(time, 3000);
  await rejected;
  assertEquals([holderIn(cluster), a.events], ["", []]);
});

Deno.test("options of a lease are checked", () => {
  const { client } = fakeCluster();
  const create = (options: object) => () => new LeaderLease(client, options as never);
  assertThrows(create({ namespace: "a" }), TypeError, "'name' must be a non-empty string");
  assertThrows(create({ ...NAME, duration: "500ms" }), TypeError, "'duration' must be a duration from 1 s to 1 h");
  assertThrows(create({ ...NAME, renewal: 1 }), TypeError, '"renewal" is not an option here');
});

Deno.test("a manager begins with the lease, and gives it back when its attempts have ended", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  const other = leaseOf(cluster, "other");
  await acquire(other);
  let [began, ended] = [0, 0];
  await using started = startManager(cluster, {
    async reconcile() {
      began++;
      await new Promise((resolve) => setTimeout(resolve, 3000));
      ended++;
    },
  }, { lease: NAME });
  await pass(time, 20_000);
  assertEquals(began, 0);
  await other.lease.release();
  await until(time, () => began === 1, { within: 2500 });
  let isStopped = false;
  started.stop().then(() => isStopped = true);
  await pass(time, 2000);
  assertEquals([holderIn(cluster) === "", ended], [false, 0]);
  await until(time, () => isStopped, { within: 1200 });
  assertEquals([holderIn(cluster), ended], ["", 1]);
});

Deno.test("a manager that loses its lease aborts its attempts, sends no more of their writes, and rejects", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  const reasons: unknown[] = [];
  await using started = startManager(cluster, ({ secrets }) => ({
    async reconcile(_object, { signal }) {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      reasons.push((signal.reason as { code?: string }).code);
      await secrets.create({ metadata: { namespace: "default", name: "late" } }).catch((error) =>
        reasons.push(error.code)
      );
    },
  }), { lease: NAME });
  const rejected = assertRejects(() => started.ended, Error, "The lease of the leader was lost");
  await settle();
  cluster.stop();
  await pass(time, 12_000);
  const error = await rejected;
  assertEquals((error as { code?: string }).code, "WQ_LEASE_LOST");
  assertEquals(reasons, ["WQ_LEASE_LOST", "WQ_LEASE_LOST"]);
});

Deno.test("an attempt to give a lease back ends once others can take the lease anyway, however busy the server is", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const a = leaseOf(cluster, "a");
  await acquire(a);
  cluster.failNext({ resource: "leases" }, 503, { times: 1000, retryAfter: 20 });
  let isReleased = false;
  a.lease.release().then(() => isReleased = true);
  await until(time, () => isReleased, { within: 15_100, step: 1000 });
});

Deno.test("a manager whose client is closed while it waits for the lease makes no attempt, and rejects", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  cluster.create(configMap("a"));
  await acquire(leaseOf(cluster, "other"));
  let attempts = 0;
  await using started = startManager(cluster, { reconcile: () => Promise.resolve(void attempts++) }, { lease: NAME });
  const rejected = assertRejects(() => started.ended, Error, "The client was closed");
  await pass(time, 1000);
  cluster.stop();
  await pass(time, 5000);
  cluster.client.close();
  await pass(time, 5000);
  await rejected;
  assertEquals(attempts, 0);
});

Deno.test("a manager that waits for the lease collects no keys, and then attempts the objects that are left", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const finalizer = "example.dev/tests";
  const labels = { app: "shop" };
  const held = { namespace: "default", name: "unlabeled", labels, finalizers: [finalizer] };
  cluster.create({ ...configMap("unlabeled"), metadata: held });
  const other = leaseOf(cluster, "other");
  await acquire(other);
  const keys: string[] = [];
  const note = (_object: unknown, { key }: { key: string }) => Promise.resolve(void keys.push(key));
  const manager = new Manager({ name: "tests", client: cluster.client, lease: NAME });
  const cache = manager.cache("v1", "ConfigMap", { labelSelector: "app=shop" });
  const { queue } = manager.control(cache, { finalizer, cleanup: note, reconcile: note });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  await settle();
  cluster.patch(configMap("unlabeled"), { metadata: { labels: { app: null } } });
  for (const name of ["a", "b", "c"]) cluster.create(configMap(name, {}, labels));
  for (const name of ["a", "b"]) cluster.delete(configMap(name));
  await pass(time, 1000);
  assertEquals([queue.length, cache.size], [0, 1]);
  await other.lease.release();
  await until(time, () => keys.length > 1);
  assertEquals(new Set(keys), new Set(["default/c", "default/unlabeled"]));
  stop.abort();
  await ended;
});
