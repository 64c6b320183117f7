/**
 * Keys are compared as a `Map` compares them, in all parts of a queue together. Each random load runs twice: once with
 * plain texts as keys, and once with values that `===` and default parameters treat specially. The runs must be equal.
 */

import { assertEquals } from "@std/assert";
import {
  createBucketLimiter,
  createExponentialLimiter,
  createFairDiscipline,
  createGivenUpStore,
  createIgnoreEarlyLimiter,
  createJitterLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createPerGroupLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createRetryBudget,
  type QueueDisciplineFor,
  type RateLimiter,
  runWorkers,
} from "@workqueue/core";
import fc from "fast-check";
import { HandClock } from "../helpers.ts";
import { flushPromises, HighestFirst } from "../queue_helpers.ts";

/** Names of the keys, each with values that are one key in a `Map`. */
const KEYS: Readonly<Record<string, readonly unknown[]>> = {
  a: [undefined],
  b: [NaN],
  c: [0, -0],
  d: [null],
};
const NAMES = Object.keys(KEYS);

/** Returns the name of a value from `KEYS`. A name is its own name. */
function nameOf(value: unknown): string {
  return NAMES.find((name) => name === value || KEYS[name]!.includes(value))!;
}

/** Item of a queue with a `keyOf`. */
interface Versioned {
  readonly key: unknown;
  readonly version: number;
}

function isVersioned(item: unknown): item is Versioned {
  return typeof item === "object" && item !== null;
}

/** Items whose keys are the values, items that are the values, and items that are the values but have plain keys. */
const ITEMS = {
  "the keys of items": { keyOf: (item: unknown) => (item as Versioned).key },
  "items": {},
  "items with a keyOf": { keyOf: nameOf },
};

/** Limiter as users write them. */
class OwnLimiter implements RateLimiter {
  readonly #failures = new Map<unknown, number>();

  when(item: unknown, key: unknown = item): number {
    this.#failures.set(key, this.numRequeues(item, key) + 1);
    return 10 * this.numRequeues(item, key);
  }

  forget(item: unknown, key: unknown = item): void {
    this.#failures.delete(key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#failures.get(key) ?? 0;
  }
}

/** Limiter of a user that sometimes throws. */
function flaky(): RateLimiter {
  let calls = 0;
  return {
    when() {
      if (++calls % 2 === 0) throw new Error("no delay");
      return 0;
    },
    forget() {},
    numRequeues: () => 0,
  };
}

const EXPONENTIAL = { baseDelay: 10, maxDelay: 80 };
const backoff = () => createExponentialLimiter(EXPONENTIAL);
const groupOf = (item: unknown) => isVersioned(item) ? item.key : item;

const LIMITERS: Readonly<Record<string, (clock: HandClock) => RateLimiter>> = {
  "exponential": backoff,
  "ignore-early": (clock) => createIgnoreEarlyLimiter(backoff(), { clock }),
  "flaky": (clock) =>
    createMaxOfLimiter(
      createIgnoreEarlyLimiter(backoff(), { clock }),
      createBucketLimiter({ rate: 50, burst: 1, clock }),
      flaky(),
    ),
  "per-group": () => createPerGroupLimiter({ groupOf, limiter: backoff }),
  "max-wait": () =>
    createMaxWaitLimiter(
      createJitterLimiter(backoff(), { spread: 0.5, random: () => 0.5 }),
      30,
    ),
  "own": () => new OwnLimiter(),
  "own, with an exponential one": () => createMaxOfLimiter(backoff(), new OwnLimiter()),
};

const ORDERS: Readonly<
  Record<string, () => QueueDisciplineFor<unknown> | undefined>
> = {
  "none": () => undefined,
  "priority": () => createPriorityDiscipline({ maxHeadStart: 40 }),
  "strict": () => createPriorityDiscipline({ maxHeadStart: Infinity }),
  "fair": () =>
    createFairDiscipline({
      groupOf,
      maxPerGroup: 1,
      ratePerGroup: { rate: 100, burst: 2 },
    }),
  "fair by time": () => createFairDiscipline({ groupOf, by: "time" }),
  "own": () => new HighestFirst(),
};

const ON_KEYS = [
  "add",
  "addRateLimited",
  "addAfter",
  "cancelDelayed",
  "forget",
  "done",
  "pauseGroup",
  "resumeGroup",
];

interface Step {
  readonly do: string;
  readonly key: string;
  /** Delay, time to pass, and priority. */
  readonly ms: number;
}

const setup = fc.record({
  items: fc.constantFrom(...Object.keys(ITEMS) as (keyof typeof ITEMS)[]),
  limiter: fc.constantFrom(...Object.keys(LIMITERS)),
  order: fc.constantFrom(...Object.keys(ORDERS)),
  addWhileDelayed: fc.constantFrom(
    "keep" as const,
    "replace" as const,
    "fold" as const,
  ),
  hasBudget: fc.boolean(),
  keepGivenUp: fc.constantFrom(undefined, 2),
  forgetAfter: fc.constantFrom(undefined, 0, 20),
  maxRetries: fc.constantFrom(1, 3),
  /** Whether each attempt fails, requeues or succeeds, again and again. */
  outcomes: fc.array(fc.constantFrom("fail", "fail", "requeue", "succeed"), {
    minLength: 1,
    maxLength: 5,
  }),
});

