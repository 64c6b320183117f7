import { systemClock } from "@workqueue/core";
import type { Exchange } from "./exchange.ts";

/** Time in milliseconds in which nothing arrives on any connection before the server is asked for an answer. */
const QUIET = 15_000;
/** Interval in milliseconds in which the time is checked. */
const INTERVAL = 5000;

/**
 * Ends watches that will never hear anything again, because a proxy holds their connections although it has lost the
 * server. TCP keepalive doesn't notice that. Every request that times out counts as a sign, and while nothing arrives,
 * the watchdog sends requests of its own: at most four a minute.
 */
export class Watchdog {
  readonly #ask: () => Promise<unknown>;
  readonly #watches = new Set<Exchange>();
  #heardAt = -Infinity;
  #timer: unknown;

  /** @param ask Sends a request on a connection for requests. It calls `silent` if it times out. */
  constructor(ask: () => Promise<unknown>) {
    this.#ask = ask;
  }

  /** Notes that something arrived from the server. */
  heard(): void {
    this.#heardAt = systemClock.now();
  }

  /** Begins to look after a watch. */
  add(watch: Exchange): void {
    this.#watches.add(watch);
    if (this.#timer === undefined) this.#wait();
  }

  /** Notes that a watch ended. */
  delete(watch: Exchange): void {
    this.#watches.delete(watch);
    if (this.#watches.size > 0) return;
    systemClock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Ends the watches on which nothing arrived for the given time, after a request waited that long without an answer.
   */
  silent(ms: number): void {
    const error = new Error(`neither this connection nor another one received anything for ${ms} ms`);
    for (const watch of [...this.#watches]) if (watch.silence >= ms) watch.destroy(error);
  }

  #wait(): void {
    this.#timer = systemClock.setTimeout(() => {
      this.#wait();
      if (systemClock.now() - this.#heardAt < QUIET) return;
      this.heard(); // asks again if nothing arrives for as long again
      this.#ask().catch(() => {});
    }, INTERVAL);
  }
}
