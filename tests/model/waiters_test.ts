/**
 * Tests that nobody who waits for an item sleeps while one is ready: random adds, retries, pauses, groups and budgets,
 * with timers that fire late and a clock that moves on between any two looks at it.
 */

import { assert } from "@std/assert";
import process from "node:process";
import {
  adaptDiscipline,
  createConcurrencyThrottle,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createRetryBudget,
  type QueueDiscipline,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  type ReadyEntry,
  RetryAfterError,
  runWorkers,
  type Throttle,
} from "@workqueue/core";
import { inspectionOf } from "@workqueue/core/hooks";
import { heldLineOf } from "../../lib/queue/held_line.ts";
import { HandClock } from "../helpers.ts";
import { flush, insideOf, randomNumbers } from "../queue_helpers.ts";

/** Number of seeds of each test. Planted bugs were found with the first ten. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 20);
const STEPS = 150;
const KEYS = ["a/1", "a/2", "a/3", "b/1", "b/2", "c/1"];

/** Clock that moves on a little each time somebody looks at it. Timers fire when the test says so. */
class CreepingClock extends HandClock {
  override now(): number {
    return this.time += 0.2;
  }
}

/** Discipline that is first in, first out, and blocks each entry until it is added again or the queue resumes it. */
class UntilTouched implements QueueDiscipline<string> {
  readonly #ready: ReadyEntry<string>[] = [];
  readonly #blocked = new Set<ReadyEntry<string>>();

  constructor() {
    adaptDiscipline(this);
  }

  get length(): number {
    return this.#ready.length;
  }

  get blocked(): number {
    return this.#blocked.size;
  }

  push(entry: ReadyEntry<string>): void {
    this.#blocked.add(entry);
  }

  pop(): ReadyEntry<string> | undefined {
    return this.#ready.shift();
  }

