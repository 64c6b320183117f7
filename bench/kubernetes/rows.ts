/** Measurements of a contender. */

import { setTimeout as delay } from "node:timers/promises";
import { type Admin, configMaps } from "../../tests/kubernetes/real/admin.ts";
import { Cluster } from "../../tests/kubernetes/real/cluster.ts";
import { until } from "../../tests/kubernetes/real/controller_process.ts";
import { changeMany, createMany, greeting, reaction, untilInOrder } from "../../tests/kubernetes/real/greetings.ts";
import { TcpProxy } from "../../tests/kubernetes/real/tcp_proxy.ts";
import { medianOf } from "../statistics.ts";
import type { Contender, Running } from "./contenders.ts";
import { between, requestsOfOthers } from "../../tests/kubernetes/real/requests.ts";

/** Sizes and times of a run. */
export interface Scale {
  /** Objects of most rows. */
  readonly objects: number;
  /** Objects that exist before the controller starts. */
  readonly many: number;
  /** Milliseconds for which a server or the network is away. */
  readonly away: number;
  /** Number of changes while connections are closed. */
  readonly changes: number;
}

/** Measured values, by the names of figures. */
export type Measured = Record<string, number>;

/** Objects that are changed after a fault. */
const CHANGED = 20;
const CLOSE_EVERY = 3000;
const NAMESPACE = "default";

/** Situation in which rows are measured: a running controller behind a proxy. */
interface Place {
  readonly cluster: Cluster;
  readonly admin: Admin;
  readonly proxy: TcpProxy;
  readonly running: Running;
  readonly scale: Scale;
  readonly names: readonly string[];
}

/** Measures a contender on a cluster of its own. */
export async function measureFaults(contender: Contender, scale: Scale): Promise<Measured> {
  await using cluster = await Cluster.start();
  const { admin } = cluster;
  await using proxy = await TcpProxy.start(cluster.api.url);
  const kubeconfig = cluster.kubeconfig({ url: proxy.url });
  const running = await contender.start(cluster, kubeconfig);
  await using _process = running.process;
  await createMany(admin, NAMESPACE, "first", 1); // once it is in order, the caches are synced
  await untilInOrder(admin, NAMESPACE, 1);

  const figures: Measured = {};
  const names = await creates(figures, { cluster, admin, proxy, running, scale, names: [] });
  const place: Place = { cluster, admin, proxy, running, scale, names };
  for (const row of [closed, cut, serverDown, halfOpen, halfOpenAmidWrites, sigterm]) {
    try {
      await row(figures, place);
    } catch (error) {
      console.error(`${contender.name}, ${row.name}: ${(error as Error).message}`);
      proxy.cut(false);
      proxy.closeEvery(0);
    }
  }
  return figures;
}

async function creates(figures: Measured, place: Place): Promise<string[]> {
  const { admin, proxy, running: { process }, scale: { objects } } = place;
  const before = await requestsOfOthers(admin);
  const begin = performance.now();
  const names = await createMany(admin, NAMESPACE, "new", objects);
  await untilInOrder(admin, NAMESPACE, objects + 1);
  figures["creates"] = performance.now() - begin;
  figures["creates: cpu"] = process.cpu() * 1000;
  figures["creates: memory"] = process.peak();
  figures["creates: connections"] = proxy.connections;
  const { writes, reads, conflicts } = between(before, await requestsOfOthers(admin));
  Object.assign(figures, { "creates: writes": writes, "creates: reads": reads, "creates: conflicts": conflicts });
  return names;
}

async function closed(figures: Measured, { admin, proxy, names, scale: { changes } }: Place): Promise<void> {
  const times: number[] = [];
  proxy.closeEvery(CLOSE_EVERY);
  for (let i = 0; i < changes; i++) {
    await delay(700 + 37 * (i % 11)); // at another time after the closing each time
    times.push(await reaction(admin, NAMESPACE, names[i]!, `closed ${i}`));
  }
  proxy.closeEvery(0);
  figures["closed: median"] = medianOf(times);
  figures["closed: worst"] = Math.max(...times);
  await untilInOrder(admin, NAMESPACE);
}

