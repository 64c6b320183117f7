import { type Clock, isRealTime, systemClock } from "../base/clock.ts";
import type { Shutdown } from "../contracts/work_queue.ts";
import type { WorkLease, WorkSource } from "../contracts/work_source.ts";
import { burst } from "../structures/burst.ts";
import { PoolTokens } from "./pool_tokens.ts";
import type { LiveSettings } from "./settings.ts";
import type { Slots } from "./slots.ts";
import { Wait } from "./wait.ts";

/** The pool for which items are taken. */
export interface Taker<T> {
  /** Reports whether the pool takes items now. */
  isOpen(): boolean;
  /** Starts a worker with this item. */
  work(lease: WorkLease<T>): void;
  /** Gives back an item for which no handler may begin. */
  handBack(lease: WorkLease<T>): void;
  /** Ends the pool because the source failed. */
  fail(error: unknown): void;
  /** Called when no more items can be taken now. */
  onIdle(): void;
}

/** Takes items from the source for as long as one more handler may begin, and waits for one when none is ready. */
export class Intake<T> {
  readonly #source: WorkSource<T>;
  readonly #slots: Slots;
  readonly #settings: LiveSettings & { readonly clock: Clock };
  readonly #taker: Taker<T>;
  /** The wait for an item, with a slot kept free for it. */
  readonly #wait: Wait;
  /** Whether to pause, so that other work gets its turn in the event loop. Without real time, there are no pauses. */
  readonly #makesPauses: boolean;
  #isPausing = false;
  /** Tokens that the pool takes by itself. */
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

  /** Whether something may still bring an item: a wait for one, for a token, or for the event loop. */
  get isWaiting(): boolean {
    return this.#wait.isOn || this.#isPausing || this.#tokens?.isWaiting === true;
  }

  /** Whether a slot is kept free for an item that may come. */
  get keepsSlot(): boolean {
    return this.#wait.isOn;
  }

  /** Whether the source has shut down. */
  get isShutDown(): boolean {
    return this.#wait.isOver;
  }

  /** Starts workers for as long as one more handler may begin and an item is ready. */
  fill(): void {
    this.#fillFrom(this.take());
  }

  /** Takes the next item if one more handler may begin now. If not, the intake goes on by itself when one may. */
  take(): WorkLease<T> | undefined {
    if (this.#isPausing || !this.#mayBegin()) return undefined;
    if (this.#makesPauses && burst.isTooLong() && isRealTime(systemClock)) {
      this.#pause();
      return undefined;
    }
    return this.#takeNow();
  }

  /** Uses up the token of an attempt that begins. */
  useToken(): void {
    this.#tokens?.use();
  }

  /** Ends the waits for an item and for a token, and gives back items for which no handler may begin. */
  takeBack(): void {
    this.#wait.takeBack();
    this.#tokens?.leave();
    this.#source.giveBackUnused?.();
  }

  /** Follows a changed throttle. Returns a function that gives the tokens of the old one to other pools. */
  changeThrottle(): () => void {
    const old = this.#tokens;
    this.#tokens = this.#newTokens();
    this.takeBack();
    return () => old?.end();
  }

  /** Looks at the source again when that has changed, if the pool waits for a token, or for an item that comes back. */
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
    this.watch(); // so that a pool that waits for a token learns that no item will come
    return new PoolTokens(throttle, clock, { onServed: () => this.fill(), onTakenAway: () => this.#wait.takeBack() });
  }

  #fillFrom(lease: WorkLease<T> | undefined): void {
    for (; lease !== undefined; lease = this.take()) this.#taker.work(lease);
    this.#taker.onIdle();
  }

  /** Reports whether one more handler may begin now. If not, gives back what the source brought for one. */
  #mayBegin(): boolean {
    if (this.#taker.isOpen() && this.#slots.isOneFree) return true;
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
   * Reports whether there is a token for an item. If no item will come, none is needed: the wait for an item then tells
   * of the end.
   */
  #hasToken(tokens: PoolTokens): boolean {
    if (this.#wait.isOn) return false; // with the token in hand
    const { length = 0, isOver = false } = this.#source;
    if (length > 0 || !(this.isShutDown || isOver)) return tokens.ask();
    tokens.leave();
    return true;
  }

  /** Lets timers and I/O have their turn, and other work in this program. */
  async #pause(): Promise<void> {
    this.#isPausing = true;
    await burst.turn();
    this.#isPausing = false;
    this.#fillFrom(this.#mayBegin() ? this.#takeNow() : undefined);
  }

  /** Waits for one item. When it has come, others may be ready as well. */
  async #waitForItem(): Promise<void> {
    if (this.#wait.isOn || this.#wait.isOver || !this.#taker.isOpen()) return;
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
   * Returns how many items to wait for: one for the slot that is kept and one for each free slot, but one for a token.
   */
  #wanted(): number {
    return this.#tokens === undefined ? 1 + Math.max(this.#slots.free, 0) : 1;
  }

  /** Begins with an item that was waited for. It may come at the moment at which the wait for it was taken back. */
  #accept(lease: WorkLease<T>): void {
    let mayBegin = false;
    try {
      mayBegin = this.#taker.isOpen() && this.#slots.isOneFree && (this.#tokens?.ask() ?? true);
    } catch (error) {
      this.#taker.fail(error);
    }
    if (mayBegin) this.#taker.work(lease);
    else this.#taker.handBack(lease);
  }
}

/** Calls back when the code that runs now has ended. A promise does so too where fake timers have `queueMicrotask`. */
export function soon(callback: () => void): void {
  Promise.resolve().then(callback);
}