  /** Lets all entries of the group through, not only the entry that was added again. */
  touch({ item }: ReadyEntry<string>): void {
    for (const entry of this.#blocked) if (entry.item[0] === item[0]) this.#let(entry);
  }

  pauseGroup(): void {}

  resumeGroup(group: unknown): void {
    for (const entry of this.#blocked) if (entry.item[0] === group) this.#let(entry);
  }

  #let(entry: ReadyEntry<string>): void {
    this.#blocked.delete(entry);
    this.#ready.push(entry);
  }
}

const byGroup = { groupOf: (key: string) => key[0] };
const QUEUES: Readonly<Record<string, () => RateLimitingQueueOptions<string>>> = {
  "first in, first out": () => ({}),
  "by priority": () => ({ discipline: createPriorityDiscipline({ maxHeadStart: "1s" }) }),
  "fair": () => ({ discipline: createFairDiscipline(byGroup) }),
  "fair, with limits": () => ({ discipline: createFairDiscipline({ ...byGroup, maxPerGroup: 1 }) }),
  "fair, with rates": () => ({
    discipline: createFairDiscipline({ ...byGroup, ratePerGroup: { rate: 30, burst: 2 } }),
  }),
  "a discipline that unblocks what is added again": () => ({ discipline: new UntilTouched() }),
};
const BUDGETS = [undefined, { ratio: 0, minRate: 0 }, { ratio: 0.4, minRate: 0 }, { ratio: 0, minRate: 20 }];
const ADDS = ["keep", "replace", "fold"] as const;

/** Somebody who takes items. */
interface Consumer {
  /** Whether the consumer would take an item now. */
  readonly isWaiting: boolean;
  /** Number of items that the consumer has taken. */
  readonly taken: number;
}

interface Trial {
  readonly queue: RateLimitingQueue<string>;
  readonly clock: HandClock;
  /** Ends the work on an item, after a random time and with a random outcome. */
  readonly work: (key: string) => Promise<void>;
}

const CONSUMERS: Readonly<Record<string, (trial: Trial) => Consumer>> = {
  "calls to get"({ queue, work }) {
    const consumer = { isWaiting: true, taken: 0 };
    const takeNext = async () => {
      const lease = await queue.get();
      if (lease.shutdown) return;
      consumer.taken++;
      void work(lease.item).catch(() => queue.addRateLimited(lease.item)).then(() => lease[Symbol.dispose]());
      void takeNext();
    };
    for (let i = 0; i < 3; i++) void takeNext();
    return consumer;
  },
  "a loop"({ queue, work }) {
    const consumer = { isWaiting: true, taken: 0 };
    const loop = async () => {
      for await (const key of queue) {
        consumer.taken++;
        consumer.isWaiting = false;
        await work(key).catch(() => queue.addRateLimited(key));
        consumer.isWaiting = true;
      }
    };
    void loop();
    return consumer;
  },
  "a pool": (trial) => poolOf(trial, {}),
  "a pool with a throttle": (trial) => poolOf(trial, { throttle: createConcurrencyThrottle({ limit: 100 }) }),
};

function poolOf({ queue, clock, work }: Trial, options: { throttle?: Throttle }): Consumer {
  const consumer = { isWaiting: true, taken: 0 };
  const pool = runWorkers(queue, async (key) => {
    consumer.taken++;
    await work(key);
  }, { clock, concurrency: 3, onError() {}, onGiveUp() {}, ...options });
  return {
    get isWaiting() {
      return pool.active < pool.concurrency;
    },
    get taken() {
      return consumer.taken;
    },
  };
}

async function run(
  seed: number,
  makeOptions: () => RateLimitingQueueOptions<string>,
  consume: (trial: Trial) => Consumer,
) {
  const random = randomNumbers(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <V>(values: readonly V[]) => values[below(values.length)]!;
  const clock = new CreepingClock();
  const limiter = { when: () => below(3) * 20, forget() {}, numRequeues: () => 0 };
  const budget = pick(BUDGETS);
  const retryBudget = budget && createRetryBudget(budget);
  const options = { clock, addWhileDelayed: pick(ADDS), retryBudget, ...makeOptions() };
  const queue = createRateLimitingQueue<string>(limiter, options);
  const hasGroups = inspectionOf(queue)!.groups !== undefined;
  const consumer = consume({
    queue,
    clock,
    async work() {
      const [outcome, ms] = [random(), below(3) * 25];
      if (ms > 0) await new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));
      if (outcome < 0.5) throw new Error("down");
      if (outcome < 0.6) throw new RetryAfterError(30, "", { scope: hasGroups ? "group" : "queue" });
    },
  });
  const fireDue = async () => {
    await flush();
    while (clock.fireNext(clock.time)) await flush();
  };
  let last = "";
  const check = async (about: string) => {
    await fireDue();
    for (let i = 0; consumer.isWaiting && queue.length > 0; i++) {
      const { taken } = consumer;
      clock.time += 2; // timers take whole milliseconds
      await fireDue();
      if (consumer.taken > taken) continue;
      assert(!consumer.isWaiting || queue.length === 0, `${about}: an item is ready, and nobody takes it`);
    }
  };
  for (let step = 0; step < STEPS; step++) {
    const [dice, key] = [random(), pick(KEYS)];
    if (dice < 0.3) queue.add(key, { priority: below(3) });
    else if (dice < 0.4) queue.addAfter(key, below(60));
    else if (dice < 0.5) queue.addRateLimited(key);
    else if (dice < 0.53) queue.cancelDelayed(key);
    else if (dice < 0.56) queue.forget(key);
    else if (dice < 0.62) queue.tryGet()?.[Symbol.dispose]();
    else if (dice < 0.67) heldLineOf(insideOf(queue)).pauseFor(below(60));
    else if (dice < 0.74 && hasGroups) queue.pauseGroup!(key[0], 1 + below(80));
    else if (dice < 0.8 && hasGroups) queue.resumeGroup!(key[0]);
    else if (dice < 0.84) {
      const controller = new AbortController();
      queue.get({ signal: controller.signal }).then((lease) => lease[Symbol.dispose](), () => {});
      controller.abort();
    }
    last = `${last} ${dice.toFixed(2)}`.slice(-60);
    if (random() < 0.3) clock.time += below(40); // the next operation comes before the timers that are due
    else await check(`seed ${seed}, step ${step} (${last})`);
    if (random() < 0.3) {
      clock.time += below(80);
      await check(`seed ${seed}, after step ${step} (${last})`);
    }
  }
  queue.shutDown();
}

for (const [queueName, makeOptions] of Object.entries(QUEUES)) {
  for (const [consumerName, consume] of Object.entries(CONSUMERS)) {
    Deno.test(`rule 3: no call waits while an item is ready: ${queueName}, ${consumerName}`, async () => {
      for (let seed = 1; seed <= RUNS; seed++) await run(seed, makeOptions, consume);
    });
  }
}
