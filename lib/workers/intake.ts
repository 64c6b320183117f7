import { type Clock, isRealTime, systemClock } from "../base/clock.ts";
import type { Shutdown } from "../contracts/work_queue.ts";
import type { WorkLease, WorkSource } from "../contracts/work_source.ts";
import { burst } from "../structures/burst.ts";
import { PoolTokens } from "./pool_tokens.ts";
import type { LiveSettings } from "./settings.ts";
import type { Slots } from "./slots.ts";
import type { PoolState } from "./view.ts";
import { Wait } from "./wait.ts";

/** Pool that receives the items. */
export interface Taker<T> {
  /** Starts a worker with this lease. */
  work(lease: WorkLease<T>): void;
  /** Hands back an item for which no handler may start. */
  handBack(lease: WorkLease<T>): void;
  /** Ends the pool because the source failed. */
  fail(error: unknown): void;
  /** Called when the intake can't take another item for the moment. */
  onIdle(): void;
}

/** Takes items from the source as long as one more handler may start, and waits for an item if no item is ready. */
export class Intake<T> {
  /** State of the pool. Items are taken only while the pool is open. */
  state: PoolState = "open";
  readonly #source: WorkSource<T>;
  readonly #slots: Slots;
  readonly #settings: LiveSettings & { readonly clock: Clock };
  readonly #taker: Taker<T>;
  /** The pool's wait for an item, during which a slot is reserved for the item. */
  readonly #wait: Wait;
  /**
   * Whether the intake is pausing to give other work a turn in the event loop. Pools with a custom clock don't pause.
   */
  readonly #makesPauses: boolean;
  #isPausing = false;
  /** Tokens of the pool; `undefined` if the pool has no throttle or the source takes the tokens. */
  #tokens: PoolTokens | undefined;
  #endWatch: (() => void) | undefined = undefined;

  constructor(
    source: WorkSource<T>,
    slots: Slots,
    settings: LiveSettings & { readonly clock: Clock },
    taker: Taker<T>,
  ) {
    this.#source = source;
    this.#slots = slots;
    this.#settings = settings;
    this.#taker = taker;
    this.#makesPauses = settings.clock === systemClock;
    this.#wait = new Wait(() => this.#wanted(), () => source.takesTokens ? settings.throttle : undefined);
    this.#tokens = this.#newTokens();
  }

  /** Whether an item may still arrive, because the intake is waiting for an item, a token or the event loop. */
  get isWaiting(): boolean {
    return this.#wait.isOn || this.#isPausing || this.#tokens?.isWaiting === true;
  }

  /** Whether a slot is reserved for an item that may arrive. */
  get keepsSlot(): boolean {
    return this.#wait.isOn;
  }

  /** Whether the source has shut down. */
  get isShutDown(): boolean {
    return this.#wait.isOver;
  }

  /** Starts workers as long as one more handler may start and an item is ready. */
  fill(): void {
    this.#fillFrom(this.take());
  }

  /**
   * Takes the next item if one more handler may start now. If not, the intake continues by itself when a handler may
   * start.
   */
  take(): WorkLease<T> | undefined {
    if (this.#isPausing || !this.#mayBegin()) return undefined;
    if (this.#makesPauses && burst.isTooLong() && isRealTime(systemClock)) {
      this.#pause();
      return undefined;
    }
    return this.#takeNow();
  }

  /** Uses up the token of an attempt that starts. */
  useToken(): void {
    this.#tokens?.use();
  }

  /** Stops waiting for an item and for a token, and gives back items for which no handler may start. */
  takeBack(): void {
    this.#wait.takeBack();
    this.#tokens?.leave();
    this.#source.giveBackUnused?.();
  }

  /** Switches to a new throttle. Returns a function that passes the old throttle's tokens to other pools. */
  changeThrottle(): () => void {
    const old = this.#tokens;
    this.#tokens = this.#newTokens();
    this.takeBack();
    return () => old?.end();
  }

  /**
   * Watches the source. After each change, tries to take an item if the pool is waiting for a token, or if the source
   * has shut down but an item may still come back.
   */
  watch(): void {
    this.#endWatch ??= this.#source.watch?.(() => {
      if (this.#tokens?.isWaiting || this.isShutDown) soon(() => this.fill());
    });
  }

