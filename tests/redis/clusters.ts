/** Redis Cluster for tests: three masters, of which the first has a replica. */

import { freePort } from "../keeper.ts";
import { until } from "./faults/faults.ts";
import { RedisServer, type ServerOptions } from "./server.ts";

/** Number of hash slots of every cluster. */
const SLOTS = 16384;
/** Milliseconds of silence after which the nodes regard a node as failing. */
const NODE_TIMEOUT = 1000;

/** Cluster that runs until it is disposed. */
export class Cluster implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  /** Masters. Each begins with a third of the slots. */
  readonly masters: readonly RedisServer[];
  /** Replica of the first master. */
  readonly replica: RedisServer;

  private constructor(stack: AsyncDisposableStack, [replica, ...masters]: RedisServer[]) {
    this.#stack = stack;
    this.masters = masters;
    this.replica = replica!;
  }

  /** Starts the nodes, and waits until all of them know each other and the replica is in sync. */
  static async start(options: ServerOptions = {}): Promise<Cluster> {
    await using stack = new AsyncDisposableStack();
    const nodes: RedisServer[] = [];
    for (let i = 0; i < 4; i++) nodes.push(stack.use(await startNode(options)));
    const [replica, ...masters] = nodes as [RedisServer, ...RedisServer[]];
    for (const [i, master] of masters.entries()) {
      const [first, next] = [i, i + 1].map((part) => Math.floor(part * SLOTS / masters.length));
      await master.call("CLUSTER", "ADDSLOTSRANGE", `${first}`, `${next! - 1}`);
      await master.call("CLUSTER", "SET-CONFIG-EPOCH", `${i + 1}`);
    }
    const [, busPort] = await replica.call("CONFIG", "GET", "cluster-port") as string[];
    for (const master of masters) await master.call("CLUSTER", "MEET", "127.0.0.1", `${replica.port}`, busPort!);
    const cluster = new Cluster(stack.move(), nodes);
    try {
      await until(() => cluster.#all("CLUSTER INFO", /cluster_state:ok[^]*cluster_known_nodes:4/));
      await replica.call("CLUSTER", "REPLICATE", await cluster.idOf(masters[0]!));
      await until(async () => /state=online/.test(String(await masters[0]!.call("INFO", "replication"))));
      await until(() => cluster.#all("CLUSTER NODES", /slave /));
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  get nodes(): readonly RedisServer[] {
    return [this.replica, ...this.masters];
  }

  /** URLs of the masters. */
  get urls(): string[] {
    return this.masters.map(({ url }) => url);
  }

  async idOf(node: RedisServer): Promise<string> {
    return String(await node.call("CLUSTER", "MYID"));
  }

  async slotOf(key: string): Promise<number> {
    return Number(await this.masters[0]!.call("CLUSTER", "KEYSLOT", key));
  }

  /** Returns a name that begins with this text, and whose keys are on this master. */
  async nameOn(master: RedisServer, text: string): Promise<string> {
    for (let i = 0;; i++) {
      const slot = await this.slotOf(`{${text}${i}}`);
      if (Math.floor(slot / (SLOTS / 3)) === this.masters.indexOf(master)) return `${text}${i}`;
    }
  }

  /** Begins to move a slot. Until `finishMove`, its keys are on both nodes. */
  async beginMove(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
    await to.call("CLUSTER", "SETSLOT", `${slot}`, "IMPORTING", await this.idOf(from));
    await from.call("CLUSTER", "SETSLOT", `${slot}`, "MIGRATING", await this.idOf(to));
  }

  /** Moves up to `count` keys of a slot. Returns the number of moved keys. */
  async moveKeys(slot: number, from: RedisServer, to: RedisServer, count: number): Promise<number> {
    const keys = await from.call("CLUSTER", "GETKEYSINSLOT", `${slot}`, `${count}`) as string[];
    if (keys.length > 0) await from.call("MIGRATE", "127.0.0.1", `${to.port}`, "", "0", "5000", "KEYS", ...keys);
    return keys.length;
  }

  /** Moves all remaining keys of a slot, and makes `to` its owner. */
  async finishMove(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
    while (await this.moveKeys(slot, from, to, 10) > 0);
    const id = await this.idOf(to);
    for (const node of [to, from]) await node.call("CLUSTER", "SETSLOT", `${slot}`, "NODE", id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #all(command: string, pattern: RegExp): Promise<boolean> {
    const replies = await Promise.all(this.nodes.map((node) => node.call(...command.split(" "))));
    return replies.every((reply) => pattern.test(String(reply)));
  }
}

async function startNode(options: ServerOptions): Promise<RedisServer> {
  const settings = {
    "cluster-enabled": "yes",
    "cluster-port": await freePort(),
    "cluster-node-timeout": NODE_TIMEOUT,
    "cluster-require-full-coverage": "no",
    "repl-diskless-sync-delay": 0,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  return await RedisServer.start({ ...options, args: [...args, ...options.args ?? []] });
}
