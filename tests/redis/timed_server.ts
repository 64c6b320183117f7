/** Tools that run the engine's scripts on a real server, under a clock that the test sets. */

import { limiters } from "@workqueue/core";
import type { Connection, Retry, Script } from "../../packages/redis/connection/connection.ts";
import { RedisEngine, type RedisEngineSettings } from "../../packages/redis/engine.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { createScripts, type Scripts } from "../../packages/redis/scripts/script.ts";
import { type Client, connectClient } from "./server.ts";

export { START } from "../contracts/engine_bench.ts";

/** Scripts that read the time from an argument of the call: a second key, which scripts don't use otherwise. */
export const timedScripts: Scripts = createScripts("{ 0, tonumber(KEYS[2]) }");

/** Reports whether a script is the one that takes and finishes keys. */
export function isTurn(script: Script): boolean {
  return script === timedScripts.turn;
}

/**
 * Function that returns the time for the server, in whole microseconds. The function is called once per script call.
 */
export type ServerClock = () => number;

/** Server that a test uses over one connection. Calls made together are sent together. */
export class TimedServer implements AsyncDisposable {
  readonly #client: Client;
  readonly #scripts: Scripts;

  private constructor(client: Client, scripts: Scripts) {
    this.#client = client;
    this.#scripts = scripts;
  }

  /** Connects. Other scripts than those of the package are for tests that must notice a difference. */
  static async connect(url: string, scripts = timedScripts): Promise<TimedServer> {
    const client = await connectClient(url);
    const server = new TimedServer(client, scripts);
    for (const { text } of Object.values(scripts)) await server.call("SCRIPT", "LOAD", text);
    return server;
  }

  /**
   * Opens a queue's engine under a clock. `connect` can replace the connection, which otherwise receives no messages.
   */
  engine(
    name: string,
    clock: ServerClock,
    settings: Partial<RedisEngineSettings> & { resent?: () => boolean } = {},
    connect = (calls: Pick<Connection, "isUp" | "run" | "onReconnect">) => calls as Connection,
  ): RedisEngine {
    const { resent = () => false, ...others } = settings;
    const calls = {
      isUp: true,
      onReconnect: () => () => {},
      run: (script: Script, key: string, args: readonly (string | number)[], options?: { retry?: Retry }) => {
        const mark = options?.retry === "marked" ? [resent() ? "1" : "0"] : [];
        return this.call("EVALSHA", script.sha1, "2", key, `${clock()}`, ...args.map(String), ...mark);
      },
    };
    return new RedisEngine(connect(calls), this.#scripts, {
      name,
      leaseDuration: 30_000,
      maxStalls: 5,
      replaces: false,
      folds: false,
      hasItems: false,
      limiter: planLimiter("test", limiters.describe({ type: "exponential", baseDelay: 10, maxDelay: 1000 })),
      ...others,
    });
  }

  async call(...command: string[]): Promise<unknown> {
    return await this.#client.sendCommand(command);
  }

  /** Removes the stored data of a queue. */
  async clear(name: string): Promise<void> {
    const names =
      "meta ready stalled suspects delayed folding holders owners gaps looks expired items stalls givenup reasons lost idle failures errors failing failingsince redrive buckets priorities duepriorities pastorders pausedgroups traces retries dueretries blockedretries deposits";
    await this.call("DEL", ...names.split(" ").map((each) => `workqueue:{${name}}:${each}`));
    const others = await this.call("KEYS", `workqueue:{${name}}:order:*`) as string[];
    if (others.length > 0) await this.call("DEL", ...others);
  }

  // deno-lint-ignore require-await -- asynchronous disposal
  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
  }
}
