/** Tests of clocks that throw: at creation they are refused, and later no item is lost. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  adaptDiscipline,
  type Clock,
  createDelayingQueue,
  createExponentialLimiter,
  createFairDiscipline,
  createGivenUpStore,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createRetryBudget,
  createWorkQueue,
  disciplines,
  InMemoryMetrics,
  type Lease,
  limiters,
  loadConfig,
  type QueueDiscipline,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  type ReadyEntry,
  runWorkers,
  throttles,
  TokenBucket,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flushPromises } from "../queue_helpers.ts";

const BROKEN: Readonly<Record<string, unknown>> = {
  "now throws": Object.assign(new HandClock(), {
    now() {
      throw new Error("broken");
    },
  }),
  "now returns NaN": Object.assign(new HandClock(), { now: () => NaN }),
  "now returns Infinity": Object.assign(new HandClock(), { now: () => Infinity }),
  "now returns a text": Object.assign(new HandClock(), { now: () => "5" }),
  "now is missing": { setTimeout() {}, clearTimeout() {} },
  "setTimeout is missing": { now: () => 0, clearTimeout() {} },
  "clearTimeout is missing": { now: () => 0, setTimeout() {} },
};

const EXPONENTIAL = { type: "exponential", baseDelay: 10, maxDelay: 100 } as const;
const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 100 });

/** Everything that is created with a clock. */
const CREATED: Readonly<Record<string, (clock: Clock) => unknown>> = {
  "a work queue": (clock) => createWorkQueue({ clock }),
  "a delaying queue": (clock) => createDelayingQueue({ clock }),
  "a rate-limiting queue": (clock) => createRateLimitingQueue(limiter(), { clock }),
  "a limiter in code": (clock) => createExponentialLimiter({ baseDelay: 10, maxDelay: 100, clock }),
  "a limiter of the registry": (clock) => limiters.build(EXPONENTIAL, { clock }),
  "a discipline of the registry": (clock) => disciplines.build({ type: "priority" }, { clock }),
  "a throttle of the registry": (clock) => throttles.build({ type: "bucket", rate: 1, burst: 1 }, { clock }),
  "a config": (clock) => loadConfig({}, { clock }),
  "a pool": (clock) => runWorkers(createRateLimitingQueue<string>(limiter()), () => {}, { clock }).stop(),
  "a bucket": (clock) => new TokenBucket(1, 1, { clock }),
};

for (const [what, create] of Object.entries(CREATED)) {
  Deno.test(`rule 11: a clock is checked when ${what} is created`, () => {
    create(new HandClock());
    for (const [fault, clock] of Object.entries(BROKEN)) {
      const error = assertThrows(
        () => create(clock as Clock),
        TypeError,
        "'clock' must have timers, and a finite now()",
        fault,
      );
      assertEquals((error as { code?: string }).code, "WQ_ARGUMENT", fault);
    }
  });
}

/** Clock that throws once. */
class FaultyClock extends HandClock {
  /** Number of calls since `breakIn`, and the number of the call that throws. */
  calls = 0;
  #broken = Infinity;

  constructor() {
    super(1_000_000);
  }

  /** Lets a later call throw. Calls are numbered from 1. */
  breakIn(call: number): void {
    this.calls = 0;
    this.#broken = call;
  }

  override now(): number {
    this.#count();
    return super.now();
  }

  override setTimeout(callback: () => void, ms: number): number {
    this.#count();
    return super.setTimeout(callback, ms);
  }

  override clearTimeout(handle: unknown): void {
    super.clearTimeout(handle);
    this.#count();
  }

  #count(): void {
    if (++this.calls === this.#broken) throw new Error("The clock broke");
  }
}

/** Discipline of a user that is told when items are done. */
class UserDiscipline implements QueueDiscipline<string> {
  readonly #entries: ReadyEntry<string>[] = [];
  get length(): number {
    return this.#entries.length;
  }
  push(entry: ReadyEntry<string>): void {
    this.#entries.push(entry);
  }
  pop(): ReadyEntry<string> | undefined {
    return this.#entries.shift();
  }
  touch(): void {}
  done(): void {}
}

const groupOf = (item: string) => item.at(0)!;

