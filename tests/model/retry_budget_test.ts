/**
 * Tests rule 18 in every window of random loads: adds, delays, pauses, items that are handed back, drains and reloads.
 * A discipline records when each item becomes ready, and why.
 */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import {
  adaptDiscipline,
  loadConfig,
  type QueueDiscipline,
  type ReadyEntry,
  RetryAfterError,
  type RetryBudgetOptions,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush, randomNumbers } from "../queue_helpers.ts";

const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 24);
const STEPS = 200;
const KEYS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const ADDS = ["keep", "replace", "fold"] as const;
const BUDGETS: readonly RetryBudgetOptions[] = [
  { ratio: 0, minRate: 1 },
  { ratio: 0.5, minRate: 0.1 },
  { ratio: 0.3, minRate: 3 },
  { ratio: 2, minRate: 0.5 },
  { ratio: 1, minRate: 0 },
];

/** First in, first out. Records the retries that become ready, and the first attempts that begin. */
class Recorder implements QueueDiscipline<string> {
  readonly retries: number[] = [];
  readonly firsts: number[] = [];
  /** Keys that were added since they became ready the last time. */
  readonly added = new Set<string>();
  /** Keys that will be added at a time. */
  readonly timed = new Map<string, number>();
  readonly handedBack = new Set<string>();
  /** Keys whose last attempt failed and whose retry has not become ready. */
  readonly failing = new Set<string>();
  /** Whether a drain begins: it makes delayed items ready as first attempts, all or those that were added. */
  isDraining = false;
  readonly #entries: ReadyEntry<string>[] = [];
  readonly #firsts = new Set<unknown>();

  constructor(readonly clock: HandClock) {
    adaptDiscipline(this);
  }

  get length(): number {
    return this.#entries.length;
  }

  push(entry: ReadyEntry<string>): void {
    const { item: key } = entry;
    this.#entries.push(entry);
    const isHandedBack = this.handedBack.delete(key);
    const isFirst = this.added.delete(key) || this.isDraining || this.timed.get(key)! <= this.clock.time;
    if (this.timed.get(key)! <= this.clock.time || this.isDraining) this.timed.delete(key);
    if (isHandedBack) return;
    this.failing.delete(key);
    if (isFirst) this.#firsts.add(entry);
    else this.retries.push(this.clock.time);
  }

