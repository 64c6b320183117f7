/** Tests of a controller whose API server or etcd restarts, forgets versions, goes back in time, or lags. */

import { assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { configMaps, secrets } from "./admin.ts";
import { ControllerProcess } from "./controller_process.ts";
import { changeMany, createMany, forEach, greeting, reaction, stored, untilInOrder } from "./greetings.ts";
import { NEWEST_KUBERNETES } from "./programs.ts";
import { clusterTest, onEachRuntime, RUNTIMES } from "./real_tests.ts";
import { TcpProxy } from "./tcp_proxy.ts";

const NAMESPACE = "default";
const SOON = 60_000;

onEachRuntime("restarts, compaction, and an etcd that goes back", async (runtime, cluster, t) => {
  const { admin } = cluster;
  await using proxy = await TcpProxy.start(cluster.api.url);
  const kubeconfig = cluster.kubeconfig({ url: proxy.url });
  await using controller = await ControllerProcess.greeter(runtime, kubeconfig, { REQUEUE: "10m" });
  const names = await createMany(admin, NAMESPACE, "a", 50);
  await untilInOrder(admin, NAMESPACE, 50, SOON);

  /** Waits until the caches hold exactly the objects of the cluster. */
  async function cachesAreExact(): Promise<void> {
    const [configs, copies] = await stored(admin, NAMESPACE);
    const expected = [["configmaps", configs], ["secrets", copies]] as const;
    const versions = expected.flatMap(([kind, objects]) =>
      objects.map(({ metadata: { name, resourceVersion } }) => [`${kind}/${NAMESPACE}/${name}`, resourceVersion])
    );
    const end = performance.now() + SOON;
    let cached = await controller.cached();
    const sorted = (objects: Record<string, string>) => Object.entries(objects).sort().join("\n");
    while (performance.now() < end && sorted(cached) !== sorted(Object.fromEntries(versions))) {
      await delay(100);
      cached = await controller.cached();
    }
    assertEquals(sorted(cached), sorted(Object.fromEntries(versions)));
  }

  await t.step("etcd restarts", async () => {
    await cluster.etcd.kill();
    await delay(3000);
    await cluster.etcd.start();
    await cluster.api.process.ready(() => admin.isReady());
    await changeMany(admin, NAMESPACE, names.slice(0, 5), "etcd restarted");
    await untilInOrder(admin, NAMESPACE, 50, SOON);
    await cachesAreExact();
  });

  await t.step(
    "versions of a watch are compacted while it is disconnected, and deletions are still noticed",
    async () => {
      proxy.refuse();
      await changeMany(admin, NAMESPACE, names.slice(0, 10), "compacted");
      await admin.delete(secrets(NAMESPACE, names[11]!));
      await forEach(names.slice(12, 15), async (name) => {
        // Objects that are deleted without the controller, as if by force.
        await admin.patch(configMaps(NAMESPACE, name), { metadata: { finalizers: null } });
        await admin.delete(configMaps(NAMESPACE, name));
        await admin.delete(secrets(NAMESPACE, name));
      });
      await admin.patch(configMaps(NAMESPACE, names[15]!), { metadata: { finalizers: null } });
      await admin.delete(configMaps(NAMESPACE, names[15]!));
      await admin.create(configMaps(NAMESPACE), greeting(names[15]!, { text: "created again" }));
      await cluster.compact();
      await cluster.api.restart(); // its watch cache begins with the current version
      proxy.refuse(false);
      await untilInOrder(admin, NAMESPACE, 47, SOON);
      await cachesAreExact();
    },
  );

  await t.step("etcd goes back to a backup", async () => {
    await cluster.backUp();
    await cluster.api.process.ready(() => admin.isReady());
    await changeMany(admin, NAMESPACE, names.slice(0, 10), "lost");
    await createMany(admin, NAMESPACE, "lost", 10);
    await untilInOrder(admin, NAMESPACE, 57, SOON);
    await cluster.restore();
    await untilInOrder(admin, NAMESPACE, 47, SOON);
    await cachesAreExact();
    await reaction(admin, NAMESPACE, names[0]!, "after the restore");
  });
});

onEachRuntime("two API servers, of which one lags by a second", async (runtime, cluster) => {
  const { admin } = cluster;
  await using slowEtcd = await TcpProxy.start(cluster.etcdUrl);
  const late = await cluster.addApiServer([], slowEtcd.url);
  await using proxy = await TcpProxy.start(cluster.api.url);
  const kubeconfig = cluster.kubeconfig({ url: proxy.url });
  await using controller = await ControllerProcess.greeter(runtime, kubeconfig, { REQUEUE: "10m" });
  await controller.saw("synced");
  slowEtcd.slow(1000);
  const names = await createMany(admin, NAMESPACE, "a", 50);
  for (let i = 0; i < 8; i++) {
    await changeMany(admin, NAMESPACE, names.slice(i, i + 5), `turn ${i}`);
    proxy.lead(i % 2 === 0 ? late.url : cluster.api.url);
    await delay(1500);
  }
  await admin.delete(configMaps(NAMESPACE, names[49]!));
  await untilInOrder(admin, NAMESPACE, 49, 2 * SOON);
});

for (const runtime of RUNTIMES.slice(0, 1)) {
  clusterTest(`${runtime}: Kubernetes ${NEWEST_KUBERNETES}`, async (cluster) => {
    const { admin } = cluster;
    await using controller = await ControllerProcess.greeter(runtime, cluster.kubeconfig(), { REQUEUE: "10m" });
    await controller.saw("synced");
    const names = await createMany(admin, NAMESPACE, "a", 50);
    await untilInOrder(admin, NAMESPACE, 50, SOON);
    await cluster.api.restart();
    await changeMany(admin, NAMESPACE, names, "restarted");
    await forEach(names.slice(0, 10), (name) => admin.delete(configMaps(NAMESPACE, name)));
    await untilInOrder(admin, NAMESPACE, 40, SOON);
  }, { version: NEWEST_KUBERNETES });
}
