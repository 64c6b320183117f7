/** Test of a controller for which nothing happens for three minutes. */

import { assertEquals, assertLess } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { ControllerProcess } from "./controller_process.ts";
import { createMany, reaction, untilInOrder } from "./greetings.ts";
import { onEachRuntime } from "./real_tests.ts";
import { between, requestsOfOthers } from "./requests.ts";
import { TcpProxy } from "./tcp_proxy.ts";

const NAMESPACE = "default";
const QUIET = 180_000;

onEachRuntime("three minutes of quiet, and then a change", async (runtime, cluster) => {
  const { admin } = cluster;
  await using proxy = await TcpProxy.start(cluster.api.url);
  const kubeconfig = cluster.kubeconfig({ url: proxy.url });
  await using controller = await ControllerProcess.greeter(runtime, kubeconfig, { REQUEUE: "10h" });
  await createMany(admin, NAMESPACE, "a", 5);
  await untilInOrder(admin, NAMESPACE, 5);
  const [before, connections, cpu] = [await requestsOfOthers(admin), proxy.connections, controller.cpu()];
  await delay(QUIET);
  assertEquals(between(before, await requestsOfOthers(admin)), { writes: 0, reads: 0, conflicts: 0 });
  assertLess(proxy.connections - connections, 20);
  assertLess(controller.cpu() - cpu, 5);
  await reaction(admin, NAMESPACE, "a-1", "after the quiet");
  assertEquals(controller.of("error"), []);
});
