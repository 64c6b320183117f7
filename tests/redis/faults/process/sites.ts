/**
 * Servers around which a storm rages: one server that restarts, a cluster whose slots and masters move, or a master and
 * a replica that Sentinels exchange.
 */

import { setTimeout as delay } from "node:timers/promises";
import { Cluster } from "../../clusters.ts";
import { RedisProxy } from "../../proxy.ts";
import { MASTER, Watched } from "../../sentinels.ts";
import { RedisServer } from "../../server.ts";
import { uniqueName } from "../../unique_name.ts";
import { until } from "../faults.ts";

/** Options with which a process connects. */
export type At =
  | { readonly url: string; readonly sentinels?: readonly string[] }
  | { readonly cluster: readonly string[] };

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

/** Milliseconds after which a replica surely gave up a failover that was asked for. It does so after five seconds. */
const GIVEN_UP_AFTER = 6000;

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
      let askedAt = -Infinity;
      await until(async () => {
        if ((await node.call("ROLE") as string[])[0] === "master") return true;
        const mayAsk = performance.now() - askedAt > GIVEN_UP_AFTER;
        if (mayAsk && await node.call("CLUSTER", "FAILOVER").catch(() => false)) askedAt = performance.now();
        return false;
      });
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
        cut: () => killConnections(nodes),
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

/**
 * Master and replica, which Sentinels exchange. Before that, writes are paused until the replica has all of them,
 * because it would lose the others.
 */
export async function startSentinel(): Promise<Site> {
  const watched = await Watched.start({ appendonly: true });
  const { servers, sentinels } = watched;
  for (const each of sentinels) {
    // On a busy machine, the Sentinels would regard the master as down, and exchange it without a pause.
    await each.call("SENTINEL", "SET", MASTER, "down-after-milliseconds", "60000");
    // A Sentinel that doesn't hear of a failover within four periods turns the new master into a replica again.
    await each.call("SENTINEL", "DEBUG", "PUBLISH-PERIOD", "1000").catch(() => {});
  }
  const at = { url: `redis://${MASTER}/0`, sentinels: watched.urls };

  async function failOver(): Promise<void> {
    const master = (await watched.master())!;
    const replica = servers.find((server) => server !== master)!;
    await call(master, "CLIENT", "PAUSE", "60000", "WRITE");
    await until(async () => await offsetOf(replica) === await offsetOf(master));
    await until(() => sentinels[0]!.call("SENTINEL", "FAILOVER", MASTER).catch(() => false));
    await until(async () => (await call(replica, "ROLE") as string[])[0] === "master");
    await call(master, "REPLICAOF", "127.0.0.1", `${replica.port}`); // the Sentinels would take seconds
    await call(master, "CLIENT", "UNPAUSE");
    for (const each of sentinels) {
      await until(async () => {
        const [, port] = await each.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER) as string[];
        return port === `${replica.port}`;
      });
    }
    await until(async () => /master_link_status:up/.test(String(await call(master, "INFO", "replication"))));
  }

  return {
    at,
    nameQueue: () => Promise.resolve(uniqueName("queue")),
    openWay: () =>
      Promise.resolve({
        at,
        cut: () => killConnections(servers),
        async delay(ms) {
          const master = await watched.master();
          if (master !== undefined) await call(master, "CLIENT", "PAUSE", `${Math.ceil(ms / 4)}`, "WRITE");
        },
      }),
    async suffer(_names, end, random, count) {
      while (performance.now() < end) {
        await delay(1000 * random());
        count("failover");
        await failOver();
      }
    },
    [Symbol.asyncDispose]: () => watched[Symbol.asyncDispose](),
  };
}

/** Returns how much of the replication stream a server has written or received. */
async function offsetOf(server: RedisServer): Promise<number> {
  return Number(/master_repl_offset:(\d+)/.exec(String(await call(server, "INFO", "replication")))![1]);
}

/** Cuts the connections on which scripts run. Those of the test run none. */
async function killConnections(servers: readonly RedisServer[]): Promise<void> {
  for (const server of servers) {
    const scripts = String(await call(server, "CLIENT", "LIST")).split("\n").filter((line) => /cmd=eval/.test(line));
    const ids = scripts.map((line) => /^id=(\d+)/.exec(line)![1]!);
    for (const id of ids) await call(server, "CLIENT", "KILL", "ID", id);
  }
}

/** Runs a command, again if its connection is cut: the Sentinels cut all connections of a master that they replace. */
async function call(server: RedisServer, ...command: string[]): Promise<unknown> {
  for (;;) {
    try {
      return await server.call(...command);
    } catch (error) {
      if (!/Socket closed|ECONNRESET/.test(String(error))) throw error;
    }
  }
}