const steps = fc.array(
  fc.record({
    do: fc.constantFrom(
      "add",
      "add",
      "wait",
      "wait",
      "take",
      "end",
      "redrive",
      ...ON_KEYS,
    ),
    key: fc.constantFrom(...NAMES),
    ms: fc.constantFrom(0, 1, 5, 10, 20, 45),
  }),
  { minLength: 1, maxLength: 40 },
);

type Setup = typeof setup extends fc.Arbitrary<infer S> ? S : never;

/** Runs a load. Returns all that can be seen of it, with names in place of keys. */
async function traceOf(
  { items, limiter, order, hasBudget, keepGivenUp, maxRetries, outcomes, ...options }: Setup,
  steps: readonly Step[],
  valueOf: (name: string) => unknown,
): Promise<string[]> {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<unknown>(LIMITERS[limiter]!(clock), {
    ...ITEMS[items],
    ...options,
    discipline: ORDERS[order]!() as never,
    clock,
    ...hasBudget && { retryBudget: createRetryBudget({ ratio: 0.5, minRate: 10 }) },
    ...keepGivenUp !== undefined && { keepGivenUp: createGivenUpStore({ max: keepGivenUp }) },
  });
  let version = 0;
  const itemOf = (name: string) =>
    items === "the keys of items" ? { key: valueOf(name), version: ++version } : valueOf(name);
  const shown = (item: unknown) => isVersioned(item) ? nameOf(item.key) + item.version : nameOf(item);
  const trace: string[] = [];
  const running: (() => void)[] = [];
  let attempts = 0;
  const pool = runWorkers(queue, async (item, { attempt, key }) => {
    trace.push(`attempt ${attempt} at ${shown(item)}, key ${nameOf(key)}`);
    const outcome = outcomes[attempts++ % outcomes.length];
    await new Promise<void>((resolve) => running.push(resolve));
    if (outcome === "fail") throw new Error("down");
    return outcome === "requeue" ? { requeue: true } : undefined;
  }, {
    clock,
    maxRetries,
    concurrency: 2,
    onError: (error, item, attempt) => void trace.push(`${error} ${shown(item)} ${attempt}`),
    onGiveUp: (_error, item, attempts, reason) => void trace.push(`gave up ${shown(item)} ${attempts} ${reason}`),
  });
  const taken: { item: unknown; [Symbol.dispose](): void }[] = [];
  const act: Record<string, (step: Step) => unknown> = {
    add: ({ key, ms }) => queue.add(itemOf(key), { priority: ms }),
    addRateLimited: ({ key }) => queue.addRateLimited(itemOf(key)),
    addAfter: ({ key, ms }) => queue.addAfter(itemOf(key), ms),
    cancelDelayed: ({ key }) => queue.cancelDelayed(itemOf(key)),
    forget: ({ key }) => queue.forget(itemOf(key)),
    done: ({ key }) => queue.done(itemOf(key)),
    pauseGroup: ({ key, ms }) => queue.pauseGroup(valueOf(key), ms),
    resumeGroup: ({ key }) => queue.resumeGroup(valueOf(key)),
    redrive: () => queue.redrive().catch(() => {}),
    wait: ({ ms }) => clock.advance(ms, flushPromises),
    take() {
      const lease = queue.tryGet();
      if (lease !== undefined) taken.push(lease);
      return lease && shown(lease.item);
    },
    end: () => (running.shift() ?? taken.shift()?.[Symbol.dispose].bind(taken))?.(),
  };
  for (const step of steps) {
    try {
      trace.push(`${step.do}: ${await act[step.do]!(step)}`);
    } catch (error) {
      trace.push(`${step.do} threw ${(error as Error).name}`);
    }
    await flushPromises();
    const { readyItems, delayedItems, processingItems, ...numbers } = queue
      .snapshot();
    const lists = [
      ...readyItems,
      "delayed",
      ...delayedItems,
      "processing",
      ...processingItems,
      "failing",
    ];
    lists.push(...pool.snapshot().failingItems as never[]);
    const list = lists.map((entry) => typeof entry === "string" ? entry : { ...entry, item: shown(entry.item) });
    const counts = NAMES.map((name) => queue.numRequeues(itemOf(name)));
    const givenUp = await queue.givenUp().then(
      ({ items }) => items.map(({ item }) => shown(item)),
      () => [],
    );
    trace.push(JSON.stringify([numbers, list, counts, givenUp]));
  }
  queue.shutDown();
  for (const lease of taken) lease[Symbol.dispose]();
  const stopped = pool.stop();
  for (await flushPromises(); running.length > 0; await flushPromises()) running.shift()!();
  await stopped;
  return trace;
}

Deno.test("rule 8: undefined, NaN, 0, -0 and null are ordinary keys in all parts together", async () => {
  await fc.assert(
    fc.asyncProperty(setup, steps, async (setup, steps) => {
      const uses: Record<string, number> = {};
      const valueOf = (name: string) => {
        const use = uses[name] = (uses[name] ?? 0) + 1;
        return KEYS[name]![use % KEYS[name]!.length];
      };
      assertEquals(
        await traceOf(setup, steps, valueOf),
        await traceOf(setup, steps, (name) => name),
      );
    }),
    { numRuns: 500 },
  );
});
