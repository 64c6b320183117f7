import type { WorkQueueConfig } from "@workqueue/core";
import type { DashboardOptions } from "../contract.ts";
import { SAMPLE_EVERY } from "./history.ts";
import { MAX_LISTED } from "./source.ts";
import { Timer, waitFor } from "./timer.ts";
import { ROW_LIMIT, WatchedQueue } from "./watched_queue.ts";

/** How far looks are apart while somebody watches, in milliseconds. */
const LOOK_EVERY = 1000;
/** How long a look is waited for before what is known is said. */
const LOOK_PATIENCE = 900;

/** Somebody who watches. */
export interface Watcher {
  /** The queue of which all is to be seen. */
  readonly queue: WatchedQueue | undefined;
  /** Is called after each look. */
  seen(): void;
}

/** All queues that are shown, and when they are looked at: one look serves everybody who watches. */
export class Watch implements Disposable {
  readonly queues: ReadonlyMap<string, WatchedQueue>;
  /** Grows with each look: what was made of an earlier one is old. */
  version = 0;
  readonly #watchers = new Set<Watcher>();
  readonly #samples: Timer;
  readonly #looks: Timer;
  readonly #unfollow: (() => void) | undefined;

  constructor(queues: DashboardOptions["queues"], config: WorkQueueConfig | undefined) {
    this.queues = new Map(Object.entries(queues).map(([name, queue]) => [name, new WatchedQueue(name, queue, config)]));
    this.#unfollow = config?.onReload(() => () => {
      for (const queue of this.queues.values()) queue.forgetConfig();
    });
    this.#samples = new Timer(SAMPLE_EVERY, () => void this.#sample());
    this.#looks = new Timer(LOOK_EVERY, () => void this.#look());
    this.#samples.start();
    void this.#sample();
  }

  /** Looks at all queues, and at one of them closely; unless that has just been done. */
  async look(closely?: WatchedQueue): Promise<void> {
    const close = this.#watchedClosely();
    const looks = Array.from(
      this.queues.values(),
      (queue) => queue.refresh(queue === closely || close.has(queue) ? MAX_LISTED : ROW_LIMIT),
    );
    await waitFor(Promise.all(looks), LOOK_PATIENCE);
    this.version++;
  }

  /** Calls back after each look, until the function returned is called. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    this.#looks.start();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#looks.stop();
    };
  }

  /** Something was changed: whoever watches sees it at once. */
  async changed(queue?: WatchedQueue): Promise<void> {
    for (const one of queue === undefined ? this.queues.values() : [queue]) one.forgetLook();
    if (this.#watchers.size > 0) await this.#look();
  }

  [Symbol.dispose](): void {
    this.#samples.stop();
    this.#looks.stop();
    this.#unfollow?.();
  }

  /** While somebody watches, a sample is of a look that serves them as well. */
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
