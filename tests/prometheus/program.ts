/** A program whose every number is known: before it has done anything, and after, when its time stands still. */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { prometheusMetrics } from "@workqueue/prometheus";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { Registry } from "prom-client";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

/** What the queue "images" has done and is, and the queue "idle" is not. */
export const DID = {
  /** Ten that succeed, three that fail twice, two that hang, seven that nobody takes. */
  adds: 10 + 3 * 2 + 2 + 7,
  /** Three after a failure, five to come in an hour. */
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
  /** What Prometheus takes a quantile for, of how long items were in the queue: eight for no time at all. */
  latency: (quantile: number) => quantileOf(quantile, { atOnce: 8, within100ms: 10 }),
  /** The same for how long they took: six failed at once. */
  workDuration: (quantile: number) => quantileOf(quantile, { atOnce: 6, within100ms: 10 }),
} as const;

/** Where the quantile is that is none of those at once: the others are between 10 and 100 ms, as if evenly spread. */
function quantileOf(quantile: number, { atOnce, within100ms }: { atOnce: number; within100ms: number }): number {
  return 0.01 + (0.1 - 0.01) * (quantile * (atOnce + within100ms) - atOnce) / within100ms;
}

export class Program {
  readonly #register = new Registry();
  readonly #clock = new HandClock();
  readonly #server: Server;
  /** Who scrapes waits for that, and so sees nothing half done. */
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

  /** Where its metrics are, without `/metrics`. */
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

  /** Takes 20 ms for what succeeds. */
  async #handle(item: string): Promise<void> {
    if (item.startsWith("fails")) throw new Error("not today");
    await new Promise<void>((resolve) => {
      if (!item.startsWith("hangs")) this.#clock.setTimeout(resolve, 20);
    });
  }

  /** Does everything that `DID` says. */
  async work(): Promise<void> {
    await (this.#working = this.#work());
  }

  async #work(): Promise<void> {
    const add = async (what: string, count: number) => {
      for (let i = 0; i < count; i++) this.#queue.add(`${what} ${i}`);
      await flush(); // lets the pool take them
    };
    this.#pool.pause();
    await add("succeeds", 10);
    await this.#clock.advance(20); // so long each of them stays in the queue, or longer by what those before it take
    this.#pool.resume();
    await this.#clock.advance(80);
    await add("fails", 3);
    await this.#clock.advance(4_900); // the retries come after a second
    await add("hangs", 2);
    await this.#clock.advance(20_000);
    this.#pool.pause();
    await add("ready", DID.ready);
    for (let i = 0; i < DID.delayed; i++) this.#queue.addAfter(`later ${i}`, "1h");
    await this.#clock.advance(3_000);
  }
}
