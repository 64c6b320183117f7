import type { WorkQueueConfig } from "@workqueue/core";
import type { DashboardOptions } from "../contract.ts";
import { SAMPLE_EVERY } from "./history.ts";
import { MAX_LISTED } from "./source.ts";
import { Throttles } from "./throttles.ts";
import { Timer, waitFor } from "./timer.ts";
import { ROW_LIMIT, WatchedQueue } from "./watched_queue.ts";

/** Interval between looks at the queues while a client watches, in milliseconds. */
const LOOK_EVERY = 1000;
/** Longest wait for new data from the queues before earlier data is shown, in milliseconds. */
const LOOK_PATIENCE = 900;

/** Client that watches the queues. */
export interface Watcher {
  /** Queue whose details are watched; `undefined` for none. */
  readonly queue: WatchedQueue | undefined;
  /** Called after each look at the queues. */
  seen(): void;
}

/** Watches all queues of the dashboard on a schedule. One look at the queues serves all clients. */
export class Watch implements Disposable {
  readonly queues: ReadonlyMap<string, WatchedQueue>;
  readonly throttles: Throttles;
  /** Number of looks at the queues so far. Views created before the latest look are outdated. */
  version = 0;
  readonly #watchers = new Set<Watcher>();
  readonly #samples: Timer;
  readonly #looks: Timer;
  readonly #unfollow: (() => void) | undefined;

  constructor(queues: DashboardOptions["queues"], config: WorkQueueConfig | undefined) {
    const throttles = this.throttles = new Throttles(config, () => this.queues.values());
    this.queues = new Map(
      Object.entries(queues).map(([name, queue]) => [name, new WatchedQueue(name, queue, config, throttles)]),
    );
    this.#unfollow = config?.onReload(() => () => {
      throttles.forgetConfig();
      for (const queue of this.queues.values()) queue.forgetConfig();
    });
    this.#samples = new Timer(SAMPLE_EVERY, () => void this.#sample());
    this.#looks = new Timer(LOOK_EVERY, () => void this.#look());
    this.#samples.start();
    void this.#sample();
  }

  /**
   * Looks at all queues. Reads longer lists for the queue `closely` and for queues whose details are watched. Skips a
   * queue whose latest look is fresh.
   */
  async look(closely?: WatchedQueue): Promise<void> {
    const close = this.#watchedClosely();
    const looks = Array.from(
      this.queues.values(),
      (queue) => queue.refresh(queue === closely || close.has(queue) ? MAX_LISTED : ROW_LIMIT),
    );
    await waitFor(Promise.all(looks), LOOK_PATIENCE);
    this.version++;
  }

  /** Calls the watcher's `seen` after each look at the queues. Returns an unsubscribe function. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    this.#looks.start();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#looks.stop();
    };
  }

  /**
   * Discards earlier looks. Called after a change to a queue, because the looks are then outdated. Looks again
   * immediately if there are watchers.
   */
  async changed(queue?: WatchedQueue): Promise<void> {
    for (const one of queue === undefined ? this.queues.values() : [queue]) one.forgetLook();
    if (this.#watchers.size > 0) await this.#look();
  }

  [Symbol.dispose](): void {
    this.#samples.stop();
    this.#looks.stop();
    this.#unfollow?.();
    for (const queue of this.queues.values()) queue[Symbol.dispose]();
  }

  /** Samples all queues. If there are watchers, also reads the items that the watchers need. */
  async #sample(): Promise<void> {
    const limit = this.#watchers.size === 0 ? 0 : ROW_LIMIT;
    const close = this.#watchedClosely();
    await Promise.all(
      Array.from(this.queues.values(), (queue) => queue.sample(close.has(queue) ? MAX_LISTED : limit)),
    );
  }

  #watchedClosely(): Set<WatchedQueue | undefined> {
    return new Set(Array.from(this.#watchers, ({ queue }) => queue));
  }

  async #look(): Promise<void> {
    await this.look();
    for (const watcher of [...this.#watchers]) if (this.#watchers.has(watcher)) watcher.seen();
  }
}
