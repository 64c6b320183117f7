/** Tests of clocks that throw in one or more calls. No item may be lost, given up or counted twice. */

import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createBucketLimiter,
  createDelayingQueue,
  createExponentialLimiter,
  createMaxOfLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  type RateLimiter,
  type RateLimitingQueue,
  TokenBucket,
} from "@workqueue/core";
import { type Engine, test } from "../workers/engines.ts";
import { Console, HandClock } from "../helpers.ts";
import { flushPromises } from "../queue_helpers.ts";
import { LAYERS, type Scenario, SCENARIOS } from "./scenarios.ts";

/** Clock that throws in selected calls. Calls are numbered from 1. */
class FaultyClock extends HandClock {
  calls = 0;
  readonly #isBroken: (call: number) => boolean;
  readonly #fail: () => number;

  constructor(isBroken: (call: number) => boolean, fail: () => number) {
    super(1_000_000);
    this.#isBroken = isBroken;
    this.#fail = fail;
  }

  override now(): number {
    return this.#isBroken(++this.calls) ? this.#fail() : super.now();
  }

  override setTimeout(callback: () => void, ms: number): number {
    if (this.#isBroken(++this.calls)) this.#fail();
    return super.setTimeout(callback, ms);
  }

  override clearTimeout(handle: unknown): void {
    super.clearTimeout(handle);
    if (this.#isBroken(++this.calls)) this.#fail();
  }
}

const FAULTS: Record<string, () => number> = {
  "throws": () => {
    throw new Error("broken");
  },
  "gives no time": () => NaN,
};

const WHOLE = () => new FaultyClock(() => false, () => 0);

async function run(scenario: Scenario, layers: string, clock: FaultyClock): Promise<unknown> {
  using printed = new Console();
  const metrics = new InMemoryMetrics();
  const log = await scenario(() => LAYERS[layers]!(metrics, clock), clock);
  return { log, timers: clock.timers, measured: metrics.toPrometheus(), lines: printed.lines };
}

for (const layers of Object.keys(LAYERS)) {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    Deno.test(`rule 11: a clock that fails once is noticed by nobody: ${name}, ${layers}`, async () => {
      const clock = WHOLE();
      const whole = await run(scenario, layers, clock);
      for (const [fault, fail] of Object.entries(FAULTS)) {
        for (let broken = 1; broken <= clock.calls; broken++) {
          const faulty = new FaultyClock((call) => call === broken, fail);
          assertEquals(await run(scenario, layers, faulty), whole, `call ${broken} ${fault}`);
        }
      }
    });
  }
}

type Made = { queue: RateLimitingQueue<string>; throttle: TokenBucket | undefined };

/**
 * Queues that together use every feature that needs a clock: buckets, expiring counts, a discipline, metrics and
 * layers.
 */
const ALL_THAT_LOOKS: Record<string, (clock: HandClock) => Made> = {
  "one call": (clock) => ({
    queue: createRateLimitingQueue(limiterOn(clock), {
      clock,
      name: "q",
      metrics: new InMemoryMetrics(),
      discipline: createPriorityDiscipline<string>({ maxHeadStart: "1h" }),
      addWhileDelayed: "replace",
      keyOf: (item) => item,
    }),
    throttle: new TokenBucket(100, 1, { clock }),
  }),
  "layer by layer": (clock) => {
    const below = createWorkQueue<string>({ clock });
    const queue = createRateLimitingQueue(limiterOn(clock), { queue: createDelayingQueue<string>({ queue: below }) });
    return { queue, throttle: undefined };
  },
};

function limiterOn(clock: HandClock): RateLimiter<string> {
  return createMaxOfLimiter(
    createExponentialLimiter({ baseDelay: 10, maxDelay: 1000, forgetAfter: "1h", clock }),
    createBucketLimiter({ rate: 100, burst: 1, clock }),
  );
}

/** Processes some items. Returns all reports, without their times and in no particular order. */
async function workThrough(
  { runWorkers }: Engine,
  make: (clock: HandClock) => Made,
  clock: FaultyClock,
  time: FakeTime,
): Promise<unknown> {
  const { queue, throttle } = make(clock);
  const log: string[] = [];
  const pool = runWorkers(queue, (item, { attempt, signal }) => {
    log.push(`${item} ${attempt}, counted ${queue.numRequeues(item)}`);
    if (item === "fails" && attempt < 4) throw new Error("no");
    if (item === "rejects" && attempt < 4) return Promise.reject(new Error("no"));
    if (item === "never") throw new Error("never");
    if (item === "again" && attempt < 3) return { requeue: true };
    if (item === "later" && log.filter((line) => line.startsWith("later")).length < 3) return { requeueAfter: 50 };
    if (item === "slow" && attempt < 3) {
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }
    if (item === "added again" && !log.includes(item)) {
      log.push(item);
      queue.add(item);
    }
  }, {
    concurrency: 2,
    maxRetries: 3,
    timeout: 500,
    throttle,
    onError: (error, item, attempt) => log.push(`error of ${item} ${attempt}: ${error}`),
    onGiveUp: (error, item, attempts, reason) => log.push(`gave up ${item} ${attempts}, ${reason}: ${error}`),
  });
  for (const item of ["fails", "rejects", "never", "again", "later", "slow", "added again"]) queue.add(item);
  queue.addAfter("delayed", 10);
  queue.addRateLimited("limited");
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds * 2; i++) {
      await clock.advance(500, flushPromises);
      time.tick(500); // if the faulty clock can't set a timer, a system timer replaces it
      await flushPromises();
    }
  };
  await pass(12);
  queue.add("last");
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  await pass(4);
  await drained;
  await pool.finished;
  return { log: log.sort(), left: [queue.length, queue.processing, queue.delayed, clock.timers] };
}

for (const [name, make] of Object.entries(ALL_THAT_LOOKS)) {
  for (const length of [1, 2, 5]) {
    test(`rule 11: a clock that fails in ${length} calls, whichever: nothing is lost, given up or counted twice: ${name}`, async (engine) => {
      using _console = new Console();
      using time = new FakeTime();
      const clock = WHOLE();
      const whole = await workThrough(engine, make, clock, time);
      assert(clock.calls > 100);
      for (const fail of Object.values(FAULTS)) {
        for (let first = 1; first <= clock.calls; first++) {
          const faulty = new FaultyClock((call) => call >= first && call < first + length, fail);
          assertEquals(await workThrough(engine, make, faulty, time), whole, `from call ${first} on`);
        }
      }
    });
  }
}
