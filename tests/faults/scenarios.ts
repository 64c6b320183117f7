/** Typical uses of queues and pools, for tests in which one collaborator is broken. */

import {
  createExponentialLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  type MetricsProvider,
  type RateLimitingQueue,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import type { HandClock } from "../helpers.ts";
import { flushPromises, outcome, take, takeAll } from "../queue_helpers.ts";

/** Uses a queue while moving its clock. Returns a log of the events. */
export type Scenario = (make: () => RateLimitingQueue<string>, clock: HandClock) => Promise<unknown[]>;

const limiter = () => createExponentialLimiter({ baseDelay: 100, maxDelay: 1000 });
const state = ({ length, processing, delayed, shuttingDown }: RateLimitingQueue<string>) => [
  length,
  processing,
  delayed,
  shuttingDown,
];

/** Creates a scenario with a pool. The scenario logs the attempts, the reports and the remaining items. */
function poolScenario(isAsync: boolean): Scenario {
  return async (make, clock) => {
    const log: unknown[] = [];
    const queue = make();
    const work = (item: string, attempt: number) => {
      log.push(`${item} ${attempt}`);
      if (item === "fails" && attempt < 3) throw new Error("no");
      if (item === "never") throw new Error("never");
      if (item === "terminal") throw new TerminalError("terminal");
      if (item === "again" && attempt < 3) return { requeue: true };
      if (item === "later" && attempt === 1 && !log.includes("later again")) {
        log.push("later again");
        return { requeueAfter: 50 };
      }
    };
    const ends: (() => void)[] = [];
    const pool = runWorkers(queue, (item, { attempt }) => {
      if (item === "slow") return new Promise<void>((resolve) => ends.push(resolve));
      return isAsync ? Promise.resolve().then(() => work(item, attempt)) : work(item, attempt);
    }, {
      concurrency: 2,
      maxRetries: 3,
      timeout: 1000,
      onError: (error, item, attempt) => log.push(`error of ${item} ${attempt}: ${error}`),
      onGiveUp: (error, item, attempts) => log.push(`gave up ${item} ${attempts}: ${error}`),
    });
    for (const item of ["fails", "never", "terminal", "again", "later", "ok", "fails"]) queue.add(item);
    for (let i = 0; i < 12; i++) {
      await flushPromises();
      await clock.advance(100, flushPromises);
      log.push(...state(queue));
    }
    queue.add("slow");
    await flushPromises();
    await clock.advance(1000, flushPromises);
    for (const end of ends) end();
    await flushPromises();
    pool.concurrency = 3;
    log.push(pool.active, ...pool.snapshot().failingItems.map(({ item }) => item));
    queue.add("last");
    const drained = queue.shutDownWithDrain({ delayed: "wait" });
    for (let i = 0; i < 12; i++) {
      await flushPromises();
      await clock.advance(100, flushPromises);
      for (const end of ends) end();
    }
    await drained;
    await pool.finished;
    return [...log, ...state(queue)];
  };
}

export const SCENARIOS: Record<string, Scenario> = {
  "by hand": async (make, clock) => {
    const queue = make();
    const log: unknown[] = [];
    const waiters = [queue.get(), queue.get()];
    const given = async (lease: ReturnType<typeof queue.get>) => {
      using given = await lease;
      return given.item;
    };
    for (const item of ["a", "b", "c", "d"]) queue.add(item, item === "d" ? { priority: 5 } : undefined);
    log.push(await outcome(waiters[0]!), await outcome(waiters[1]!));
    queue.add("a"); // the item is added again while it is processing
    const third = queue.get();
    queue.done("a");
    log.push(await given(third), ...state(queue));
    for (const lease of [take(queue), take(queue)]) {
      log.push(lease.item);
      lease[Symbol.dispose]();
    }
    queue.done("b");
    for (const [item, delay] of [["e", 300], ["f", 100], ["g", 100], ["h", 0]] as const) queue.addAfter(item, delay);
    queue.addRateLimited("i", { priority: 5 });
    log.push(queue.cancelDelayed("e"), ...state(queue));
    await clock.advance(700, flushPromises);
    log.push(...takeAll(queue), ...state(queue));
    queue.add("processing");
    const lease = take(queue);
    await clock.advance(700, flushPromises);
    const drained = queue.shutDownWithDrain();
    lease[Symbol.dispose]();
    await drained;
    return [...log, ...state(queue), await outcome(queue.get())];
  },
  "for await": async (make) => {
    const queue = make();
    for (const item of ["a", "b"]) queue.add(item);
    queue.shutDown();
    const log: unknown[] = [];
    for await (const item of queue) log.push(item);
    return log;
  },
  ...Object.fromEntries((["drop", "flush", "wait"] as const).map((delayed): [string, Scenario] => [
    `a drain with ${delayed}`,
    async (make, clock) => {
      const queue = make();
      for (const item of ["a", "b", "c"]) queue.addAfter(item, 10);
      queue.add("processing");
      const lease = take(queue);
      const drained = queue.shutDownWithDrain({ delayed });
      const log: unknown[] = state(queue);
      lease[Symbol.dispose]();
      await clock.advance(10, flushPromises);
      log.push(...takeAll(queue), ...state(queue));
      await drained;
      return log;
    },
  ])),
  "a shutdown": async (make, clock) => {
    const queue = make();
    queue.addAfter("a", 10);
    queue.add("b");
    const waiter = queue.get();
    queue.shutDown();
    await clock.advance(1000, flushPromises);
    return [...state(queue), await outcome(waiter), await outcome(queue.get())];
  },
  "a pool": poolScenario(false),
  "a pool with an asynchronous handler": poolScenario(true),
  "a pool that is interrupted": async (make) => {
    const queue = make();
    const controller = new AbortController();
    const log: unknown[] = [];
    const pool = runWorkers(queue, async (_item, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      signal.throwIfAborted();
    }, { signal: controller.signal, onError: (error) => log.push(String(error)) });
    queue.add("a");
    await flushPromises();
    controller.abort(new Error("stop"));
    await pool.finished;
    return [...log, ...state(queue), ...takeAll(queue)];
  },
};

const priorityLevels = { urgent: 5, usual: 0 };
export const LAYERS: Record<string, (metrics: MetricsProvider, clock: HandClock) => RateLimitingQueue<string>> = {
  "one call": (metrics, clock) =>
    createRateLimitingQueue<string>(limiter(), { name: "q", metrics, clock, priorityLevels }),
  "one call, with keys": (metrics, clock) =>
    createRateLimitingQueue<string>(limiter(), {
      name: "q",
      metrics,
      clock,
      priorityLevels,
      keyOf: (item) => `${item}!`,
    }),
  "one call, with priorities": (metrics, clock) => {
    const discipline = createPriorityDiscipline<string>({ maxHeadStart: "1h" });
    return createRateLimitingQueue<string>(limiter(), {
      name: "q",
      metrics,
      clock,
      priorityLevels,
      discipline,
      addWhileDelayed: "replace",
    });
  },
};