/** Queues that together use everything that looks at the clock. */
const QUEUES: Readonly<Record<string, () => Partial<RateLimitingQueueOptions<string>>>> = {
  "plain": () => ({}),
  "with metrics and keys": () => ({ name: "q", metrics: new InMemoryMetrics(), keyOf: (item) => `key of ${item}` }),
  "by priority": () => ({ discipline: createPriorityDiscipline({ maxHeadStart: "1h" }), addWhileDelayed: "replace" }),
  "in groups with a limit": () => ({ discipline: createFairDiscipline({ groupOf, maxPerGroup: 1 }) }),
  "in groups with a rate": () => ({
    discipline: createFairDiscipline({ groupOf, by: "time", maxPerGroup: 1, ratePerGroup: { rate: 100, burst: 1 } }),
  }),
  "in groups with a discipline": () => ({
    discipline: createFairDiscipline({ groupOf, maxPerGroup: 2, within: () => new UserDiscipline() }),
  }),
  "with a user's discipline": () => ({ discipline: adaptDiscipline(new UserDiscipline()) }),
  "with a retry budget": () => ({
    retryBudget: createRetryBudget({ ratio: 0.1, minRate: 20 }),
    addWhileDelayed: "fold",
  }),
  "that keeps given-up items": () => ({ keepGivenUp: createGivenUpStore({ max: 10 }) }),
};

/** Use of a queue, with one fault of the clock. Each hand-out that must follow is recorded as expected before. */
class Use {
  readonly clock: FaultyClock;
  readonly queue: RateLimitingQueue<string>;
  readonly #broken: number;
  /** Number of faults that calls have thrown. */
  faults = 0;
  /** Items that must still be handed out. */
  readonly expected = new Set<string>();

  constructor(options: Partial<RateLimitingQueueOptions<string>>, broken: number) {
    this.clock = new FaultyClock();
    this.queue = createRateLimitingQueue<string>(limiter(), { clock: this.clock, ...options });
    this.#broken = broken;
  }

