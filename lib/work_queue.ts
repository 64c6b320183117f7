/**
 * Layer 1: a FIFO queue that folds duplicates and never hands one item to two holders at once.
 *
 * @module
 */

import { type Clock, systemClock } from "./clock.ts";
import type { QueueDiscipline } from "./discipline.ts";
import { invalidArgument } from "./errors.ts";
import { ItemIterator } from "./internal/item_iterator.ts";
import { RingBuffer } from "./internal/ring_buffer.ts";
import { Waiters } from "./internal/waiters.ts";
import { type MetricsProvider, QueueMetrics } from "./metrics.ts";

/**
 * A queue of things that need work.
 *
 * An item that is added again while it is ready changes nothing. One that is added again while somebody
 * works on it is put back, once, when that work is done. So an item is worked on by one holder at a time,
 * and at least once after its last `add`. The semantics are those of `Typed` in client-go's
 * [`util/workqueue`](https://pkg.go.dev/k8s.io/client-go/util/workqueue).
 *
 * Made by {@linkcode createWorkQueue}.
 */
export interface WorkQueue<T> extends AsyncIterable<T>, Disposable {
  /** The name given at creation, `""` by default. Metrics carry it. */
  readonly name: string;

  /** What the queue de-duplicates by; absent where that is the item itself. The layers above take it over. */
  keyOf?(item: T): unknown;

  /** Says that the item needs work. Ignored once the queue is shutting down. */
  add(item: T): void;

  /** The number of items ready to be handed out: not being processed, not waiting for a delay. */
  readonly length: number;

  /**
   * Waits for an item and hands it out. Waiters are served in the order they came.
   *
   * Give the item back by disposing the lease (`using lease = await queue.get()`) or by `done(item)`.
   *
   * @param options With a `signal` that aborts the wait; no item is lost by that.
   * @returns A lease on the item, or `Shutdown` when the queue was shut down and nothing is ready.
   * @throws The signal's reason (as a rejection), if the signal aborts before an item is there.
   */
  get(options?: { signal?: AbortSignal | undefined }): Promise<Lease<T> | Shutdown>;

  /** Hands out an item that is ready; `undefined` if there is none right now. */
  tryGet(): Lease<T> | undefined;

  /** Says that the work on the item ended. Ignored if nobody holds the item. */
  done(item: T): void;

  /** Whether the queue was shut down: nothing more can be added. */
  readonly shuttingDown: boolean;

  /**
   * Takes no more items. Those ready are still handed out, then `get` gives `Shutdown`.
   * Ends the wait of `shutDownWithDrain`. Disposing the queue calls it.
   */
  shutDown(): void;

  /**
   * Shuts down and waits until nothing is ready and nobody holds an item, or until `shutDown` is called.
   *
   * @param options What becomes of items that wait for their delay; nothing waits in a queue without delays.
   */
  shutDownWithDrain(options?: DrainOptions): Promise<void>;
}

/** The right to work on an item. While it is held, the item's key is handed to nobody else. */
export interface Lease<T> extends Disposable {
  /** The item to work on. */
  readonly item: T;
  /** Always `false`; tells a lease from {@linkcode Shutdown}. */
  readonly shutdown: false;
}

/** What `get` gives once the queue is shut down and nothing is ready. Disposing it does nothing. */
export interface Shutdown extends Disposable {
  /** Always `undefined`. */
  readonly item: undefined;
  /** Always `true`; tells it from a {@linkcode Lease}. */
  readonly shutdown: true;
}

/** How to drain a queue. */
export interface DrainOptions {
  /**
   * What becomes of items whose delay has not passed: `"drop"` forgets them, `"flush"` makes them ready now,
   * `"wait"` waits for each until it is due.
   *
   * @default {"drop"}
   */
  waiting?: "drop" | "flush" | "wait";
}

