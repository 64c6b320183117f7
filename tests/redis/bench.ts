/** A bench for the engine: a queue of a test's own, at times that the test sets, and owners who take from it. */

import type { Engine, EngineSettings, Finish, TurnReply } from "../../packages/redis/engine.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";
import { START, TimedServer } from "./timed_server.ts";

/** In milliseconds. */
export const LEASE = 30_000;

/** A queue on a server whose clock is in the test's hands, and the owners who take from it. */
export class Bench {
  readonly name = uniqueName("engine");
  readonly engine: Engine;
  /** What the server's clock says, in microseconds. */
  time = START;
  /** Whether the next calls are said to have been made before. */
  isResent = false;

  constructor(readonly server: TimedServer, settings: Partial<EngineSettings> = {}) {
    this.engine = this.open(settings);
  }

  /** In milliseconds. */
  get lease(): number {
    return this.engine.settings.leaseDuration;
  }

  /** Another engine of the same queue. */
  open(settings: Partial<EngineSettings>): Engine {
    const options = { leaseDuration: LEASE, ...settings, resent: () => this.isResent };
    return this.server.engine(this.name, () => this.time, options);
  }

  /** Lets time pass in which others are heard of, as they renew their leases: the server was not away. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= this.lease / 3) {
      this.jump(Math.min(left, this.lease / 3));
      await this.engine.renew("somebody");
    }
  }

  /** Lets the server's clock jump, or the server be away for a time. */
  jump(ms: number): void {
    this.time += ms * 1000;
  }

  async add(...keys: string[]): Promise<void> {
    await this.engine.add(keys.map((key) => ({ key, payload: `of ${key}` })));
  }

  async addAfter(delay: number, ...keys: string[]): Promise<void> {
    await this.engine.add(keys.map((key) => ({ key, payload: `of ${key}` })), delay);
  }

  /** What an owner takes. */
  async take(owner: string, wanted = 1, known = 0, engine = this.engine): Promise<TurnReply> {
    return await this.turn(owner, [], wanted, known, engine);
  }

  /** Work that has ended, and what an owner takes then. */
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

  /** Whether the end of the work on a key counts. */
  async finish(key: string, token: string, kind: Finish["kind"] = "succeeded", engine = this.engine): Promise<unknown> {
    const { answers } = await this.turn("whoever", [{ key, token, kind }], 0, 0, engine);
    return answers[0];
  }

  /** What is stored under one of the queue's names. */
  async stored(command: string, name: string, ...rest: string[]): Promise<unknown> {
    return await this.server.call(command, `workqueue:{${this.name}}:${name}`, ...rest);
  }
}

/** A test on a queue of its own. */
export function engineTest(
  name: string,
  run: (bench: Bench, server: TimedServer, url: string) => Promise<void>,
  settings: Partial<EngineSettings> = {},
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

/** What was handed out. */
export function keysOf({ taken }: TurnReply): string[] {
  return taken.map(({ key }) => key);
}