  /** Begins the use: from now on, the clock may throw. */
  begin(): void {
    this.clock.breakIn(this.#broken);
  }

  /** Makes a call that may throw because of the clock. Reports whether it did not. */
  try(call: () => unknown): boolean {
    try {
      call();
      return true;
    } catch (error) {
      assertEquals((error as Error).message, "The clock broke");
      this.faults++;
      return false;
    }
  }

  /** Adds an item. It must be handed out if the call does not throw. */
  add(item: string, add: () => void): void {
    if (this.try(add)) this.expected.add(item);
  }

  taken(item: string): void {
    this.expected.delete(item);
  }

  async pass(ms: number): Promise<void> {
    await flushPromises();
    for (const end = this.clock.time + ms; this.clock.time < end;) {
      try {
        await this.clock.advance(end - this.clock.time, flushPromises);
      } catch (error) { // in a callback of a timer
        assertEquals((error as Error).message, "The clock broke");
        this.faults++;
      }
    }
  }

  /** Ends the work on items. A call that throws is repeated. */
  end(items: readonly string[]): void {
    for (const item of items) if (!this.try(() => this.queue.done(item))) this.queue.done(item);
  }

  /** Takes all items, and ends the work on each. */
  async takeAll(): Promise<void> {
    this.add("last", () => this.queue.addAfter("last", 5)); // sets timers that the fault has prevented
    for (let i = 0; i < 20; i++) {
      for (let isEmpty = false; !isEmpty;) {
        let lease: Lease<string> | undefined;
        isEmpty = this.try(() => lease = this.queue.tryGet()) && lease === undefined;
        if (lease === undefined) continue;
        this.taken((lease as Lease<string>).item);
        this.end([(lease as Lease<string>).item]);
      }
      await this.pass(100);
    }
  }
}

/** Uses a queue once for each call of the clock, which throws. */
async function breakEach(options: () => Partial<RateLimitingQueueOptions<string>>, use: (use: Use) => Promise<void>) {
  const run = async (broken: number) => {
    const one = new Use(options(), broken);
    await use(one);
    assertEquals([...one.expected], [], `call ${broken}`);
    return one;
  };
  const { calls } = (await run(Infinity)).clock;
  let faults = 0;
  for (let broken = 1; broken <= calls; broken++) faults += (await run(broken)).faults;
  assert(faults > 0, `no fault in ${calls} calls`);
}

for (const [name, options] of Object.entries(QUEUES)) {
  Deno.test(`rule 11: a clock that throws in one call loses no item: a queue ${name}`, async () => {
    await breakEach(options, async (use) => {
      const { queue } = use;
      use.begin();
      for (const item of ["a1", "a2", "b1", "b2"]) use.add(item, () => queue.add(item));
      use.add("c1", () => queue.addAfter("c1", 50));
      use.add("c2", () => queue.addRateLimited("c2"));
      const taken: string[] = [];
      const take = (lease: Lease<string> | undefined) => {
        if (lease === undefined) return;
        use.taken(lease.item);
        taken.push(lease.item);
      };
      for (let i = 0; i < 2; i++) use.try(() => take(queue.tryGet()));
      for (const item of taken) use.add(item, () => queue.add(item)); // while they are processing
      const waits = Array.from({ length: 6 }, async () => {
        const lease = await queue.get().catch(() => void use.faults++);
        if (!lease?.shutdown) take(lease as Lease<string> | undefined);
      });
      for (const item of ["d1", "d2"]) use.add(item, () => queue.add(item));
      await use.pass(20);
      use.end(taken.splice(0, 2));
      await use.pass(200);
      use.add("e1", () => queue.add("e1"));
      await use.pass(100);
      for (; taken.length > 0; await use.pass(100)) use.end(taken.splice(0));
      await use.takeAll();
      if (!use.try(() => queue.shutDown())) queue.shutDown();
      await Promise.all(waits);
    });
  });

  Deno.test(`rule 11: a clock that throws in one call loses no item: a pool of a queue ${name}`, async () => {
    await breakEach(options, async (use) => {
      const { queue } = use;
      const throttle = throttles.build({
        type: "all-of",
        throttles: [{ type: "bucket", rate: 100, burst: 2 }, { type: "aimd", min: 1, max: 2 }],
      }, { clock: use.clock });
      const hasFailed = new Set<string>();
      const run = async (): Promise<void> => {
        const pool = runWorkers(queue, async (item) => {
          await Promise.resolve();
          if (item.startsWith("fails") && !hasFailed.has(item)) {
            hasFailed.add(item);
            throw new Error("no");
          }
          use.taken(item);
          if (item.startsWith("again") && !hasFailed.has(item)) {
            hasFailed.add(item);
            use.add(item, () => queue.add(item)); // while it is processing
          }
        }, { concurrency: 3, timeout: "1h", throttle, onError() {}, onGiveUp: (_, item) => use.taken(item) });
        try {
          await pool.finished;
        } catch (error) { // the clock threw when the pool took an item
          assertEquals((error as Error).message, "The clock broke");
          use.faults++;
          await run();
        }
      };
      const finished = run();
      use.begin();
      for (const item of ["a1", "fails 1", "b1", "a2", "again 1", "again 2", "fails 3", "fails 4"]) {
        use.add(item, () => queue.add(item));
      }
      use.add("c", () => queue.addAfter("c", 50));
      await use.pass(20);
      use.add("fails 2", () => queue.addRateLimited("fails 2"));
      await use.pass(500);
      for (const item of ["d1", "d2", "d3"]) use.add(item, () => queue.add(item));
      for (const item of ["e1", "e2", "e3"]) { // set timers that the fault has prevented
        use.add(item, () => queue.addAfter(item, 5));
        await use.pass(500);
      }
      if (!use.try(() => queue.shutDown())) queue.shutDown();
      await finished;
    });
  });
}

Deno.test("rule 11: a call of get that fails in the clock takes no item later", async () => {
  const use = new Use(QUEUES["in groups with a rate"]!(), Infinity);
  const { queue, clock } = use;
  for (const item of ["a1", "a2"]) queue.add(item);
  queue.done(queue.tryGet()!.item);
  const { setTimeout } = clock;
  clock.setTimeout = () => {
    throw new Error("The clock broke");
  };
  await assertRejects(() => queue.get(), Error, "The clock broke");
  clock.setTimeout = setTimeout;
  clock.time += 1000;
  queue.add("b1");
  assertEquals([queue.tryGet()?.item, queue.tryGet()?.item].toSorted(), ["a2", "b1"]);
});