  end(): void {
    this.#endWatch?.();
    this.#tokens?.end();
  }

  #newTokens(): PoolTokens | undefined {
    const { throttle, clock } = this.#settings;
    if (throttle === undefined || this.#source.takesTokens) return undefined;
    this.watch(); // a pool that is waiting for a token must notice when no more items will come
    return new PoolTokens(throttle, clock, { onServed: () => this.fill(), onTakenAway: () => this.#wait.takeBack() });
  }

  #fillFrom(lease: WorkLease<T> | undefined): void {
    for (; lease !== undefined; lease = this.take()) this.#taker.work(lease);
    this.#taker.onIdle();
  }

  /**
   * Reports whether one more handler may start now. If not, gives back items that the source has received in advance.
   */
  #mayBegin(): boolean {
    if (this.state === "open" && this.#slots.isOneFree) return true;
    this.#source.giveBackUnused?.();
    return false;
  }

  #takeNow(): WorkLease<T> | undefined {
    let lease: WorkLease<T> | undefined;
    try {
      if (this.#tokens !== undefined && !this.#hasToken(this.#tokens)) return undefined;
      lease = this.#source.tryTake();
    } catch (error) {
      this.#taker.fail(error);
    }
    if (lease === undefined) this.#waitForItem();
    return lease;
  }

  /**
   * Reports whether the pool may ask the source for an item. The pool needs a token for this, unless no more items will
   * come: then the source only answers that it has shut down.
   */
  #hasToken(tokens: PoolTokens): boolean {
    if (this.#wait.isOn) return false; // the unused token is reserved for the item that the pool is waiting for
    const { length = 0, isOver = false } = this.#source;
    if (length > 0 || !(this.isShutDown || isOver)) return tokens.ask();
    tokens.leave();
    return true;
  }

  /** Gives timers, I/O and other work in this program a turn. */
  async #pause(): Promise<void> {
    this.#isPausing = true;
    await burst.turn();
    this.#isPausing = false;
    this.#fillFrom(this.#mayBegin() ? this.#takeNow() : undefined);
  }

  /** Waits for one item. When the item arrives, other items may be ready as well. */
  async #waitForItem(): Promise<void> {
    if (this.#wait.isOn || this.#wait.isOver || this.state !== "open") return;
    this.#slots.take();
    const request = this.#wait.begin();
    let got: WorkLease<T> | Shutdown | undefined;
    try {
      got = await this.#source.take(request);
    } catch (error) {
      if (!request.signal.aborted) this.#taker.fail(error);
    }
    this.#wait.end(got?.shutdown);
    this.#slots.giveBack();
    if (got !== undefined && !got.shutdown) this.#accept(got);
    this.fill();
  }

  /**
   * Returns the number of items to wait for: one for the reserved slot and one for each free slot. With a throttle,
   * returns 1.
   */
  #wanted(): number {
    return this.#tokens === undefined ? 1 + Math.max(this.#slots.free, 0) : 1;
  }

  /**
   * Starts a worker with an item for which the pool was waiting. If the item arrived just as the wait was canceled,
   * hands the item back.
   */
  #accept(lease: WorkLease<T>): void {
    let mayBegin = false;
    try {
      mayBegin = this.state === "open" && this.#slots.isOneFree && (this.#tokens?.ask() ?? true);
    } catch (error) {
      this.#taker.fail(error);
    }
    if (mayBegin) this.#taker.work(lease);
    else this.#taker.handBack(lease);
  }
}

/**
 * Calls `callback` after the current synchronous code. Uses a promise, because fake timers may replace
 * `queueMicrotask`.
 */
export function soon(callback: () => void): void {
  Promise.resolve().then(callback);
}