  pop(): ReadyEntry<string> | undefined {
    const entry = this.#entries.shift();
    if (this.#firsts.delete(entry)) this.firsts.push(this.clock.time);
    return entry;
  }

  touch(): void {}

  /** Requires rule 18 in each window that begins and ends with a retry. */
  requireBudget({ ratio, minRate }: RetryBudgetOptions, about: string): void {
    for (const [i, from] of this.retries.entries()) {
      let begun = this.firsts.findIndex((at) => at >= from - 10_000);
      if (begun < 0) begun = this.firsts.length;
      let end = begun;
      for (let j = i; j < this.retries.length; j++) {
        const to = this.retries[j]!;
        while (end < this.firsts.length && this.firsts[end]! <= to) end++;
        const most = ratio * (end - begun) + minRate * (to - from) / 1000 + 1;
        assert(j - i + 1 <= most + 1e-6, `${about}: ${j - i + 1} retries from ${from} to ${to}, at most ${most}`);
      }
    }
  }
}

interface Run {
  readonly addWhileDelayed: (typeof ADDS)[number];
  readonly budgets: readonly RetryBudgetOptions[];
  /** Share of the attempts that fail. */
  readonly failing: number;
  readonly seed: number;
}

async function run({ addWhileDelayed, budgets, failing, seed }: Run): Promise<Recorder> {
  const random = randomNumbers(seed);
  const below = (n: number) => Math.floor(random() * n);
  const clock = new HandClock();
  const recorder = new Recorder(clock);
  const delay = 20 + below(500);
  const limiter = { type: "exponential", baseDelay: delay, maxDelay: delay };
  const document = (i: number) => ({
    queues: { q: { limiter, addWhileDelayed, retryBudget: budgets[i % budgets.length]! } },
  });
  const config = loadConfig(document(0));
  const queue = config.queue<string>("q", { clock, discipline: recorder });
  const processing = new Set<string>();

  const fail = (key: string) => {
    if (addWhileDelayed === "fold") recorder.added.delete(key);
    if (recorder.timed.get(key)! > clock.time + delay) recorder.timed.delete(key);
    recorder.failing.add(key);
  };
  const pool = config.runWorkers("q", queue, async (key) => {
    processing.add(key);
    const [outcome, ms] = [random(), below(100)];
    if (ms > 20) await new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));
    processing.delete(key);
    if (outcome < failing) {
      fail(key);
      throw new Error("down");
    }
    if (outcome < failing + (1 - failing) * 0.1) {
      recorder.handedBack.add(key);
      throw new RetryAfterError(below(300), "", { scope: "queue" });
    }
    if (outcome < failing + (1 - failing) * 0.2) {
      const requeueAfter = 1 + below(1000);
      recorder.timed.set(key, Math.min(clock.time + requeueAfter, recorder.timed.get(key) ?? Infinity));
      return { requeueAfter };
    }
  }, { clock, concurrency: 3, onError() {}, onGiveUp() {} });

  const isBeyondFolding = (key: string) => addWhileDelayed === "fold" && recorder.failing.has(key);
  for (let step = 0; step < STEPS; step++) {
    const key = KEYS[below(KEYS.length)]!;
    const chance = random();
    if (chance < 0.25) {
      if (!isBeyondFolding(key)) recorder.added.add(key);
      if (addWhileDelayed !== "keep" && !processing.has(key)) recorder.timed.delete(key);
      queue.add(key);
    } else if (chance < 0.3) {
      queue.forget(key);
      recorder.failing.delete(key); // ends the folding
    } else if (chance < 0.33) pool.pause();
    else if (chance < 0.4) pool.resume();
    else if (chance < 0.43) config.reload(document(step));
    else if (chance < 0.46) pool.concurrency = 1 + below(6);
    await flush();
    await clock.advance(chance < 0.9 ? below(200) : below(20_000));
  }
  pool.resume();
  if (budgets.some(({ minRate }) => minRate === 0)) config.reload(document(budgets.findIndex((b) => b.minRate > 0)));
  const mode = (["drop", "flush", "wait"] as const)[below(3)]!;
  recorder.isDraining = true;
  const drained = queue.shutDownWithDrain({ delayed: mode });
  recorder.isDraining = false;
  failing = 0;
  await flush();
  for (let i = 0; i < 100; i++) await clock.advance(1000);
  await drained;
  await pool.finished;
  assertEquals([queue.length, queue.delayed, queue.processing, queue.snapshot().blocked, clock.timers], [
    0,
    0,
    0,
    0,
    0,
  ]);
  return recorder;
}

for (const addWhileDelayed of ADDS) {
  Deno.test(`rule 18: the budget holds in every window of random loads, ${addWhileDelayed}`, async () => {
    let retries = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const budget = BUDGETS[seed % (BUDGETS.length - 1)]!;
      const failing = seed % 3 === 0 ? 0.5 : 1;
      const recorder = await run({ addWhileDelayed, budgets: [budget], failing, seed });
      recorder.requireBudget(budget, `seed ${seed}`);
      retries += recorder.retries.length;
    }
    assert(retries > 10 * RUNS, `${retries} retries`);
  });
}

Deno.test("rule 18: across reloads, the budget keeps to the largest ratio and the largest rate", async () => {
  for (let seed = 1; seed <= RUNS; seed++) {
    const budgets = [BUDGETS[seed % 4]!, BUDGETS[(seed + 1) % 5]!, BUDGETS[(seed + 2) % 5]!];
    const recorder = await run({ addWhileDelayed: ADDS[seed % 3]!, budgets, failing: 1, seed });
    const most = (option: keyof RetryBudgetOptions) => Math.max(...budgets.map((budget) => budget[option]));
    recorder.requireBudget({ ratio: most("ratio"), minRate: most("minRate") }, `seed ${seed}`);
  }
});
