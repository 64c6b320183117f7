/** Queue objects on files whose clock the test sets. */

import { assertEquals } from "@std/assert";
import { disciplines, limiters } from "@workqueue/core";
import { createRemoteQueue, type LiveRemoteQueue, type RemoteQueueOptions, retentionOf } from "@workqueue/engine";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { planDiscipline } from "../../packages/engine/discipline_plan.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { Database } from "../../packages/sqlite/database/database.ts";
import { SqliteEngine } from "../../packages/sqlite/engine.ts";
import { START } from "../contracts/engine_bench.ts";
import { MEMORY } from "./files.ts";
import { unsound } from "./sound.ts";

/** Number of turns of the event loop without a call after which a queue object has nothing left to do. */
const QUIET_TURNS = 4;

/** File with a clock, and queue objects that use both. */
export class TimedQueues implements AsyncDisposable {
  /** Time of the file, in microseconds. */
  time = START;
  readonly #folder = mkdtempSync(join(MEMORY, "workqueue-timed-"));
  readonly #path = join(this.#folder, "queue.db");
  readonly #wakes = new Set<() => void>();
  #running = 0;

  /**
   * Opens a queue object. Messages don't reach it. Instead, it asks for work after each call and whenever time passes.
   */
  open(name: string, options: RemoteQueueOptions): LiveRemoteQueue<string> {
    const { limiter, discipline, retryBudget, keepGivenUp, addWhileDelayed = "keep", keyOf, onQueueError } = options;
    const forgetAfter = options.forgetAfter as number | undefined;
    const engine = new SqliteEngine(new Database(this.#path), {
      name,
      leaseDuration: 3_600_000,
      maxStalls: 5,
      limiter: planLimiter("test", limiters.describe(limiter as never), { forgetAfter }),
      replaces: addWhileDelayed !== "keep",
      folds: addWhileDelayed === "fold",
      hasItems: keyOf !== undefined,
      durability: "normal",
      callTimeout: 5000,
      discipline: discipline && planDiscipline("test", disciplines.describe(discipline)),
      retryBudget,
      retention: keepGivenUp === undefined ? undefined : retentionOf(keepGivenUp),
      clock: () => this.time,
    });
    engine.listen = (_process, onWake) => {
      const wake = () => onWake(0);
      this.#wakes.add(wake);
      return Promise.resolve(() => void this.#wakes.delete(wake));
    };
    return createRemoteQueue({
      engine: this.#counted(engine),
      throttleStore: {} as never,
      keyOf,
      throttleName: { path: "" },
      shared: undefined,
      metrics: undefined,
      onQueueError,
    });
  }

  /** Returns an engine whose calls are counted, and after whose calls the queue objects ask for work. */
  #counted(engine: SqliteEngine): SqliteEngine {
    return new Proxy(engine, {
      get: (_, name: keyof SqliteEngine) => {
        const member = engine[name];
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          const result: unknown = (member as (...args: unknown[]) => unknown).apply(engine, args);
          if (!(result instanceof Promise)) return result;
          this.#running++;
          const end = () => {
            this.#running--;
            if (name !== "turn") this.#wake();
          };
          result.then(end, end);
          return result;
        };
      },
      set: (_, name, value) => Reflect.set(engine, name, value),
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
      await setImmediate();
      if (this.#running > 0) quiet = 0;
    }
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
  }

  /** Checks the tables of the file, and removes it. The queue objects must be closed. */
  [Symbol.asyncDispose](): Promise<void> {
    assertEquals(unsound(this.#path), []);
    rmSync(this.#folder, { recursive: true });
    return Promise.resolve();
  }
}
