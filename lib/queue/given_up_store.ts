import { A_POSITIVE_INTEGER, requireRules } from "../base/arguments.ts";
import { setBrand } from "../base/brands.ts";
import type { Duration } from "../base/duration.ts";
import { argumentError } from "../base/errors.ts";
import { A_MAX_AGE } from "../base/given_up_arguments.ts";
import type { GivenUpRetention, GivenUpStore } from "../contracts/given_up.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import type { RateLimitingQueueOptions } from "../contracts/rate_limiting_queue.ts";
import { KeepingQueue } from "./keeping_queue.ts";
import { KEEPER } from "./opt_ins.ts";

/**
 * Creates a store for the option `keepGivenUp`, in which a queue keeps the items that its pools give up. The items are
 * in memory, so they end with the process. A store belongs to one queue.
 *
 * @example Keep the newest 1,000 items for a week, and try them again
 * ```ts
 * import { createDefaultItemLimiter, createGivenUpStore, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), {
 *   keepGivenUp: createGivenUpStore({ max: 1000, maxAge: "168h" }),
 * });
 * let isDown = true;
 * const pool = runWorkers(queue, (order) => {
 *   if (isDown) throw new Error(`no stock for ${order}`);
 * }, { maxRetries: 0, onError() {} });
 * queue.add("order 1");
 * await queue.whenIdle();
 *
 * const { items: [given], total } = await queue.givenUp({ search: "stock" });
 * assertEquals([given?.item, given?.error, total], ["order 1", "Error: no stock for order 1", 1]);
 * isDown = false;
 * assertEquals(await queue.redrive({ rate: 10 }), { redriven: 1, left: 0, running: false });
 * await queue.shutDownWithDrain();
 * await pool.finished;
 * assertEquals((await queue.givenUp()).total, 0);
 * ```
 *
 * @param options The maximum number of items, and their maximum age.
 * @returns An empty store.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 * @throws {RangeError} If `max` is a number but not a positive integer, or `maxAge` is shorter than 1 ms.
 */
export function createGivenUpStore(options: GivenUpRetention): GivenUpStore {
  requireRetention("create given-up store", options);
  return new Store({ ...options });
}

/** Returns a store whose limits are those of an object that may change. */
export function storeWith(retention: GivenUpRetention): GivenUpStore {
  return new Store(retention);
}

class Store implements GivenUpStore {
  #retention: GivenUpRetention;
  #isUsed = false;

  constructor(retention: GivenUpRetention) {
    this.#retention = retention;
    setBrand(this, KEEPER, (limiter: RateLimiter, options: RateLimitingQueueOptions<unknown>) => {
      if (this.#isUsed) throw argumentError("create rate limiting queue", "another queue has this store", Error);
      this.#isUsed = true;
      return new KeepingQueue(limiter, options, this);
    });
  }

  get max(): number {
    return this.#retention.max;
  }

  get maxAge(): Duration | undefined {
    return this.#retention.maxAge;
  }

  update(options: GivenUpRetention): void {
    requireRetention("update given-up store", options);
    this.#retention = { ...options };
  }
}

function requireRetention(action: string, options: GivenUpRetention): void {
  requireRules(action, options, { max: A_POSITIVE_INTEGER, maxAge: A_MAX_AGE });
  if (options.max === undefined) throw argumentError(action, "the option 'max' is missing", TypeError);
}

/** Limits of a document that a reload may change. Queues read them at each use. */
export class LiveRetention implements GivenUpRetention {
  #retention: number | GivenUpRetention;

  constructor(retention: number | GivenUpRetention) {
    this.#retention = retention;
  }

  get max(): number {
    return typeof this.#retention === "number" ? this.#retention : this.#retention.max;
  }

  get maxAge(): Duration | undefined {
    return typeof this.#retention === "number" ? undefined : this.#retention.maxAge;
  }

  update(retention: number | GivenUpRetention): void {
    this.#retention = retention;
  }
}
