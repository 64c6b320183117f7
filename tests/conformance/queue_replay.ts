import {
  createRateLimitingQueue,
  type DelayingQueue,
  type Lease,
  type RateLimiter,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  type Shutdown,
  type WorkQueue,
} from "@workqueue/core";
import { LONGEST_DELAY } from "./limiter_families.ts";
import type { StepClock } from "./step_clock.ts";
import type { Trace } from "./trace.ts";

/** Shutdown status. The trace records the status and the length after each operation. */
export const OPEN = 0;
export const SHUT_DOWN = 1;
export const DRAINING = 2;
export const DRAINED = 3;

/** Replay of recorded operations on a work queue. Subclasses for other families add operations. */
export class QueueReplay<Q extends WorkQueue<number> = WorkQueue<number>> {
  /** Processing items, each with its lease if the replay uses leases. */
  readonly processing = new Map<number, Lease<number> | undefined>();
  /** Whether the last drain has ended; `undefined` before the first drain. */
  drained: boolean | undefined;
  /**
   * Whether the replay takes and finishes items through leases. Every second trace is replayed through leases; the
   * results must be the same with and without leases.
   */
  readonly usesLeases: boolean;

  constructor(
    readonly trace: Trace,
    readonly queue: Q,
    readonly clock: StepClock,
  ) {
    this.usesLeases = trace.index % 2 === 1;
  }

  async run(): Promise<void> {
    for (
      let operation = this.trace.operation();
      operation !== undefined;
      operation = this.trace.operation()
    ) {
      await this.perform(operation);
      if (this.drained === false) await settle();
      this.compareState();
    }
    this.queue.shutDown();
  }

  perform(operation: string): void | Promise<void> {
    switch (operation) {
      case "add":
        return this.queue.add(this.trace.next());
      case "get":
        return this.get();
      case "done":
        return this.done(this.trace.next());
      case "wait":
        return this.clock.step(this.trace.next());
      case "shutDown":
        return this.queue.shutDown();
      case "drain":
        return this.drain();
      default:
        throw new Error(`Cannot replay ${operation}`);
    }
  }

  compareState(): void {
    this.trace.same("length", this.queue.length);
    this.trace.same("status", this.status());
  }

  status(): number {
    if (!this.queue.shuttingDown) return OPEN;
    if (this.drained === undefined) return SHUT_DOWN;
    return this.drained ? DRAINED : DRAINING;
  }

  /** Takes an item. In the recorded run, an item was ready or the queue was shut down, so the call never waits. */
  async get(): Promise<void> {
    const { length, shuttingDown } = this.queue;
    if (length === 0 && !shuttingDown) {
      this.trace.fail("item", "none", this.trace.next());
    }
    const lease = this.usesLeases ? this.queue.tryGet() : undefined;
    this.handedOut(lease ?? await this.queue.get());
  }

  /** Compares the result of a call to `get`. */
  handedOut(given: Lease<number> | Shutdown): void {
    this.trace.same("item", given.item ?? -1);
    if (!given.shutdown) this.processing.set(given.item, this.usesLeases ? given : undefined);
  }

  done(item: number): void {
    const lease = this.processing.get(item);
    if (lease === undefined) this.queue.done(item);
    else lease[Symbol.dispose]();
    this.processing.delete(item);
  }

  drain(): void {
    this.drained = false;
    this.queue.shutDownWithDrain().then(() => this.drained = true);
  }
}

/** Waits until promises have settled. Waits for more microtask turns than a drain needs. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

/** Replay of a delaying queue. */
export class DelayingReplay<Q extends DelayingQueue<number> = DelayingQueue<number>> extends QueueReplay<Q> {
  override perform(operation: string): void | Promise<void> {
    if (operation !== "addAfter") return super.perform(operation);
    this.queue.addAfter(this.trace.next(), this.trace.next() / 1e6);
  }
}

/** Limiter that stores the last delay that it returned. */
export class Listener implements RateLimiter<number> {
  delay = 0;

  constructor(readonly limiter: RateLimiter<number>) {}

  when(item: number): number {
    return this.delay = this.limiter.when(item);
  }

  forget(item: number): void {
    this.limiter.forget(item);
  }

  numRequeues(item: number): number {
    return this.limiter.numRequeues(item);
  }
}

/** Replay of a rate-limiting queue. */
export class RateLimitingReplay extends DelayingReplay<RateLimitingQueue<number>> {
  constructor(
    trace: Trace,
    readonly limiter: Listener,
    clock: StepClock,
    options: RateLimitingQueueOptions<number> = {},
  ) {
    super(trace, createRateLimitingQueue(limiter, { clock, ...options }), clock);
  }

  override perform(operation: string): void | Promise<void> {
    switch (operation) {
      case "addRateLimited":
        this.queue.addRateLimited(this.trace.next());
        this.trace.delay(this.limiter.delay, LONGEST_DELAY);
        return;
      case "forget":
        return this.queue.forget(this.trace.next());
      case "numRequeues":
        return this.trace.same(
          "requeues",
          this.queue.numRequeues(this.trace.next()),
        );
      default:
        return super.perform(operation);
    }
  }
}
