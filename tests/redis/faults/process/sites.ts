/** Servers around which a storm rages: one server that restarts, or a cluster whose slots and masters move. */

import { setTimeout as delay } from "node:timers/promises";
import { Cluster } from "../../clusters.ts";
import { RedisProxy } from "../../proxy.ts";
import { RedisServer } from "../../server.ts";
import { uniqueName } from "../../unique_name.ts";
import { until } from "../faults.ts";

/** Options with which a process connects. */
export type At = { readonly url: string } | { readonly cluster: readonly string[] };

/** Way of a process to its servers. Faults last for a number of milliseconds. */
export interface Way {
  readonly at: At;
  cut(ms: number): Promise<void>;
  delay(ms: number): Promise<void>;
}

/** Servers of a storm. */
export interface Site extends AsyncDisposable {
  readonly at: At;
  /** Returns a name for the queue with this number. */
  nameQueue(nth: number): Promise<string>;
  openWay(): Promise<Way>;
  /** Lets the servers suffer until a time, given by `performance.now()`. Calls `count` with each fault. */
  suffer(names: readonly string[], end: number, random: () => number, count: (fault: string) => void): Promise<void>;
}

/** Server that syncs each write to disk, and that is killed and restarted. Each process has a proxy of its own. */
export async function startServer(): Promise<Site> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await RedisServer.start({ appendonly: true }));
  const all = stack.move();
  return {
    at: { url: server.url },
    nameQueue: () => Promise.resolve(uniqueName("queue")),
    async openWay() {
      const proxy = all.use(await RedisProxy.start(server.url));
      return {
        at: { url: proxy.url },
        async cut(ms) {
          proxy.refuse();
          proxy.dropAll();
          await delay(ms);
          proxy.refuse(false);
        },
        async delay(ms) {
          proxy.holdReplies();
          await delay(ms);
          proxy.holdReplies(false);
        },
      };
    },
    async suffer(_names, end, random, count) {
      const ms = end - performance.now();
      for (let wait = ms / 4; performance.now() + wait < end; wait = Math.max(ms / 2, 5000)) {
        await delay(wait);
        count("restart");
        await server.kill("SIGKILL");
        await delay(1500 * random());
        await server.start();
        // A server that is killed while it writes a script to its file may keep a part, which the second start from
        // then on runs as if it were the whole (https://github.com/valkey-io/valkey/pull/4342). So the file is written
        // anew.
        await server.call("BGREWRITEAOF");
        await until(async () => /aof_rewrite_in_progress:0/.test(String(await server.call("INFO", "persistence"))));
      }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/**
 * Cluster. The first queue is on the master that has a replica, and both hand over to each other. The slot of the
 * second queue is moved between the other masters.
 */
export async function startCluster(): Promise<Site> {
  const cluster = await Cluster.start();
  const { masters, replica, nodes } = cluster;
  // On a busy machine, the replica would take over by itself, and it may not have seen the last writes.
  for (const node of nodes) await node.call("CONFIG", "SET", "cluster-replica-no-failover", "yes");
  const [first, second, third] = masters as [RedisServer, RedisServer, RedisServer];

  async function handOver(): Promise<void> {
    for (const node of [first, replica]) {
      if ((await node.call("ROLE") as string[])[0] !== "slave") continue;
      await until(() => node.call("CLUSTER", "FAILOVER").catch(() => false));
      await until(async () => (await node.call("ROLE") as string[])[0] === "master");
      return;
    }
  }

  async function move(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
    await cluster.beginMove(slot, from, to);
    for (let i = 0; i < 3; i++) {
      await cluster.moveKeys(slot, from, to, 3);
      await delay(30);
    }
    await cluster.finishMove(slot, from, to);
  }

  return {
    at: { cluster: cluster.urls },
    nameQueue: (nth) => cluster.nameOn(masters[nth]!, uniqueName("queue")),
    openWay: () =>
      Promise.resolve({
        at: { cluster: cluster.urls },
        async cut() {
          for (const node of nodes) {
            // Not those of the test, which run no scripts.
            const scripts = String(await node.call("CLIENT", "LIST")).split("\n").filter((line) =>
              /cmd=eval/.test(line)
            );
            for (const line of scripts) await node.call("CLIENT", "KILL", "ID", /^id=(\d+)/.exec(line)![1]!);
          }
        },
        async delay(ms) {
          await first.call("CLIENT", "PAUSE", `${Math.ceil(ms / 4)}`, "WRITE");
        },
      }),
    async suffer([, moved], end, random, count) {
      const slot = await cluster.slotOf(`{${moved}}`);
      let [from, to] = [second, third];
      while (performance.now() < end) {
        await delay(1000 * random());
        count("move");
        await move(slot, from, to);
        [from, to] = [to, from];
        await delay(1000 * random());
        count("hand over");
        await handOver();
      }
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
