/** Simulated remote queue. Requests from pools arrive with a short delay, and so do the answers. */

import type {
  Ending,
  HeldNews,
  RateLimitingQueue,
  Shutdown,
  SourcedQueue,
  WorkAttempt,
  WorkLease,
  WorkRequest,
  WorkSource,
} from "@workqueue/core";
import { type BaseSource, baseSource, SOURCE } from "@workqueue/core/hooks";
import type { RecordLease } from "../../lib/queue/record_queue.ts";
import type { LimitedQueue } from "../../lib/queue/limited_queue.ts";
import { sourceOf } from "../queue_helpers.ts";

/** In-memory queue that behaves as if it were in another process. */
export class RemoteQueue<T> implements SourcedQueue<T> {
  /** Leases that were handed out but not yet finished or handed back, by item. */
  readonly leases = new Map<T, RemoteLease<T>>();
  /** Endings that were carried out, such as `"succeeded a"`. */
  readonly endings: string[] = [];
  /** For each call to `take`, the number of items that it requested on arrival. */
  readonly wanted: number[] = [];
  /** Promise that delays all calls and answers until it resolves. */
  way: Promise<void> = Promise.resolve();
  readonly queue: RateLimitingQueue<T>;
  readonly #waiters: (() => void)[] = [];

  constructor(queue: RateLimitingQueue<T>) {
    this.queue = queue;
  }

  [SOURCE](): WorkSource<T> {
    return new RemoteSource(this);
  }

  /** Resolves when a lease ends. */
  nextEnd(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push(resolve);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      if (signal.aborted) reject(signal.reason);
    });
  }

  /** Ends a lease and resolves the pending `nextEnd` promises. */
  end(lease: RemoteLease<T>): void {
    this.leases.delete(lease.item);
    lease.inner[Symbol.dispose]();
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  /** Delays all calls and answers. Returns a function that lets the calls and answers continue. */
  holdUp(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.way = promise;
    return resolve;
  }

  /** Revokes a lease, so that its item is handed out again. */
  lose(item: T, reason: unknown): void {
    const lease = this.leases.get(item)!;
    lease.controller.abort(reason);
    lease.giveBack();
  }
}

interface RemoteSource<T> extends BaseSource {} // the prototype is set below

class RemoteSource<T> implements WorkSource<T> {
  readonly #remote: RemoteQueue<T>;
  readonly #here: LimitedQueue<T>;
  readonly #unused: RemoteLease<T>[] = [];

  constructor(remote: RemoteQueue<T>) {
    this.#remote = remote;
    this.#here = sourceOf(remote.queue) as LimitedQueue<T>;
  }

  get name() {
    return this.#here.name;
  }

  get clock() {
    return this.#here.clock;
  }

  get metrics() {
    return this.#here.metrics;
  }

  get length() {
    return this.#here.length;
  }

  get isOver() {
    return this.#here.isOver;
  }

