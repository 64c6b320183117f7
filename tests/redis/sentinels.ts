/** Redis Sentinels for tests: a master, a replica, and three Sentinels that watch them. */

import { until } from "./faults/faults.ts";
import { RedisServer, type ServerOptions } from "./server.ts";

/** Name of the master, on the Sentinels. */
export const MASTER = "mymaster";

/** Milliseconds of silence after which a Sentinel regards the master as down. */
const DOWN_AFTER = 500;

/** Master with one replica and three Sentinels. */
export class Watched implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];

  private constructor(stack: AsyncDisposableStack, servers: RedisServer[], sentinels: RedisServer[]) {
    this.#stack = stack;
    this.servers = servers;
    this.sentinels = sentinels;
  }

  /** Starts the servers, and waits until a failover would succeed. */
  static async start(options: ServerOptions = {}): Promise<Watched> {
    await using stack = new AsyncDisposableStack();
    const args = ["--repl-diskless-sync-delay", "0", ...options.args ?? []];
    const master = stack.use(await RedisServer.start({ ...options, args }));
    const replica = stack.use(await RedisServer.start({ ...options, args }));
    await replica.call("REPLICAOF", "127.0.0.1", String(master.port));
    const sentinels: RedisServer[] = [];
    for (let i = 0; i < 3; i++) sentinels.push(stack.use(await startSentinel(master.port)));
    await until(async () => /state=online/.test(String(await master.call("INFO", "replication"))));
    for (const sentinel of sentinels) {
      // The Sentinel knows the replica and both other Sentinels.
      await until(async () => /slaves=1,sentinels=3/.test(String(await sentinel.call("INFO", "sentinel"))));
    }
    return new Watched(stack.move(), [master, replica], sentinels);
  }

  /** URLs of the Sentinels. */
  get urls(): string[] {
    return this.sentinels.map(({ url }) => url);
  }

  /** Waits until the replica has everything that the first master has accepted: replication is asynchronous. */
  async replicated(): Promise<void> {
    const [master, replica] = this.servers;
    const mark = crypto.randomUUID();
    await master!.call("SET", "replicated", mark);
    await until(async () => await replica!.call("GET", "replicated") === mark);
  }

  /** Returns the current master, according to the servers themselves. */
  async master(): Promise<RedisServer | undefined> {
    for (const server of this.servers) {
      const role = await server.call("ROLE").catch(() => []) as string[];
      if (role[0] === "master") return server;
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** Starts a Sentinel, which writes its state to its config file. */
async function startSentinel(masterPort: number): Promise<RedisServer> {
  const config = [
    `sentinel monitor ${MASTER} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER}`,
    `sentinel failover-timeout ${MASTER} 5000`,
  ].join("\n");
  const sentinel = await RedisServer.start({ config, args: ["--sentinel"] });
  // By default, it takes seconds until a Sentinel knows the others. Older servers don't have these settings.
  // A Sentinel that has heard nothing for two INFO periods demotes no former master, so this period is longer.
  const periods = ["INFO-PERIOD", "1000", "PUBLISH-PERIOD", "100", "ASK-PERIOD", "100"];
  await sentinel.call("SENTINEL", "DEBUG", ...periods).catch(() => {});
  return sentinel;
}
