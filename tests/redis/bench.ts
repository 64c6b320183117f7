/** Test bench for the engine on Redis: each test has its own queue, and sets the server's clock. */

import { assertEquals } from "@std/assert";
import { type DisciplineConfig, disciplines } from "@workqueue/core";
import { planDiscipline } from "../../packages/engine/discipline_plan.ts";
import type { RedisEngine, RedisEngineSettings } from "../../packages/redis/engine.ts";
import { EngineBench, LEASE } from "../contracts/engine_bench.ts";
import { checkOwners } from "../contracts/engine_owners.ts";
import { check } from "./history/check.ts";
import type { Line } from "./history/event.ts";
import { QueueTime } from "./history/queue_time.ts";
import { recordCalls } from "./history/record.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";
import { TimedServer } from "./timed_server.ts";

export { keysOf, LEASE } from "../contracts/engine_bench.ts";

/** Queue on a server. The test controls the server's clock, and takes items on behalf of owners. */
export class Bench extends EngineBench {
  readonly name = uniqueName("engine");
  readonly engine: RedisEngine;
  /** Whether each call is marked as one that was sent before. */
  isResent = false;
  readonly #queueTime = new QueueTime();

  constructor(readonly server: TimedServer, settings: Partial<RedisEngineSettings> = {}) {
    super();
    this.engine = this.open(settings);
  }

  open(settings: Partial<RedisEngineSettings>): RedisEngine {
    const options = { leaseDuration: LEASE, ...settings, resent: () => this.isResent };
    return this.server.engine(this.name, () => this.#queueTime.read(this.time), options);
  }

  order(discipline: DisciplineConfig, settings: Partial<RedisEngineSettings> = {}): RedisEngine {
    return this.open({ ...settings, discipline: planDiscipline("test", disciplines.describe(discipline)) });
  }

  async stallsOf(key: string): Promise<number> {
    return Number(await this.stored("HGET", "stalls", key));
  }

  async contents(): Promise<unknown> {
    const keys = (await this.server.call("KEYS", `workqueue:{${this.name}}:*`) as string[]).sort();
    return await Promise.all(keys.map(async (key) => [key, await this.server.call("DUMP", key)]));
  }

  async storeDiscipline(plan: string): Promise<void> {
    await this.stored("HSET", "meta", "order", `1 ${plan}`, "more", "1");
  }

  /** Records the calls of the engine from now on. Returns the lines of the history. */
  record(): Line[] {
    const lines: Line[] = [];
    recordCalls(this.engine, () => this.#queueTime.at(this.time) / 1000, () => (line) => lines.push(line));
    return lines;
  }

  /** Runs a command on one of the queue's Redis keys. */
  async stored(command: string, name: string, ...rest: string[]): Promise<unknown> {
    return await this.server.call(command, `workqueue:{${this.name}}:${name}`, ...rest);
  }
}

/** Registers a test that has its own queue. */
export function engineTest(
  name: string,
  run: (bench: Bench, server: TimedServer, url: string) => Promise<void>,
  settings: Partial<RedisEngineSettings> = {},
): void {
  redisTest(`engine: ${name}`, async ({ url }: SharedServer) => {
    await using server = await TimedServer.connect(url);
    const bench = new Bench(server, settings);
    try {
      await run(bench, server, url);
    } finally {
      await server.clear(bench.name);
    }
  });
}

/** Checks random owners on a server. */
export async function checkRedisOwners(url: string, options: { runs: number; seed: number }): Promise<void> {
  await using server = await TimedServer.connect(url);
  await checkOwners(async (settings, use) => {
    const bench = new Bench(server, settings);
    const history = bench.record();
    try {
      const { givenUp } = await use(bench);
      assertEquals(check([history], { isComplete: true, order: {} }).wrong, []);
      for (const name of ["stalls", "holders", "delayed", "suspects"]) {
        if (name !== "stalls" || givenUp === 0) assertEquals(await bench.stored("EXISTS", name), 0, name);
      }
    } finally {
      await server.clear(bench.name);
    }
  }, options);
}
