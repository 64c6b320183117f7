import { type Clock, unref } from "../base/clock.ts";
import type { Waiters } from "../structures/waiters.ts";
import type { Line, Order } from "./order.ts";

/** Queue, as seen by a line that may hold back items. */
export interface HeldQueue {
  readonly time: Clock;
  /** Ready keys. */
  line: Line;
  /** The line, if it may hold back items. */
  held: HeldLine | undefined;
  /** Pending calls to `get`. */
  readonly getters: Pick<Waiters<unknown>, "length" | "remove">;
  /** Whether a caller further up the stack is serving them. */
  readonly isServing: boolean;
  /** Time at which the keys of the current slice became ready; `undefined` if no slice is being added. */
  readonly batchReadyAt: number | undefined;
  /** Callbacks to call after each change. */
  readonly watchers: { readonly size: number };
  /** Longest time for which a timer runs, and whether it keeps the process alive. */
  readonly sleep: { readonly max: number; readonly ref: boolean };
  /** Tells pending calls and callbacks that items may have become ready. */
  serve(): void;
}

/**
 * Line of a queue that may be paused: ready items may become available although nothing is added or done. Sets a timer
 * for that time.
 */
export class HeldLine implements Line {
  readonly order: Order;
  readonly #queue: HeldQueue;
  /** Time until which no item is handed out; `undefined` if the queue is not paused. */
  pausedUntil: number | undefined = undefined;
  /** Whether an item was ready when the watchers were last told of a change. */
  toldReady = false;
  /** Timer for the next time at which items become available, and that time; `Infinity` if no timer is set. */
  #timer: unknown = undefined;
  #wakeAt = Infinity;

  constructor(queue: HeldQueue, order: Order) {
    this.#queue = queue;
    this.order = order;
  }

  get length(): number {
    return this.isPaused() ? 0 : this.order.length;
  }

  /** Reports whether the queue is paused. */
  protected isPaused(): boolean {
    if (this.pausedUntil === undefined) return false;
    if (this.#queue.time.now() < this.pausedUntil) return true;
    this.pausedUntil = undefined;
    return false;
  }

  push(record: number, marks: number, _isKept: boolean): void {
    this.order.push(record, marks);
  }

  pop(): number {
    return this.order.pop();
  }

  peek(limit: number): number[] {
    return this.order.peek(limit);
  }

  remove(record: number, _state: number): void {
    this.order.remove!(record);
  }

  /** Hands out nothing for some time, in milliseconds. If the queue is already paused, the later end applies. */
  pauseFor(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil ?? -Infinity, this.#queue.time.now() + ms);
    this.follow();
  }

  /**
   * Sets the timer for the next time at which items become available. The timer is set only if no item is ready, and a
   * call or a callback awaits one, or for retries. If a block has ended and no call has been served since, first serves
   * pending calls.
   *
   * @param isNew Whether a call or a callback is about to wait, or has just begun to. Then, no call is served.
   * @returns Whether no item is ready that the new call could get.
   */
  follow(isNew = false): boolean {
    const queue = this.#queue;
    const isReady = this.length > 0; // first, because this may end a block
    if (isReady && !isNew && this.#isUntold) queue.serve();
    else {
      const wakeAt = this.changeAt(!isReady && (isNew || this.#isAwaited));
      if (wakeAt !== this.#wakeAt) this.#sleepUntil(wakeAt);
    }
    return !isReady || !this.#canServe;
  }

  /**
   * Sets the timer for changes that no call awaits, unless it is already set for an earlier, awaited change. Does not
   * serve any call.
   */
  followQuietly(): void {
    const wakeAt = this.changeAt(false);
    if (this.#isAwaited ? wakeAt < this.#wakeAt : wakeAt !== this.#wakeAt) this.#sleepUntil(wakeAt);
  }

  /** Whether a call or a callback awaits a change. */
  get #isAwaited(): boolean {
    return this.#queue.getters.length > 0 || this.#queue.watchers.size > 0;
  }

  /** Whether pending calls to `get` can be served now. */
  get #canServe(): boolean {
    return !this.#queue.isServing && this.#queue.batchReadyAt === undefined;
  }

  /** Whether a call or a callback has not been told that an item is ready. */
  get #isUntold(): boolean {
    const { getters, watchers } = this.#queue;
    return (getters.length > 0 && this.#canServe) || (watchers.size > 0 && !this.toldReady);
  }

  /** Returns the next time at which items may become available; `Infinity` if there is none or nobody awaits it. */
  protected changeAt(isAwaited: boolean): number {
    return isAwaited ? this.pausedUntil ?? Infinity : Infinity;
  }

  #sleepUntil(wakeAt: number): void {
    const { time, sleep } = this.#queue;
    const hadTimer = this.#wakeAt !== Infinity;
    this.#wakeAt = Infinity; // until the timer is set, because the clock may throw
    if (hadTimer) time.clearTimeout(this.#timer);
    if (wakeAt === Infinity) return;
    const ms = Math.min(Math.max(Math.ceil(wakeAt - time.now()), 1), sleep.max);
    this.#timer = time.setTimeout(() => this.#wake(), ms);
    if (!sleep.ref) unref(this.#timer);
    this.#wakeAt = wakeAt;
  }

  /** Called when the timer has fired. */
  protected look(): void {}

  /** Hands out items that are available by now. If the discipline throws, a pending call to `get` rejects. */
  #wake(): void {
    const { getters } = this.#queue;
    this.#wakeAt = Infinity;
    try {
      this.look();
      this.#queue.serve();
    } catch (error) {
      if (getters.length > 0) getters.remove().reject(error);
    }
  }
}

/** Returns the line of a queue that can be paused. */
export function heldLineOf(queue: HeldQueue): HeldLine {
  return queue.held ??= queue.line = new HeldLine(queue, queue.line as Order);
}
