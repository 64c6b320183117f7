import { type Clock, isRealTime, systemClock } from "../base/clock.ts";
import type { Shutdown } from "../contracts/work_queue.ts";
import type { WorkLease, WorkSource } from "../contracts/work_source.ts";
import { UNUSED } from "../tokens/own_throttle.ts";
import { burst } from "../structures/burst.ts";
import { type HeldPermit, PoolPermits } from "./pool_permits.ts";
import type { Running } from "./running.ts";
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
  /** Permits of the pool; `undefined` if the pool has no throttle or the source takes the permits. */
  #permits: PoolPermits | undefined;
  /** Permit of the item that was taken last, until its attempt begins. */
  #permit: HeldPermit | undefined = undefined;
  /** Whether the pool has a throttle and waits until an item is ready. */
  #isIdle = false;
  /** Item that arrived when no permit was granted. The item waits here for the permit. */
  #held: WorkLease<T> | undefined = undefined;
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
    this.#wait = new Wait(() => this.#wanted(), () => this.#throttleOfSource());
    this.#permits = this.#newPermits();
  }

  /** Whether an item may still arrive, because the intake is waiting for an item, a permit or the event loop. */
  get isWaiting(): boolean {
    return this.#wait.isOn || this.#isPausing || this.#permits?.isWaiting === true;
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

  /**
   * Returns the permit of the attempt that starts now. An attempt without a throttle has none, and neither has an
   * attempt whose item the queue refused to take back.
   */
  takePermit(): HeldPermit | undefined {
    const permit = this.#permit;
    this.#permit = undefined;
    return permit;
  }

  /** Books the cost of an attempt that starts without a permit, so that later attempts start correspondingly later. */
  chargeAhead(): void {
    this.#permits?.chargeAhead();
  }

  /** Gives back the permit of an attempt that can't start. */
  putBack(permit: HeldPermit): void {
    permit.end(UNUSED);
    this.#permits?.serveOthers();
  }

  /** Stops waiting for an item and for a permit, and gives back items for which no handler may start. */
  takeBack(): void {
    this.#isIdle = false;
    this.#wait.takeBack();
    this.#permits?.leave();
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#taker.handBack(held);
    this.#source.giveBackUnused?.();
  }

  /**
   * Switches to a new throttle, which counts the running attempts. Returns a function that leaves the line of the old
   * throttle.
   */
  changeThrottle(running: Running<T>): () => void {
    const old = this.#permits;
    this.takeBack();
    const permits = this.#permits = this.#newPermits();
    if (permits !== undefined) {
      for (const attempt of running.oldest(Infinity)) {
        if (attempt.timedOut === undefined) attempt.permit = permits.adopt(attempt.permit);
      }
    }
    return () => old?.end();
  }

  /**
   * Watches the source. After a change, tries to take an item if an item or the end of the source was awaited, or if
   * the source has shut down but an item may still come back. When a remote source shuts down, hands back the items
   * that wait for a permit.
   */
  watch(): void {
    this.#endWatch ??= this.#source.watch?.(() => {
      const { length, isOver, isRemote } = this.#source;
      if (isRemote && isOver) this.takeBack();
      else if (!this.isShutDown) {
        if (this.#isIdle ? length === 0 && !isOver : length !== 0 || !this.#permits?.isWaiting) return;
        this.#isIdle = false;
      }
      soon(() => this.fill());
    });
  }

  end(): void {
    this.#endWatch?.();
    this.#permits?.end();
  }

  /** Returns the throttle whose permits come with the source's leases, if there is one. */
  #throttleOfSource(): LiveSettings["throttle"] {
    const { throttle } = this.#settings;
    return throttle !== undefined && this.#source.takesPermits?.(throttle) ? throttle : undefined;
  }

  #newPermits(): PoolPermits | undefined {
    const { throttle, clock } = this.#settings;
    if (throttle === undefined || this.#throttleOfSource() !== undefined) return undefined;
    this.watch();
    return new PoolPermits(this.#source.sharedThrottle?.(throttle) ?? throttle, clock, () => this.fill());
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
      if (this.#permits !== undefined && !this.#askFor(this.#permits)) return undefined;
      try {
        lease = this.#takeHeld() ?? this.#source.tryTake();
      } finally {
        if (lease === undefined && this.#permit !== undefined) this.putBack(this.takePermit()!);
      }
    } catch (error) {
      this.#taker.fail(error);
    }
    if (lease !== undefined) return lease;
    this.#waitForItem();
  }

  /** Returns the item that waited for a permit. */
  #takeHeld(): WorkLease<T> | undefined {
    const held = this.#held;
    this.#held = undefined;
    return held;
  }

  /**
   * Asks for a permit if an item is ready, or if the source doesn't know. Reports whether to take an item now: with the
   * permit, or without one if there is no item, so that the pool waits for one or learns that no more will come.
   */
  #askFor(permits: PoolPermits): boolean {
    if (this.#wait.isOn) return false;
    const { length = NaN, isOver = false, watch } = this.#source;
    const isEnd = isOver || this.isShutDown;
    if (this.#held !== undefined || length > 0 || !(isEnd || (length === 0 && watch !== undefined))) {
      this.#permit = permits.ask();
      return this.#permit !== undefined;
    }
    permits.leave();
    if (this.#source.isRemote) return true;
    this.#isIdle = !isEnd;
    return isEnd;
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
   * Returns the number of items to wait for: one for the reserved slot and one for each free slot, but no more than the
   * throttle would grant permits.
   */
  #wanted(): number {
    const free = Math.min(this.#slots.free, (this.#permits?.free ?? Infinity) - 1);
    return 1 + Math.max(free, 0);
  }

  /**
   * Starts a worker with an item for which the pool was waiting, or keeps the item until a permit is granted. If the
   * item arrived just as the wait was canceled, hands the item back.
   */
  #accept(lease: WorkLease<T>): void {
    if (this.state !== "open" || !this.#slots.isOneFree) return this.#taker.handBack(lease);
    if (this.#permits === undefined) return this.#taker.work(lease);
    this.#held = lease; // `fill` asks for the permit
  }
}

/**
 * Calls `callback` after the current synchronous code. Uses a promise, because fake timers may replace
 * `queueMicrotask`.
 */
export function soon(callback: () => void): void {
  Promise.resolve().then(callback);
}
