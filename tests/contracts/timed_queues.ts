/** Queue objects of an engine whose clock the test sets. */

import { type Clock, disciplines } from "@workqueue/core";
import { createRemoteQueue, type LiveRemoteQueue, type RemoteQueueOptions, retentionOf } from "@workqueue/engine";
import { planDiscipline } from "../../packages/engine/discipline_plan.ts";
import { START } from "./engine_bench.ts";

/** Number of turns of the event loop without a call after which a queue object has nothing left to do. */
const QUIET_TURNS = 4;

/**
 * Clock of an engine, and queue objects that use it. Messages don't reach the queue objects. Instead, they ask for work
 * after each call and whenever time passes.
 */
export abstract class TimedQueues {
  /** Time of the engine, in microseconds. */
  time = START;
  /**
   * Clock for pools. With the clock of the system, a pool makes pauses on a busy machine, and `settle` doesn't wait for
   * their ends.
   */
  readonly clock: Clock = {
    now: () => this.time / 1000,
    setTimeout: (callback, ms) => setTimeout(callback, ms),
    clearTimeout: (timer) => clearTimeout(timer as number),
  };
  readonly #wakes = new Set<() => void>();
  #running = 0;

  abstract open(name: string, options: RemoteQueueOptions): LiveRemoteQueue<string>;

  /** Waits for a turn of the event loop in which the engine can answer. */
  protected abstract turn(): Promise<unknown>;

  /** Returns the settings of an engine that are the same for each engine. */
  protected settingsOf(
    { discipline, retryBudget, keepGivenUp, addWhileDelayed = "keep", retriesFirst, keyOf }: RemoteQueueOptions,
  ) {
    return {
      retriesFirst,
      replaces: addWhileDelayed !== "keep",
      folds: addWhileDelayed === "fold",
      hasItems: keyOf !== undefined,
      discipline: discipline && planDiscipline("test", disciplines.describe(discipline)),
      retryBudget,
      retention: keepGivenUp === undefined ? undefined : retentionOf(keepGivenUp),
    };
  }

  /** Creates a queue object on an engine. */
  protected queueOn(
    engine: Parameters<typeof createRemoteQueue>[0]["engine"],
    { keyOf, onQueueError }: RemoteQueueOptions,
  ): LiveRemoteQueue<string> {
    return createRemoteQueue({
      engine,
      throttleStore: {} as never,
      keyOf,
      throttleName: { path: "" },
      shared: undefined,
      metrics: undefined,
      onQueueError,
      storesResults: false,
      retryPriority: undefined,
    });
  }

  /** Adds a function that makes a queue object ask for work. Returns a function that removes it. */
  protected listen(wake: () => void): () => void {
    this.#wakes.add(wake);
    return () => void this.#wakes.delete(wake);
  }

  /** Counts a call until it is answered. Then all queue objects ask for work, unless the call was such a request. */
  protected async counted<R>(call: Promise<R>, isRequest: boolean): Promise<R> {
    this.#running++;
    try {
      return await call;
    } finally {
      this.#running--;
      if (!isRequest) this.#wake();
    }
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
      await this.turn();
      if (this.#running > 0) quiet = 0;
    }
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
  }
}