  attemptOf(lease: RemoteLease<T>): number | undefined {
    const { inner, attempt } = lease;
    if (attempt !== undefined && this.#here.attemptOf(inner) !== undefined) return attempt;
    lease.isFinished = true;
    return void this.#remote.end(lease); // the item was cancelled
  }

  watchHeld(callback: (news: HeldNews) => void, tellsAdds: boolean): () => void {
    return this.#here.watchHeld(callback, tellsAdds);
  }

  tryTake(): RemoteLease<T> | undefined {
    return this.#unused.shift();
  }

  giveBackUnused(): void {
    for (const lease of this.#unused.splice(0)) lease[Symbol.dispose]();
  }

  async take(request: WorkRequest): Promise<RemoteLease<T> | Shutdown> {
    const { signal } = request;
    await this.#travel();
    this.#remote.wanted.push(request.wanted());
    const first = await this.#takeFirst(request);
    if (first.shutdown) return first;
    const brought = [this.#lease(first)];
    // While the queue is shutting down, this loop takes no further items. The queue would take none of them back, so
    // the pool would have to process them.
    while (!this.#remote.queue.shuttingDown && brought.length < request.wanted()) {
      const next = this.#here.tryTake();
      if (next === undefined) break;
      brought.push(this.#lease(next));
    }
    await this.#travel();
    if (signal.aborted && !this.#remote.queue.shuttingDown) {
      for (const lease of brought) lease[Symbol.dispose]();
      throw signal.reason;
    }
    const [lease, ...others] = brought;
    this.#unused.push(...others);
    return lease!;
  }

  /**
   * Takes the first lease of a request. Returns a shutdown only once no lease is left, because a key that is processing
   * may be added again and then become ready.
   */
  async #takeFirst(request: WorkRequest): Promise<RecordLease<T> | Shutdown> {
    for (;;) {
      const first = await this.#here.take(request);
      if (!first.shutdown || this.#remote.leases.size === 0) return first;
      await this.#remote.nextEnd(request.signal);
    }
  }

  takesBack(attempt: WorkAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean {
    return this.#here.takesBack({ ...attempt, lease: (attempt.lease as RemoteLease<T>).inner }, reason);
  }

  async finish(attempt: WorkAttempt<T>, ending: Ending): Promise<boolean> {
    const lease = attempt.lease as RemoteLease<T>;
    lease.isFinished = true;
    await this.#travel();
    if (lease.signal.aborted) return false;
    this.#here.finish({ ...attempt, lease: lease.inner }, ending, (error) => {
      throw error;
    });
    this.#remote.endings.push(`${ending.kind} ${lease.item}`);
    this.#remote.end(lease);
    await this.#travel();
    return true;
  }

  get failing() {
    return this.#here.failing;
  }

  timedOut(attempt: WorkAttempt<T>): void {
    this.#here.timedOut({ ...attempt, lease: (attempt.lease as RemoteLease<T>).inner });
  }

  watchForgotten(callback: (key: unknown) => void): () => void {
    return this.#here.watchForgotten(callback);
  }

  isFailing(key: unknown): boolean {
    return this.#here.isFailing(key);
  }

  dueInMs(item: T): number | undefined {
    return this.#here.dueInMs(item);
  }

  watch(callback: () => void): () => void {
    return this.#here.watch(callback);
  }

  #lease(inner: RecordLease<T>): RemoteLease<T> {
    const attempt = this.#here.attemptOf(inner);
    return new RemoteLease(this.#remote, inner, attempt);
  }

  async #travel(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await this.#remote.way;
  }
}

Object.setPrototypeOf(RemoteSource.prototype, baseSource);

let lastToken = 0n;

class RemoteLease<T> implements WorkLease<T> {
  readonly controller = new AbortController();
  readonly token = ++lastToken;
  readonly shutdown = false;
  readonly inner: RecordLease<T>;
  readonly attempt: number | undefined;
  /** Whether the lease was finished or handed back. Afterwards, disposing the lease does nothing. */
  isFinished = false;
  readonly #remote: RemoteQueue<T>;

  constructor(remote: RemoteQueue<T>, inner: RecordLease<T>, attempt: number | undefined) {
    this.#remote = remote;
    this.inner = inner;
    this.attempt = attempt;
    remote.leases.set(inner.item, this);
  }

  get item() {
    return this.inner.item;
  }

  get key() {
    return this.inner.key;
  }

  get priority() {
    return this.inner.priority;
  }

  get addedAgain() {
    return this.inner.addedAgain;
  }

  get signal() {
    return this.controller.signal;
  }

  giveBack(): void {
    const { queue } = this.#remote;
    const { item, priority } = this.inner;
    queue.add(item, priority === 0 ? undefined : { priority });
    this.#remote.end(this);
  }

  [Symbol.dispose](): void {
    if (this.isFinished || this.signal.aborted) return;
    this.isFinished = true;
    this.giveBack();
  }
}
