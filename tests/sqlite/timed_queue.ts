/** Queue objects on files whose clock the test sets. */

import { assertEquals } from "@std/assert";
import { limiters } from "@workqueue/core";
import type { LiveRemoteQueue, RemoteQueueOptions } from "@workqueue/engine";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { Database } from "../../packages/sqlite/database/database.ts";
import { SqliteEngine } from "../../packages/sqlite/engine.ts";
import { TimedQueues as TimedEngineQueues } from "../contracts/timed_queues.ts";
import { MEMORY } from "./files.ts";
import { unsound } from "./sound.ts";

/** File with a clock, and queue objects that use both. */
export class TimedQueues extends TimedEngineQueues implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(MEMORY, "workqueue-timed-"));
  readonly #path = join(this.#folder, "queue.db");

  open(name: string, options: RemoteQueueOptions): LiveRemoteQueue<string> {
    const forgetAfter = options.forgetAfter as number | undefined;
    const engine = new SqliteEngine(new Database(this.#path), {
      name,
      leaseDuration: 3_600_000,
      maxStalls: 5,
      limiter: planLimiter("test", limiters.describe(options.limiter as never), { forgetAfter }),
      durability: "normal",
      callTimeout: 5000,
      clock: () => this.time,
      ...this.settingsOf(options),
    });
    engine.listen = (_process, { wake }) => Promise.resolve(this.listen(() => wake(0)));
    return this.queueOn(this.#countedCalls(engine), options);
  }

  /** Returns an engine whose calls are counted. */
  #countedCalls(engine: SqliteEngine): SqliteEngine {
    return new Proxy(engine, {
      get: (_, name: keyof SqliteEngine) => {
        const member = engine[name];
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          const result: unknown = (member as (...args: unknown[]) => unknown).apply(engine, args);
          return result instanceof Promise ? this.counted(result, name === "turn") : result;
        };
      },
      set: (_, name, value) => Reflect.set(engine, name, value),
    });
  }

  protected turn(): Promise<unknown> {
    return setImmediate();
  }

  /** Checks the tables of the file, and removes it. The queue objects must be closed. */
  [Symbol.asyncDispose](): Promise<void> {
    assertEquals(unsound(this.#path), []);
    rmSync(this.#folder, { recursive: true });
    return Promise.resolve();
  }
}
