/** The server goes away for longer than a lease, and comes back. */

import { assert, assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { RedisProxy } from "../proxy.ts";
import { RedisServer } from "../server.ts";
import { aborted, newQueue, open, take, until } from "./faults.ts";

/** What becomes of the server, and for how many milliseconds: with `"replicas"`, it has too few of them for writes. */
export interface Absence {
  how: "kill" | "stop" | "network" | "replicas";
  leaseDuration: number;
  away: number;
}

/** Some hold items meanwhile, and others wait for some: these must not get what the first can still finish. */
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
  late.catch(() => {}); // what goes wrong before is to be seen
  while (Number(await stored.call("ZCARD", "idle")) === 0) await delay(5);

  const heard = await stored.call("HGET", "meta", "heard");
  if (how === "kill") await server.kill("SIGKILL");
  else if (how === "stop") await server.kill("SIGSTOP");
  else if (how === "replicas") await server.call("CONFIG", "SET", "min-replicas-to-write", "1");
  for (const each of how === "network" ? [proxy, idleProxy] : [proxy]) {
    each.refuse();
    each.dropAll();
  }
  await delay(away); // what is tested
  if (how === "kill") await server.start();
  else if (how === "stop") await server.kill("SIGCONT");
  else if (how === "replicas") await server.call("CONFIG", "SET", "min-replicas-to-write", "0");
  idleProxy.refuse(false);
  await idle.queue.counts();
  await until(async () => await stored.call("HGET", "meta", "heard") !== heard); // those who wait come first
  proxy.refuse(false);

  for (const { signal } of leases) await aborted(signal); // nobody could tell that it was safe
  await idle.queue.counts();
  await holder.queue.counts();
  await stored.trusted(leaseDuration);
  await delay(leaseDuration / 2); // and the idle ones have looked again
  assertEquals([await stored.stalls(), (await holder.queue.counts()).processing], [0, 3]);
  for (const lease of leases) assert(await lease.finish());
  await holder.queue.addAll(["d", "e"]);
  for (const next of await late) assert(await next.finish());
  assertEquals([holder.errors, idle.errors], [[], []]);
}
