/** Tests of two controllers with one lease, of which one is killed or stopped. */

import { assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { configMaps } from "./admin.ts";
import { ControllerProcess } from "./controller_process.ts";
import { createMany, greeting, reaction, untilInOrder } from "./greetings.ts";
import { overlaps } from "./overlaps.ts";
import { onEachRuntime } from "./real_tests.ts";
import { TcpProxy } from "./tcp_proxy.ts";

const NAMESPACE = "default";
const SOON = 60_000;
const LEASE = { LEASE: "greeter", LEASE_DURATION: "6000", REQUEUE: "1s" };

onEachRuntime("three handovers of the lease", async (runtime, cluster, t) => {
  const { admin } = cluster;
  await using proxy = await TcpProxy.start(cluster.api.url);
  const start = (url?: string) => ControllerProcess.greeter(runtime, cluster.kubeconfig({ ...url && { url } }), LEASE);
  await using first = await start();
  await createMany(admin, NAMESPACE, "a", 10);
  await untilInOrder(admin, NAMESPACE, 10, SOON);
  await using second = await start(proxy.url);
  await second.saw("synced");
  await delay(2000);
  assertEquals(second.of("begin").length, 0);

  await t.step("the leader is killed", async () => {
    await first.end("SIGKILL");
    await reaction(admin, NAMESPACE, "a-1", "first was killed");
  });

  await using third = await start();
  await third.saw("synced");
  await t.step("the leader is stopped, and continues when another process leads", async () => {
    second.signal("SIGSTOP");
    await reaction(admin, NAMESPACE, "a-1", "second is stopped");
    second.signal("SIGCONT");
    const { code } = await second.saw("ended");
    assertEquals(code, "WQ_LEASE_LOST");
    assertEquals(await second.ended(), 1);
  });

  await using fourth = await start();
  await fourth.saw("synced");
  await t.step("the leader ends by itself: the next one leads at once", async () => {
    await third.end();
    assertEquals(await third.ended(), 0);
    await reaction(admin, NAMESPACE, "a-1", "third has ended");
  });

  await t.step("the leader is cut off", async () => {
    await using fifth = await start(proxy.url);
    await fifth.saw("synced");
    await fourth.end();
    await reaction(admin, NAMESPACE, "a-1", "fifth leads");
    await using sixth = await start();
    await sixth.saw("synced");
    proxy.cut();
    await reaction(admin, NAMESPACE, "a-1", "fifth is cut off");
    const { code } = await fifth.saw("ended");
    assertEquals(code, "WQ_LEASE_LOST");
    proxy.cut(false);
    assertEquals(overlaps([first, second, third, fourth, fifth, sixth].map(({ events }) => events)), []);
  });
  await admin.create(configMaps(NAMESPACE), greeting("last", { text: "hello" }));
});
