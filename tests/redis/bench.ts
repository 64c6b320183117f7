/** Test bench for the engine: each test has its own queue, sets the clock, and takes items for several owners. */

import type { Finish, TurnReply } from "@workqueue/engine";
import type { RedisEngine, RedisEngineSettings } from "../../packages/redis/engine.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";
import { START, TimedServer } from "./timed_server.ts";

/** Lease duration, in milliseconds. */
export const LEASE = 30_000;

/** Queue on a server. The test controls the server's clock, and takes items on behalf of owners. */
export class Bench {
  readonly name = uniqueName("engine");
  readonly engine: RedisEngine;
  /** Time of the server's clock, in microseconds. */
  time = START;
  /** Whether each call is marked as one that was sent before. */
  isResent = false;

  constructor(readonly server: TimedServer, settings: Partial<RedisEngineSettings> = {}) {
    this.engine = this.open(settings);
  }

  /** Lease duration, in milliseconds. */
  get lease(): number {
    return this.engine.settings.leaseDuration;
  }

  /** Opens another engine for the same queue. */
  open(settings: Partial<RedisEngineSettings>): RedisEngine {
    const options = { leaseDuration: LEASE, ...settings, resent: () => this.isResent };
    return this.server.engine(this.name, () => this.time, options);
  }

  /**
   * Lets time pass while another owner renews its lease, so that the server seems to have been reachable all the time.
   */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= this.lease / 3) {
      this.jump(Math.min(left, this.lease / 3));
      await this.engine.renew("somebody");
    }
  }

  /** Moves the server's clock without any renewal, as if the clock had jumped or the server had been unreachable. */
  jump(ms: number): void {
    this.time += ms * 1000;
  }

  async add(...keys: string[]): Promise<void> {
    await this.engine.add(keys.map((key) => ({ key, payload: `of ${key}` })));
  }

  async addAfter(delay: number, ...keys: string[]): Promise<void> {
    await this.engine.add(keys.map((key) => ({ key, payload: `of ${key}` })), delay);
  }

  /** Takes items for an owner. */
  async take(owner: string, wanted = 1, known = 0, engine = this.engine): Promise<TurnReply> {
    return await this.turn(owner, [], wanted, known, engine);
  }

  /** Reports an owner's finished work, and takes items for that owner. */
  async turn(
    owner: string,
    finishes: Finish[],
    wanted = 0,
    known = 0,
    engine = this.engine,
  ): Promise<TurnReply> {
    const common = { process: `process of ${owner}`, owner, throttle: undefined };
    return await engine.turn({ ...common, known, wanted, finishes });
  }

  /** Finishes a key. Returns the server's answer, which says whether the token was still valid. */
  async finish(key: string, token: string, kind: Finish["kind"] = "succeeded", engine = this.engine): Promise<unknown> {
    const { answers } = await this.turn("whoever", [{ key, token, kind }], 0, 0, engine);
    return answers[0];
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

/** Returns the keys that were handed out. */
export function keysOf({ taken }: TurnReply): string[] {
  return taken.map(({ key }) => key);
}
