/** Queue object on a real server whose clock the test sets. */

import { limiters } from "@workqueue/core";
import type { LiveRemoteQueue, RemoteQueueOptions } from "@workqueue/engine";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { TimedQueues as TimedEngineQueues } from "../contracts/timed_queues.ts";
import { isTurn, TimedServer } from "./timed_server.ts";

/** Clock of a server, with the queue objects that use it. */
export class TimedQueues extends TimedEngineQueues implements AsyncDisposable {
  readonly #server: TimedServer;

  private constructor(server: TimedServer) {
    super();
    this.#server = server;
  }

  static async connect(url: string): Promise<TimedQueues> {
    return new TimedQueues(await TimedServer.connect(url));
  }

  open(name: string, options: RemoteQueueOptions): LiveRemoteQueue<string> {
    const { limiter } = options;
    const engine = this.#server.engine(name, () => this.time, {
      ...limiter && { limiter: planLimiter("test", limiters.describe(limiter)) },
      ...this.settingsOf(options),
    }, (calls) => ({
      ...calls,
      address: "server",
      database: 0,
      run: (script, ...args) => this.counted(calls.run(script, ...args), isTurn(script)),
      subscribe: (_channel, onMessage) => Promise.resolve(this.listen(() => onMessage(""))),
      once() {},
      release: () => Promise.resolve(),
    }));
    return this.queueOn(engine, options);
  }

  protected turn(): Promise<unknown> {
    return new Promise((resolve) => setTimeout(resolve, 0));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.settle();
    await this.#server[Symbol.asyncDispose]();
  }
}
