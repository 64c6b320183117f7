/** Test of a server that is unreachable for longer than the lease duration and then comes back. */

import { assert, assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { RedisProxy } from "../proxy.ts";
import { RedisServer } from "../server.ts";
import { aborted, newQueue, open, take, until } from "./faults.ts";

/**
 * Outage: its kind and its duration in milliseconds. In an outage of the kind `"replicas"`, the server has too few
 * replicas for writes.
 */
export interface Absence {
  how: "kill" | "stop" | "network" | "replicas";
  leaseDuration: number;
  away: number;
}

/**
 * Checks that a process keeps its items during an outage: idle processes don't receive items that the process can still
 * finish.
 */
export async function serverAway({ how, leaseDuration, away }: Absence): Promise<void> {
  await using server = await RedisServer.start({ appendonly: true });
  await using proxy = await RedisProxy.start(server.url);
  await using idleProxy = await RedisProxy.start(server.url);
  const { name, stored } = newQueue(server.url);
  const options = { leaseDuration, callTimeout: "2m" };
  await using holder = open(proxy.url, name, options);
  await using idle = open(idleProxy.url, name, options);
  await holder.queue.addAll(["a", "b", "c"]);
  const leases = [await take(holder.queue), await take(holder.queue), await take(holder.queue)];
  const late = Promise.all([take(idle.queue), take(idle.queue)]);
  late.catch(() => {}); // if the test fails earlier, only that failure is reported
  while (Number(await stored.call("ZCARD", "idle")) === 0) await delay(5);

  const heard = await stored.call("HGET", "meta", "heard");
  if (how === "kill") await server.kill("SIGKILL");
  else if (how === "stop") await server.kill("SIGSTOP");
  else if (how === "replicas") await server.call("CONFIG", "SET", "min-replicas-to-write", "1");
  for (const each of how === "network" ? [proxy, idleProxy] : [proxy]) {
    each.refuse();
    each.dropAll();
  }
  await delay(away); // the outage to test
  if (how === "kill") await server.start();
  else if (how === "stop") await server.kill("SIGCONT");
  else if (how === "replicas") await server.call("CONFIG", "SET", "min-replicas-to-write", "0");
  idleProxy.refuse(false);
  await idle.queue.counts();
  await until(async () => await stored.call("HGET", "meta", "heard") !== heard); // the idle process is first to call
  proxy.refuse(false);

  for (const { signal } of leases) await aborted(signal); // the holder can't know whether it still has its leases
  await idle.queue.counts();
  await holder.queue.counts();
  await stored.trusted(leaseDuration);
  await delay(leaseDuration / 2); // the idle process has asked for items again
  assertEquals([await stored.stalls(), (await holder.queue.counts()).processing], [0, 3]);
  for (const lease of leases) assert(await lease.finish());
  await holder.queue.addAll(["d", "e"]);
  for (const next of await late) assert(await next.finish());
  assertEquals([holder.errors, idle.errors], [[], []]);
}
