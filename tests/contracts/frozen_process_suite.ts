/**
 * Contract suite for processes that are frozen between the arrival of a lease and the start of its handler, as by
 * SIGSTOP: rule 15. A clock that jumps stands for the time in which a process is frozen.
 */

import { assert, assertEquals } from "@std/assert";
import { createConcurrencyThrottle, InMemoryMetrics, runWorkers, type WorkerOptions } from "@workqueue/core";
import { setImmediate } from "node:timers/promises";
import type { RemotePlace, RemoteTest } from "./remote_place.ts";

const LEASE = 30_000;
const ITEMS = ["a", "b", "c"];
/** Number of microtasks after an arrival, above which the handlers have started in every pool. */
const MAX_MICROTASKS = 12;

const POOLS: Readonly<Record<string, () => WorkerOptions>> = {
  "without a throttle": () => ({ concurrency: 5 }),
  "with one handler": () => ({ concurrency: 1 }),
  "with a throttle": () => ({ concurrency: 5, throttle: createConcurrencyThrottle({ limit: 5 }) }),
  "with a throttle of one": () => ({ concurrency: 5, throttle: createConcurrencyThrottle({ limit: 1 }) }),
};

/** Clock of this process that can jump. Disposing it restores the real one. */
class JumpingClock implements Disposable {
  readonly #now = performance.now;
  #ahead = 0;

  constructor() {
    performance.now = () => this.#now.call(performance) + this.#ahead;
  }

  jump(ms: number): void {
    this.#ahead += ms;
  }

  [Symbol.dispose](): void {
    performance.now = this.#now;
  }
}

/** Metrics that freeze the process some microtasks after the first item has arrived. */
class Arrivals extends InMemoryMetrics {
  arrived = 0;
  /** Number of items that had arrived when the process was frozen. */
  arrivedBefore = Infinity;
  #freeze = () => {};

  override queueLatency(queue: string) {
    const histogram = super.queueLatency(queue);
    return {
      observe: (value: number) => {
        histogram.observe(value);
        if (this.arrived++ === 0) this.#freeze();
      },
    };
  }

  begin(clock: JumpingClock, microtasks: number): void {
    this.arrived = 0;
    this.arrivedBefore = Infinity;
    this.#freeze = async () => {
      for (let i = 0; i < microtasks; i++) await undefined;
      this.arrivedBefore = this.arrived;
      clock.jump(2 * LEASE);
    };
  }
}

/** Runs a pool, with a process that is frozen at each of several moments. */
async function runFrozen(place: RemotePlace, options: () => WorkerOptions): Promise<void> {
  using clock = new JumpingClock();
  const metrics = new Arrivals();
  await using queue = place.open({ name: "frozen", leaseDuration: LEASE, metrics });
  for (let microtasks = 0; microtasks <= MAX_MICROTASKS; microtasks++) {
    metrics.begin(clock, microtasks);
    await queue.addAll(ITEMS);
    const started: string[] = [];
    const errors: unknown[] = [];
    const pool = runWorkers(queue, (item, { signal }) => {
      assert(!signal.aborted);
      assert(metrics.arrivedBefore === Infinity || metrics.arrived > metrics.arrivedBefore, "the lease has expired");
      started.push(item);
    }, { ...options(), onError: (error) => errors.push(error) });
    while (started.length < ITEMS.length && errors.length === 0) await setImmediate();
    await pool.stop();
    assertEquals([started.sort(), errors], [ITEMS, []], `${microtasks} microtasks`);
  }
}

/** Registers the suite for one engine. */
export function frozenProcessSuite(test: RemoteTest): void {
  for (const [name, options] of Object.entries(POOLS)) {
    test(
      `rule 15: a handler never starts if its process was frozen until the lease ended: ${name}`,
      (place) => runFrozen(place, options),
    );
  }
}
