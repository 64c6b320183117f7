/** Queue object on a real server whose clock the test sets. */

import { disciplines, limiters } from "@workqueue/core";
import { createRemoteQueue, type LiveRemoteQueue, type RemoteQueueOptions, retentionOf } from "@workqueue/engine";
import { planDiscipline } from "../../packages/engine/discipline_plan.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { isTurn, START, TimedServer } from "./timed_server.ts";

/** Number of turns of the event loop without a call after which a queue object has nothing left to do. */
const QUIET_TURNS = 4;

/** Clock of a server, with the queue objects that use it. */
export class TimedQueues implements AsyncDisposable {
  /** Time of the server, in microseconds. */
  time = START;
  readonly #server: TimedServer;
  readonly #wakes = new Set<() => void>();
  #running = 0;

  private constructor(server: TimedServer) {
    this.#server = server;
  }

  static async connect(url: string): Promise<TimedQueues> {
    return new TimedQueues(await TimedServer.connect(url));
  }

  /**
   * Opens a queue object. The server's messages don't reach it. Instead, it asks for work after each call and whenever
   * time passes.
   */
  open(name: string, options: RemoteQueueOptions): LiveRemoteQueue<string> {
    const { limiter, discipline, retryBudget, keepGivenUp, addWhileDelayed = "keep", keyOf, onQueueError } = options;
    const engine = this.#server.engine(name, () => this.time, {
      ...limiter && { limiter: planLimiter("test", limiters.describe(limiter)) },
      replaces: addWhileDelayed !== "keep",
      folds: addWhileDelayed === "fold",
      hasItems: keyOf !== undefined,
      discipline: discipline && planDiscipline("test", disciplines.describe(discipline)),
      retryBudget,
      retention: keepGivenUp === undefined ? undefined : retentionOf(keepGivenUp),
    }, (calls) => ({
      ...calls,
      address: "server",
      database: 0,
      run: async (script, ...args) => {
        this.#running++;
        try {
          return await calls.run(script, ...args);
        } finally {
          this.#running--;
          if (!isTurn(script)) this.#wake();
        }
      },
      subscribe: (_channel, onMessage) => {
        const wake = () => onMessage("");
        this.#wakes.add(wake);
        return Promise.resolve(() => void this.#wakes.delete(wake));
      },
      once() {},
      release: () => Promise.resolve(),
    }));
    return createRemoteQueue({
      engine,
      throttleStore: {} as never,
      keyOf,
      throttleName: { path: "" },
      shared: undefined,
      metrics: undefined,
      onQueueError,
    });
  }

  /** Lets time pass in small steps, and waits after each step until the queue objects have done what is due. */
  async advance(ms: number): Promise<void> {
    const step = Math.min(Math.max(ms / 50, 1), 100);
    for (let left = ms; left > 0; left -= step) {
      this.time += Math.round(Math.min(left, step) * 1000);
      await this.settle();
    }
    await this.settle();
  }

  /** Waits until no queue object makes a call. */
  async settle(): Promise<void> {
    this.#wake();
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (this.#running > 0) quiet = 0;
    }
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.settle();
    await this.#server[Symbol.asyncDispose]();
  }
}