/** The options of {@linkcode createWorkQueue}. */
export interface WorkQueueOptions<T> {
  /**
   * The queue's name, as a label of its metrics.
   *
   * @default {""}
   */
  name?: string;
  /**
   * Items with the same key (compared as `Map` does) are the same item, and the newest of them is the one
   * handed out. By default an item is its own key, so objects are compared by identity.
   */
  keyOf?: ((item: T) => unknown) | undefined;
  /** Which ready item is next. By default the one that became ready first. */
  discipline?: QueueDiscipline<T>;
  /**
   * Where time comes from.
   *
   * @default {systemClock}
   */
  clock?: Clock;
  /** Where measurements go. As in client-go, a queue without a name is not measured. */
  metrics?: MetricsProvider | undefined;
}

/**
 * Makes a {@linkcode WorkQueue}.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<string>();
 * queue.add("a");
 * queue.add("b");
 * queue.add("a"); // folded: "a" is ready already
 * queue.shutDown();
 *
 * const worked: string[] = [];
 * for await (const item of queue) worked.push(item);
 * assertEquals(worked, ["a", "b"]);
 * ```
 *
 * @example Items that are objects
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<{ id: number; version: number }>({ keyOf: (pod) => pod.id });
 * queue.add({ id: 1, version: 1 });
 * queue.add({ id: 1, version: 2 });
 *
 * using lease = await queue.get();
 * assertEquals(lease.item?.version, 2);
 * assertEquals(queue.length, 0);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options The queue's options; all may be left out.
 * @returns An empty queue.
 * @throws {TypeError} If `keyOf` or `discipline` is not what it should be.
 */
export function createWorkQueue<T>(options: WorkQueueOptions<T> = {}): WorkQueue<T> {
  return new FifoWorkQueue(options);
}

const READY = 0;
const PROCESSING = 1;
const DONE = 2;

/**
 * One pass of an item through the queue: ready, then processing, then done. It is the lease as well.
 *
 * An item that is added again while it is processed gets a new entry for its next pass. That is what makes
 * a stale lease harmless: its entry is done, whatever has become of the item since.
 */
class Entry<T> implements Lease<T> {
  state: typeof READY | typeof PROCESSING | typeof DONE = READY;
  /** The next pass, when the item was added again while this one is processed. */
  next: Entry<T> | undefined = undefined;
  /** When the pass began, and when the item was handed out; 0 in a queue that is not measured. */
  addedAt = 0;
  startedAt = 0;

  constructor(readonly queue: FifoWorkQueue<T>, readonly key: unknown, public item: T) {}

  get shutdown(): false {
    return false;
  }

  [Symbol.dispose](): void {
    this.queue.finish(this);
  }
}

const SHUTDOWN: Shutdown = Object.freeze({ item: undefined, shutdown: true, [Symbol.dispose]() {} });

class FifoWorkQueue<T> implements WorkQueue<T> {
  readonly name: string;
  keyOf?(item: T): unknown;
  /** The entry of every item that is ready or processing, by key. */
  readonly #entries = new Map<unknown, Entry<T>>();
  readonly #ready: RingBuffer<Entry<T>> | DisciplinedEntries<T>;
  readonly #discipline: QueueDiscipline<T> | undefined;
  readonly #metrics: QueueMetrics | undefined;
  /** Those who wait in `get`. While there are any, nothing is ready. */
  readonly #getters = new Waiters<Lease<T> | Shutdown>();
  /** Those who wait in `shutDownWithDrain`. */
  readonly #drainers = new Waiters<void>();
  #shuttingDown = false;

