import { assert } from "@std/assert";
import {
  adaptDiscipline,
  createWorkQueue,
  type Lease,
  type QueueDiscipline,
  type RateLimiter,
  type ReadyEntry,
  type Shutdown,
  type WorkQueue,
} from "@workqueue/core";
import { SOURCE, type SourcedQueue, type WorkSource } from "@workqueue/core/hooks";
import type { KeepingQueue } from "../lib/queue/keeping_queue.ts";
import { burst, nextTask, TURNS_PER_PAUSE } from "../lib/structures/burst.ts";

/** Opens a source of work of an in-memory queue. */
export function sourceOf<T>(queue: WorkQueue<T>): WorkSource<T> {
  return (queue as unknown as SourcedQueue<T>)[SOURCE]();
}

/** Returns an in-memory queue with the methods that only its package uses. */
export function insideOf<T>(queue: WorkQueue<T>): KeepingQueue<T> {
  return queue as unknown as KeepingQueue<T>;
}

/** Returns the order of a queue that has a discipline. */
export function orderOf(discipline: QueueDiscipline<string>): object {
  return insideOf(createWorkQueue({ discipline })).ordering!.order;
}

/** Takes an item that must be ready. */
export function take<T>(queue: WorkQueue<T>): Lease<T> {
  const lease = queue.tryGet();
  assert(lease !== undefined, "an item is ready");
  return lease;
}

/** Takes all ready items and finishes them. */
export function takeAll<T>(queue: WorkQueue<T>): T[] {
  const items: T[] = [];
  for (let lease = queue.tryGet(); lease !== undefined; lease = queue.tryGet()) {
    items.push(lease.item);
    lease[Symbol.dispose]();
  }
  return items;
}

/** Waits for all pending work, and then reports whether a promise has settled. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => settled = true;
  promise.then(settle, settle);
  await flush();
  return settled;
}

/** Returns a limiter as users write them, without `next`. It calls `limiter`, which counts as by hand. */
export function withoutNext<T>(limiter: RateLimiter<T>): RateLimiter<T> {
  return {
    when: (item, key, attempt) => limiter.when(item, key, attempt),
    forget: (item, key) => limiter.forget(item, key),
    numRequeues: (item, key) => limiter.numRequeues(item, key),
  };
}

/** Lets pending promises settle. On a slow machine, a pool may pause. Then this function also waits for the pause. */
export async function flush(): Promise<void> {
  await flushPromises();
  for (let turn = 0; turn < TURNS_PER_PAUSE && (turn === 0 || burst.number > 0); turn++) await nextTurn();
  await flushPromises();
}

/** Waits for as long as a pool's pause lasts. */
export async function pause(): Promise<void> {
  for (let turn = 0; turn < TURNS_PER_PAUSE; turn++) await nextTurn();
}

const { now } = Date;

/** Blocks the thread for some milliseconds of real time. Fake time does not pass. */
export function beBusy(ms: number): void {
  for (const end = now() + ms; now() < end;);
}

/** Lets timers and I/O run, but not fake timers. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => nextTask(resolve));
}

/** Lets pending promises settle, with more microtask turns than any tested code needs. */
export async function flushPromises(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** Returns the item of a lease from `get`, or `"shutdown"`. */
export async function outcome<T>(promise: Promise<Lease<T> | Shutdown>): Promise<T | "shutdown"> {
  const lease = await promise;
  return lease.shutdown ? "shutdown" : lease.item;
}

/** Counts the listeners that are added to a signal from now on. Returns a function that returns the current count. */
export function countListeners(signal: AbortSignal): () => number {
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: unknown[]) => {
    listeners.add(args[1]);
    addEventListener.apply(signal, args as never);
  };
  signal.removeEventListener = (...args: unknown[]) => {
    if (args[0] === "abort") listeners.delete(args[1]);
    removeEventListener.apply(signal, args as never);
  };
  return () => listeners.size;
}

/** Discipline that is last in, first out, and that is not adapted for queues. */
export class PlainLifo<T> implements QueueDiscipline<T> {
  readonly entries: ReadyEntry<T>[] = [];

  push(entry: ReadyEntry<T>): void {
    this.entries.push(entry);
  }

  pop(): ReadyEntry<T> | undefined {
    return this.entries.pop();
  }

  touch(_entry: ReadyEntry<T>): void {}

  get length(): number {
    return this.entries.length;
  }
}

/** Discipline that is last in, first out. */
export class Lifo<T> extends PlainLifo<T> {
  constructor() {
    super();
    adaptDiscipline(this);
  }
}

/** Discipline that hands out the highest priority first; entries of equal priority are first in, first out. */
export class HighestFirst<T> implements QueueDiscipline<T> {
  readonly #entries = new Set<ReadyEntry<T>>();

  constructor() {
    adaptDiscipline(this);
  }

  push(entry: ReadyEntry<T>): void {
    this.#entries.add(entry);
  }

  pop(): ReadyEntry<T> | undefined {
    const [entry] = this.peek(1);
    this.#entries.delete(entry!);
    return entry;
  }

  touch(_entry: ReadyEntry<T>): void {}

  peek(limit: number): ReadyEntry<T>[] {
    return [...this.#entries].sort((a, b) => b.priority - a.priority).slice(0, limit);
  }

  get length(): number {
    return this.#entries.size;
  }
}

/**
 * Discipline that is first in, first out, with at most one processing item per group. The group of `"a/1"` is `"a"`.
 */
export class OneOfAGroup implements QueueDiscipline<string> {
  /** Calls to the methods that change the discipline, such as `"push a/1"`. */
  readonly calls: string[] = [];
  readonly #entries: ReadyEntry<string>[] = [];
  readonly #busy = new Set<string>();

  constructor() {
    adaptDiscipline(this);
  }

  push(entry: ReadyEntry<string>): void {
    this.calls.push(`push ${entry.item}`);
    this.#entries.push(entry);
  }

  pop(): ReadyEntry<string> | undefined {
    const [entry] = this.peek(1);
    this.calls.push(`pop ${entry!.item}`);
    this.#entries.splice(this.#entries.indexOf(entry!), 1);
    this.#busy.add(groupOf(entry!));
    return entry;
  }

  touch(entry: ReadyEntry<string>): void {
    this.calls.push(`touch ${entry.item}`);
  }

  done(entry: ReadyEntry<string>): void {
    this.calls.push(`done ${entry.item}`);
    this.#busy.delete(groupOf(entry));
  }

  /** Returns the first entry of each group that has no processing item. */
  peek(limit: number): ReadyEntry<string>[] {
    const firsts = new Map<string, ReadyEntry<string>>();
    for (const entry of this.#entries) {
      const group = groupOf(entry);
      if (!this.#busy.has(group) && !firsts.has(group)) firsts.set(group, entry);
    }
    return [...firsts.values()].slice(0, limit);
  }

  get length(): number {
    return this.peek(Infinity).length;
  }

  get blocked(): number {
    return this.#entries.length - this.length;
  }
}

function groupOf({ item }: ReadyEntry<string>): string {
  return item.split("/")[0]!;
}

/** Returns a generator of numbers from 0 (inclusive) to 1 (exclusive), the same in each run (Mulberry32). */
export function randomNumbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
