/** Test bench for engines: a queue whose engine has a clock that the test sets, and owners that take its keys. */

import type { DisciplineConfig } from "@workqueue/core";
import type { Engine, EngineSettings, Entry, Finish, TurnReply } from "@workqueue/engine";

/** Lease duration, in milliseconds. */
export const LEASE = 30_000;

/**
 * Start time in microseconds since 1970. Tests need a realistic time, because it uses most of a double's precision,
 * which a small number wouldn't.
 */
export const START = 1_800_000_000_000_000;

/**
 * Queue of a test. By default, its lease lasts `LEASE`, it gives a key up after 5 stalls, and its limiter is
 * exponential from 10 ms to one second.
 */
export abstract class EngineBench {
  abstract readonly engine: Engine;
  /** Time of the store's clock, in microseconds. */
  time = START;

  /** Opens another engine for the same queue. */
  abstract open(settings: Partial<EngineSettings>): Engine;

  /** Opens another engine for the same queue, which puts a discipline in force. */
  abstract order(discipline: DisciplineConfig, settings?: Partial<EngineSettings>): Engine;

  /** Returns how often a key has stalled since the last attempt that ended. */
  abstract stallsOf(key: string): Promise<number>;

  /** Returns everything that the store has of the queue. */
  abstract contents(): Promise<unknown>;

  /** Stores the plan of a discipline, as a process of another release may have done. */
  abstract storeDiscipline(plan: string): Promise<void>;

  /** Lease duration, in milliseconds. */
  get lease(): number {
    return this.engine.settings.leaseDuration;
  }

  /**
   * Lets time pass while another owner renews its lease, so that the store seems to have been reachable all the time.
   */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= this.lease / 3) {
      this.jump(Math.min(left, this.lease / 3));
      await this.engine.renew("somebody");
    }
  }

  /** Moves the store's clock without any renewal, as if the clock had jumped or the store had been unreachable. */
  jump(ms: number): void {
    this.time += ms * 1000;
  }

  async add(...keys: string[]): Promise<void> {
    await this.engine.add(keys.map((key) => ({ key, payload: `of ${key}` })));
  }

  async addAfter(delay: number, ...keys: string[]): Promise<void> {
    await this.engine.add(keys.map((key) => ({ key, payload: `of ${key}` })), delay);
  }

  /** Takes items for an owner. With `tellsAdds`, the owner wants to be told of adds of its keys. */
  async take(owner: string, wanted = 1, known = 0, engine = this.engine, tellsAdds = false): Promise<TurnReply> {
    return await this.turn(owner, [], wanted, known, engine, tellsAdds);
  }

  /** Reports an owner's finished work, and takes items for that owner. */
  async turn(
    owner: string,
    finishes: Finish[],
    wanted = 0,
    known = 0,
    engine = this.engine,
    tellsAdds = false,
  ): Promise<TurnReply> {
    const common = { process: `process of ${owner}`, owner, tellsAdds, throttle: undefined };
    const reply = await engine.turn({
      ...common,
      known,
      wanted,
      finishes: finishes.map((each) => asked(engine, each)),
    });
    const answers = [...reply.answers];
    for (const [i, finish] of finishes.entries()) {
      if (finish.given !== undefined || typeof answers[i] !== "number" || finish.kind === "givenUp") continue;
      const again = await engine.turn({ ...common, known, wanted: 0, finishes: [asked(engine, finish, answers[i])] });
      answers[i] = again.answers[0]!;
    }
    return { ...reply, answers };
  }

  /** Finishes a key. Returns the engine's answer, which says whether the token was still valid. */
  async finish(key: string, token: string, kind: Finish["kind"] = "succeeded", engine = this.engine): Promise<unknown> {
    const { answers } = await this.turn("whoever", [{ key, token, kind }], 0, 0, engine);
    return answers[0];
  }
}

/** Returns an outcome with the limiter's delay after a number of failures, if the outcome is a failure without one. */
export function asked(engine: Engine, finish: Finish, failures = 0): Finish {
  const { key, kind, delay = 0 } = finish;
  if (finish.given !== undefined || kind !== "retry" && kind !== "failed") return finish;
  return { ...finish, given: engine.limiter.given(failures, { key, item: key, isReadable: true, minDelay: delay }) };
}

/** Adds a key after its limiter's delay, as a queue object does: asks again if the number of failures was wrong. */
export async function addRateLimited(
  engine: Engine,
  entry: Entry,
  { isNewest = true, minDelay = 0, priority }: {
    isNewest?: boolean;
    minDelay?: number;
    priority?: number | undefined;
  } = {},
): Promise<void> {
  let failures: number | undefined = 0;
  do {
    const given = engine.limiter.given(failures, { key: entry.key, item: entry.key, isReadable: true, minDelay });
    failures = await engine.addRateLimited(entry, isNewest, given, minDelay, priority);
  } while (failures !== undefined);
}

/** Registers a test that has its own queue. */
export type EngineTest = (
  name: string,
  run: (bench: EngineBench) => Promise<void>,
  settings?: Partial<EngineSettings>,
) => void;

/** Returns the keys that were handed out. */
export function keysOf({ taken }: TurnReply): string[] {
  return taken.map(({ key }) => key);
}
