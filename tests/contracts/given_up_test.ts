import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createGivenUpStore,
  createIgnoreEarlyLimiter,
  createRateLimitingQueue,
  createRetryBudget,
  type GivenUpRetention,
  type GivenUpStore,
  loadConfig,
  type RateLimiter,
  type RateLimitingQueueOptions,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush, HighestFirst } from "../queue_helpers.ts";
import { givenUpSuite, type KeepingSubject, type KeepingSubjectOptions } from "./given_up_suite.ts";

function limiter({ ignoresEarly }: KeepingSubjectOptions, clock: HandClock): RateLimiter<string> {
  const backoff = createExponentialLimiter<string>({ baseDelay: 10, maxDelay: 10 });
  return ignoresEarly ? createIgnoreEarlyLimiter(backoff, { clock }) : backoff;
}

function subject(queue: KeepingSubject["queue"] & { shutDown(): void }, clock: HandClock): KeepingSubject {
  return {
    queue,
    async advance(ms) {
      await flush();
      await clock.advance(ms);
      await flush();
    },
    async [Symbol.asyncDispose]() {
      queue.shutDown();
      await flush();
      assertEquals(clock.timers, 0);
    },
  };
}

function storeOf(retention: number | GivenUpRetention): GivenUpStore {
  return createGivenUpStore(typeof retention === "number" ? { max: retention } : retention);
}

/** Returns a function that creates a subject in memory with further options. */
function inMemory(more: RateLimitingQueueOptions<string> = {}) {
  return (options: KeepingSubjectOptions): KeepingSubject => {
    const { keepGivenUp, hasGroups } = options;
    const clock = new HandClock(1e9);
    const discipline = hasGroups ? createFairDiscipline({ separator: "/" }) : undefined;
    return subject(
      createRateLimitingQueue(limiter(options, clock), {
        clock,
        keepGivenUp: storeOf(keepGivenUp),
        ...discipline && { discipline },
        ...more,
      }),
      clock,
    );
  };
}

givenUpSuite("in memory", inMemory());
givenUpSuite("in memory with keyOf", inMemory({ keyOf: (item) => item }));
givenUpSuite('in memory with "fold"', inMemory({ addWhileDelayed: "fold" }));
givenUpSuite(
  "in memory with a retry budget",
  inMemory({ retryBudget: createRetryBudget({ ratio: 1, minRate: 1000 }) }),
);
givenUpSuite("in memory with a discipline of the user", (options) => {
  const { keepGivenUp, hasGroups } = options;
  const clock = new HandClock();
  const discipline = hasGroups ? createFairDiscipline<string>({ separator: "/" }) : new HighestFirst<string>();
  const keeping = { clock, discipline, keepGivenUp: storeOf(keepGivenUp) };
  return subject(createRateLimitingQueue(limiter(options, clock), keeping), clock);
});
givenUpSuite("in memory, from a document", ({ keepGivenUp, hasGroups, ignoresEarly }) => {
  const clock = new HandClock();
  const discipline = hasGroups ? { discipline: { type: "fair", separator: "/" } } : {};
  const backoff = { type: "exponential", baseDelay: 10, maxDelay: 10 } as const;
  const limiter = ignoresEarly ? { type: "ignore-early", limiter: backoff } as const : backoff;
  const config = loadConfig({ queues: { q: { limiter, keepGivenUp, ...discipline } } }, { clock });
  return subject(config.queue<string>("q", { clock }), clock);
});