  constructor({ name = "", keyOf, discipline, clock = systemClock, metrics }: WorkQueueOptions<T>) {
    if (keyOf !== undefined && typeof keyOf !== "function") {
      throw invalidArgument("create work queue", "keyOf", "must be a function", keyOf);
    }
    if (discipline !== undefined && typeof discipline?.push !== "function") {
      throw invalidArgument("create work queue", "discipline", "must be a queue discipline", discipline);
    }
    this.name = name;
    if (keyOf !== undefined) this.keyOf = keyOf;
    this.#discipline = discipline;
    this.#ready = discipline === undefined
      ? new RingBuffer()
      : new DisciplinedEntries(discipline, (item) => this.#entries.get(this.#key(item)));
    this.#metrics = metrics && name !== "" ? new QueueMetrics(metrics, name, clock) : undefined;
  }

  get length(): number {
    return this.#ready.length;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  add(item: T): void {
    if (this.#shuttingDown) return;
    const key = this.#key(item);
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const added = new Entry(this, key, item);
      this.#makeReady(added);
      try {
        this.#metrics?.added(added);
      } finally {
        this.#serve();
      }
    } else if (entry.state === READY) {
      entry.item = item;
      this.#discipline?.touch(item);
    } else if (entry.next === undefined) {
      entry.next = new Entry(this, key, item);
      this.#metrics?.added(entry.next);
    } else {
      entry.next.item = item;
    }
  }

  get({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<Lease<T> | Shutdown> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#ready.length > 0) return new Promise((resolve) => resolve(this.#take())); // rejects if that throws
    if (this.#shuttingDown) return Promise.resolve(SHUTDOWN);
    return this.#getters.wait(signal);
  }

  tryGet(): Lease<T> | undefined {
    return this.#ready.length > 0 ? this.#take() : undefined;
  }

  done(item: T): void {
    const entry = this.#entries.get(this.#key(item));
    if (entry !== undefined) this.finish(entry);
  }

  /** Ends a pass. Ignored unless the entry is being processed, so that a lease can be disposed at any time. */
  finish(entry: Entry<T>): void {
    if (entry.state !== PROCESSING) return;
    const { next } = entry;
    entry.state = DONE;
    entry.next = undefined; // a lease that somebody keeps must not keep all that came after it
    this.#entries.delete(entry.key);
    try {
      if (next !== undefined) {
        this.#makeReady(next);
        this.#serve();
      }
      this.#metrics?.finished(entry);
    } finally {
      if (this.#entries.size === 0) this.#drainers.serveAll();
    }
  }

  shutDown(): void {
    this.#close();
    this.#drainers.serveAll();
  }

  shutDownWithDrain(_options?: DrainOptions): Promise<void> {
    this.#close();
    return this.#entries.size === 0 ? Promise.resolve() : this.#drainers.wait();
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, void> {
    return new ItemIterator(this);
  }

  #key(item: T): unknown {
    return this.keyOf === undefined ? item : this.keyOf(item);
  }

  /** A discipline is somebody else's code: it may throw, and it may call the queue, which has to know the entry. */
  #makeReady(entry: Entry<T>): void {
    this.#entries.set(entry.key, entry);
    try {
      this.#ready.push(entry);
    } catch (error) {
      this.#entries.delete(entry.key);
      throw error;
    }
  }

  /** Hands what is ready to those who wait. If that fails, it fails for them: who added the item has done so. */
  #serve(): void {
    while (!this.#getters.isEmpty && this.#ready.length > 0) {
      try {
        this.#getters.serve(this.#take());
      } catch (error) {
        this.#getters.fail(error);
      }
    }
  }

  /** Hands out the next ready entry. There must be one. */
  #take(): Lease<T> {
    const entry = this.#ready.shift()!;
    entry.state = PROCESSING;
    try {
      this.#metrics?.taken(entry);
    } catch (error) {
      entry.state = READY;
      this.#makeReady(entry);
      throw error;
    }
    return entry;
  }

  #close(): void {
    this.#shuttingDown = true;
    this.#metrics?.stop();
    this.#getters.serveAll(SHUTDOWN);
  }
}

/** Orders entries by a discipline, which knows only items. */
class DisciplinedEntries<T> {
  constructor(
    readonly discipline: QueueDiscipline<T>,
    readonly entryOf: (item: T) => Entry<T> | undefined,
  ) {}

  get length(): number {
    return this.discipline.length;
  }

  push(entry: Entry<T>): void {
    this.discipline.push(entry.item);
  }

  shift(): Entry<T> {
    const item = this.discipline.pop() as T;
    const entry = this.#find(item);
    if (entry?.state !== READY) {
      throw new Error("Cannot get an item as the discipline gave out one that is not ready");
    }
    return entry;
  }

  /** Finding an entry asks for the item's key, by code of the user's; should that throw, the item stays. */
  #find(item: T): Entry<T> | undefined {
    try {
      return this.entryOf(item);
    } catch (error) {
      this.discipline.push(item);
      throw error;
    }
  }
}
