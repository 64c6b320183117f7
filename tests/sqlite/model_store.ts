import { assertEquals } from "@std/assert";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Database } from "../../packages/sqlite/database/database.ts";
import { SqliteEngine } from "../../packages/sqlite/engine.ts";
import { Failures } from "../../packages/sqlite/store/failures.ts";
import { Transaction } from "../../packages/sqlite/store/transaction.ts";
import type { ReplayStore } from "../conformance/engines/store.ts";
import type { LimiterRunner, Step } from "../contracts/limiter_steps.ts";
import { uniqueName } from "../redis/unique_name.ts";
import { MEMORY } from "./files.ts";
import { unsound } from "./sound.ts";

const CALL_TIMEOUT = 5000;

/** Opens a new file for comparisons. All queues share its connection. Disposing it checks the tables. */
export function openStore(): ReplayStore & AsyncDisposable {
  const folder = mkdtempSync(join(MEMORY, "workqueue-replay-"));
  const path = join(folder, "queue.db");
  const database = new Database(path);
  return {
    open: (name, clock, settings) => {
      return new SqliteEngine(database, {
        name,
        clock,
        leaseDuration: 30_000,
        maxStalls: 5,
        durability: "normal",
        callTimeout: CALL_TIMEOUT,
        ...settings,
      });
    },
    openLimiters: (name) => Promise.resolve(new FileLimiters(database, name)),
    clear: () => Promise.resolve(), // each queue has its own name
    async [Symbol.asyncDispose]() {
      await database.close();
      assertEquals(unsound(path), []);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Runner of limiter steps on the failures and the buckets of a queue in a file. */
export class FileLimiters implements LimiterRunner {
  #name: string;

  constructor(readonly database: Database, name: string) {
    this.#name = name;
  }

  run(...steps: Step[]): Promise<(number | undefined)[][]> {
    return this.database.run("normal", CALL_TIMEOUT, ({ sql, kept }) => {
      return steps.map((step) => {
        const tx = new Transaction(sql, "queue", this.#name, step[1], kept);
        const answer = answerTo(new Failures(Object.assign(tx, { now: step[1] })), step); // the time of a queue grows
        tx.end();
        return answer;
      });
    });
  }

  clear(): Promise<void> {
    this.#name = uniqueName("limiters");
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

function answerTo(failures: Failures, step: Step): (number | undefined)[] {
  switch (step[0]) {
    case "when": {
      const [, , plan, key, given, started = step[1], minDelay = 0] = step;
      return delayOrFailures(failures.when(plan, key, given, started, minDelay));
    }
    case "when by hand": {
      const [, , plan, key, given, minDelay = 0] = step;
      return delayOrFailures(failures.when(plan, key, given, undefined, minDelay));
    }
    case "requeues":
      return [failures.requeues(step[2], step[3])];
    case "forget":
      failures.forget(step[2]);
      return [undefined];
    case "failures":
      return step[2].map((key) => failures.find(key)?.count);
    case "take":
    case "give back": {
      const [what, , id, rate, burst, count] = step;
      const bucket = { id, rate: Number(rate), burst: Number(burst) };
      if (what === "take") {
        const { taken, waitUs } = failures.buckets.take(bucket, count);
        return [taken, waitUs];
      }
      failures.buckets.giveBack(bucket, count);
      return [undefined];
    }
  }
}

function delayOrFailures(result: ReturnType<Failures["when"]>): (number | undefined)[] {
  return "delay" in result ? [result.delay] : [undefined, result.failures];
}