async function cut(figures: Measured, { admin, proxy, names, scale: { away } }: Place): Promise<void> {
  proxy.cut();
  await changeMany(admin, NAMESPACE, names.slice(0, CHANGED), "cut");
  await delay(away);
  proxy.cut(false);
  figures["cut"] = await untilInOrder(admin, NAMESPACE);
}

async function serverDown(figures: Measured, { cluster, admin, names, scale: { away } }: Place): Promise<void> {
  await cluster.api.process.kill();
  await delay(away);
  await cluster.api.start();
  const begin = performance.now();
  await changeMany(admin, NAMESPACE, names.slice(0, CHANGED), "server down");
  await untilInOrder(admin, NAMESPACE);
  figures["server down"] = performance.now() - begin;
}

async function halfOpen(figures: Measured, { admin, proxy, names }: Place): Promise<void> {
  proxy.halfOpen();
  const begin = performance.now();
  await changeMany(admin, NAMESPACE, names.slice(0, CHANGED), "half-open");
  await untilInOrder(admin, NAMESPACE);
  figures["half-open"] = performance.now() - begin;
}

async function halfOpenAmidWrites(figures: Measured, { admin, proxy, names }: Place): Promise<void> {
  const changes = changeMany(admin, NAMESPACE, names, "half-open amid writes");
  await delay(500);
  const begin = performance.now();
  proxy.halfOpen();
  await changes;
  await untilInOrder(admin, NAMESPACE);
  figures["half-open amid writes"] = performance.now() - begin;
}

async function sigterm(figures: Measured, { admin, running: { process }, names }: Place): Promise<void> {
  const changes = changeMany(admin, NAMESPACE, names, "sigterm");
  await delay(1000);
  figures["sigterm"] = await process.end();
  await changes;
}

/** Measures a contender that starts with many objects, and starts again after that. */
export async function measureMany(contender: Contender, scale: Scale): Promise<Measured> {
  await using cluster = await Cluster.start();
  const { admin } = cluster;
  const kubeconfig = cluster.kubeconfig();
  await createMany(admin, NAMESPACE, "old", scale.many);
  const figures: Measured = {};
  {
    const before = await requestsOfOthers(admin);
    const begin = performance.now();
    const { process } = await contender.start(cluster, kubeconfig);
    await using _process = process;
    await untilInOrder(admin, NAMESPACE, scale.many, 1_800_000);
    figures["many"] = performance.now() - begin;
    figures["many: cpu"] = process.cpu() * 1000;
    figures["many: memory"] = process.peak();
    const { writes, reads, conflicts } = between(before, await requestsOfOthers(admin));
    Object.assign(figures, { "many: writes": writes, "many: reads": reads, "many: conflicts": conflicts });
    await process.end();
  }
  {
    const begin = performance.now();
    const { process } = await contender.start(cluster, kubeconfig);
    await using _process = process;
    await reaction(admin, NAMESPACE, "old-0", "restart");
    figures["restart: change"] = performance.now() - begin;
    await process.end();
    await untilInOrder(admin, NAMESPACE);
  }
  const begin = performance.now();
  const { process, attempts } = await contender.start(cluster, kubeconfig, { counts: true });
  await using _process = process;
  const isDone = async () => await attempts().catch(() => 0) >= scale.many; // it doesn't listen at once
  await until(isDone, () => "an attempt at each object", 600_000);
  figures["restart"] = performance.now() - begin;
  figures["restart: cpu"] = process.cpu() * 1000;
  figures["restart: memory"] = process.peak();
  return figures;
}

/** Measures how long it takes until a second process does the work of one that was killed. */
export async function measureHandover(contender: Contender): Promise<Measured> {
  await using cluster = await Cluster.start();
  const { admin } = cluster;
  const kubeconfig = cluster.kubeconfig();
  const leader = await contender.start(cluster, kubeconfig, { elects: true });
  await using first = leader.process;
  await createMany(admin, NAMESPACE, "first", 1);
  await untilInOrder(admin, NAMESPACE, 1);
  const follower = await contender.start(cluster, kubeconfig, { elects: true });
  await using _second = follower.process;
  await delay(5000); // the follower has seen the lease
  await first.end("SIGKILL");
  const begin = performance.now();
  await admin.create(configMaps(NAMESPACE), greeting("second", { text: "hello" }));
  await untilInOrder(admin, NAMESPACE, 2);
  return { "handover": performance.now() - begin };
}
