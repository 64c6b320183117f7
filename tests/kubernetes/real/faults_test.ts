/** Tests of a controller on each runtime while the network and the API server fail. */

import { assertEquals, assertLess } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { ControllerProcess } from "./controller_process.ts";
import { changeMany, createMany, reaction, untilInOrder } from "./greetings.ts";
import { onEachRuntime } from "./real_tests.ts";
import { between, requestsOfOthers } from "./requests.ts";
import { TcpProxy } from "./tcp_proxy.ts";

const OBJECTS = 500;
const CHANGED = 20;
const NAMESPACE = "default";

/** Longest time in milliseconds until everything is in order after a fault. A test that exceeds it has failed. */
const SOON = 60_000;
const AFTER_HALF_OPEN = 120_000;

onEachRuntime("a controller goes on after each fault of the network and the server", async (runtime, cluster, t) => {
  const { admin } = cluster;
  await using proxy = await TcpProxy.start(cluster.api.url);
  const kubeconfig = cluster.kubeconfig({ url: proxy.url });
  await using controller = await ControllerProcess.greeter(runtime, kubeconfig, { REQUEUE: "10m" });
  await controller.saw("synced");
  let names: string[] = [];

  await t.step("500 creates cause 1,500 writes, no reads, no conflicts", async () => {
    const before = await requestsOfOthers(admin);
    names = await createMany(admin, NAMESPACE, "a", OBJECTS);
    await untilInOrder(admin, NAMESPACE, OBJECTS);
    const requests = between(before, await requestsOfOthers(admin));
    assertEquals(requests, { writes: 3 * OBJECTS, reads: 0, conflicts: 0 });
    assertLess(proxy.connections, 30);
  });

  await t.step("closed connections", async () => {
    proxy.closeEvery(1000);
    for (let i = 0; i < CHANGED; i++) {
      await delay(130 * (i % 7)); // at another time after the closing each time
      await reaction(admin, NAMESPACE, names[i]!, `closed ${i}`);
    }
    proxy.closeEvery(0);
    await untilInOrder(admin, NAMESPACE, OBJECTS, SOON);
  });

  await t.step("a network that is cut, while objects change", async () => {
    proxy.cut();
    await changeMany(admin, NAMESPACE, names.slice(0, CHANGED), "cut");
    await delay(20_000);
    proxy.cut(false);
    await untilInOrder(admin, NAMESPACE, OBJECTS, SOON);
  });

  await t.step("a server that refuses connections, while objects change", async () => {
    proxy.refuse();
    await changeMany(admin, NAMESPACE, names.slice(0, CHANGED), "refused");
    await delay(5000);
    proxy.refuse(false);
    await untilInOrder(admin, NAMESPACE, OBJECTS, SOON);
  });

  await t.step("a slow network", async () => {
    proxy.slow(300);
    await changeMany(admin, NAMESPACE, names.slice(0, CHANGED), "slow");
    await untilInOrder(admin, NAMESPACE, OBJECTS, SOON);
    proxy.slow(0);
  });

  await t.step("a server that is down for 20 s", async () => {
    await cluster.api.process.kill();
    await delay(20_000);
    await cluster.api.start();
    await changeMany(admin, NAMESPACE, names.slice(0, CHANGED), "server down");
    await untilInOrder(admin, NAMESPACE, OBJECTS, SOON);
  });

  await t.step("half-open connections", async () => {
    proxy.halfOpen();
    await changeMany(admin, NAMESPACE, names.slice(0, CHANGED), "half-open");
    await untilInOrder(admin, NAMESPACE, OBJECTS, AFTER_HALF_OPEN);
  });

  await t.step("half-open connections amid writes", async () => {
    const changes = changeMany(admin, NAMESPACE, names, "half-open amid writes");
    await delay(500);
    proxy.halfOpen();
    await changes;
    await untilInOrder(admin, NAMESPACE, OBJECTS, AFTER_HALF_OPEN);
  });

  await t.step("SIGTERM with a backlog ends running attempts, and begins no others", async () => {
    const changes = changeMany(admin, NAMESPACE, names, "sigterm");
    await delay(1000);
    await controller.end();
    await changes;
    assertEquals(await controller.ended(), 0, controller.errors);
    assertEquals(controller.of("ended").length, 1);
    assertEquals(controller.of("begin").length, controller.of("end").length);
  });

  await t.step("a second start does the remaining work, and a third one writes nothing", async () => {
    await using next = await ControllerProcess.greeter(runtime, kubeconfig, { REQUEUE: "10m" });
    await next.saw("synced");
    await untilInOrder(admin, NAMESPACE, OBJECTS, SOON);
    await next.end();
    const before = await requestsOfOthers(admin);
    await using last = await ControllerProcess.greeter(runtime, kubeconfig, { REQUEUE: "10m" });
    await last.saw("synced");
    while (last.of("end").length < OBJECTS) await delay(100);
    assertEquals(between(before, await requestsOfOthers(admin)), { writes: 0, reads: 0, conflicts: 0 });
    const versions = await last.cached();
    assertEquals(Object.keys(versions).length, 2 * OBJECTS);
  });
});
