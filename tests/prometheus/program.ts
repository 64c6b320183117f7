/**
 * Program whose metrics have known values both before and after its work. After the work, the program's clock stands
 * still.
 */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { prometheusMetrics } from "@workqueue/prometheus";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { Registry } from "prom-client";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

/** Values that the metrics of the queue "images" have after the work. The other queue, "idle", stays unused. */
export const DID = {
  /** Ten items that succeed, three that fail twice, two that hang, and seven that are not taken. */
  adds: 10 + 3 * 2 + 2 + 7,
  /** Three retries after a failure, and five items that are due in an hour. */
  retries: 3 + 5,
  failures: 3 * 2,
  givenUp: 3,
  handedOut: 10 + 3 * 2 + 2,
  done: 10 + 3 * 2,
  ready: 7,
  delayed: 5,
  active: 2,
  concurrency: 4,
  /** In seconds. */
  longestRunning: 23,
  unfinished: 2 * 23,
  oldestReady: 3,
  /**
   * Returns the quantile that Prometheus computes for the time in the queue. Eight items were handed out immediately.
   */
  latency: (quantile: number) => quantileOf(quantile, { atOnce: 8, within100ms: 10 }),
  /** Returns the quantile that Prometheus computes for the duration of attempts. Six attempts failed immediately. */
  workDuration: (quantile: number) => quantileOf(quantile, { atOnce: 6, within100ms: 10 }),
} as const;

/**
 * Returns the value of a quantile that lies in the bucket from 10 to 100 ms, not in the bucket of the items that took
 * no time. Prometheus assumes that the values in a bucket are evenly distributed.
 */
function quantileOf(quantile: number, { atOnce, within100ms }: { atOnce: number; within100ms: number }): number {
  return 0.01 + (0.1 - 0.01) * (quantile * (atOnce + within100ms) - atOnce) / within100ms;
}

export class Program {
  readonly #register = new Registry();
  readonly #clock = new HandClock();
  readonly #server: Server;
  /** Resolves when the work is done. Scrapes wait for this promise, so they never see intermediate numbers. */
  #working: Promise<void> = Promise.resolve();
  readonly #queue = this.#create("images");
  readonly #pool = runWorkers(this.#queue, (item) => this.#handle(item), {
    concurrency: DID.concurrency,
    maxRetries: 1,
    onError() {},
  });

  private constructor() {
    this.#create("idle");
    this.#server = createServer(async (_request, response) => {
      await this.#working;
      response.setHeader("content-type", this.#register.contentType).end(await this.#register.metrics());
    });
  }

  static async start(): Promise<Program> {
    const program = new Program();
    await once(program.#server.listen(0, "127.0.0.1").unref(), "listening");
    return program;
  }

  /** Host and port of the metrics. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  #create(name: string) {
    const limiter = createExponentialLimiter<string>({ baseDelay: "1s", maxDelay: "1h", clock: this.#clock });
    return createRateLimitingQueue<string>(limiter, {
      name,
      clock: this.#clock,
      metrics: prometheusMetrics(this.#register),
      priorityLevels: { usual: 0 },
    });
  }

  /** Handles an item, which takes 20 ms if the item succeeds. */
  async #handle(item: string): Promise<void> {
    if (item.startsWith("fails")) throw new Error("not today");
    await new Promise<void>((resolve) => {
      if (!item.startsWith("hangs")) this.#clock.setTimeout(resolve, 20);
    });
  }

  /** Does the work that `DID` describes. */
  async work(): Promise<void> {
    await (this.#working = this.#work());
  }

  async #work(): Promise<void> {
    const add = async (what: string, count: number) => {
      for (let i = 0; i < count; i++) this.#queue.add(`${what} ${i}`);
      await flush(); // lets the pool take the items
    };
    this.#pool.pause();
    await add("succeeds", 10);
    await this.#clock.advance(20); // the first items wait this long, later items longer
    this.#pool.resume();
    await this.#clock.advance(80);
    await add("fails", 3);
    await this.#clock.advance(4_900); // retries come after one second
    await add("hangs", 2);
    await this.#clock.advance(20_000);
    this.#pool.pause();
    await add("ready", DID.ready);
    for (let i = 0; i < DID.delayed; i++) this.#queue.addAfter(`later ${i}`, "1h");
    await this.#clock.advance(3_000);
  }
}
