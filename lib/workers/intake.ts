import { GATE } from "../base/brands.ts";
import { type Clock, isRealTime, systemClock } from "../base/clock.ts";
import type { Gate, GatedPool, OpenGate } from "../contracts/gate.ts";
import type { Shutdown } from "../contracts/work_queue.ts";
import type { WorkLease, WorkRequest, WorkSource } from "../contracts/work_source.ts";
import { burst, soon } from "../structures/burst.ts";
import type { RunningWorker } from "./attempt.ts";
import type { PoolSettings } from "./settings.ts";
import type { Slots } from "./slots.ts";
import type { PoolState } from "./view.ts";

/** Workers that receive the items. */
export interface Takers<T> {
  /** Starts a worker with this lease. */
  work(lease: WorkLease<T>): void;
  /** Hands back an item for which no handler may start. */
  handBack(lease: WorkLease<T>): void;
}

/** Pool, as its intake sees it. */
export interface IntakePool<T> {
  readonly source: WorkSource<T>;
  /** Settings of the pool. Some may change at any time, so they are read at each use. */
  readonly settings: PoolSettings<T> & { readonly clock: Clock };
  /** Stops the pool because the source or the throttle failed. */
  fail(error: unknown): void;
  /** Ends the pool if it takes no more items and has nothing left to do. */
  endIfIdle(): void;
}

/** Takes items from the source as long as one more handler may start, and waits for an item if no item is ready. */
export class Intake<T> implements GatedPool<T> {
  /** State of the pool. Items are taken only while the pool is open. Changed with `setState`. */
  state: PoolState = "open";
  readonly source: WorkSource<T>;
  readonly settings: IntakePool<T>["settings"];
  /** Gate of the throttle; `undefined` if the pool has no throttle or the source takes the permits. */
  gate: Gate<T> | undefined = undefined;
  /** Whether the pool waits for an item. A slot is reserved for the item. There is at most one wait at a time. */
  isWaiting = false;
  /** Whether a wait found that the source has shut down. Then, no further wait returns an item. */
  isShutDown = false;
  readonly #pool: IntakePool<T>;
  readonly #slots: Slots;
  readonly #workers: Takers<T>;
  #request!: WorkRequest;
  #canceler!: AbortController;
  /**
   * Whether the intake makes pauses, which give other work a turn in the event loop. Pools with a custom clock don't.
   */
  readonly #makesPauses: boolean;
  #isPausing = false;
  #endWatch: (() => void) | undefined = undefined;

  constructor(pool: IntakePool<T>, slots: Slots, workers: Takers<T>) {
    this.source = pool.source;
    this.settings = pool.settings;
    this.#pool = pool;
    this.#slots = slots;
    this.#workers = workers;
    this.#makesPauses = pool.settings.clock === systemClock;
    this.#openGate();
  }

  /** Whether an item may still arrive, because the intake is waiting for an item, a permit or the event loop. */
  get mayBring(): boolean {
    return this.isWaiting || this.#isPausing || this.gate?.isInLine === true;
  }

  get mayStart(): boolean {
    return this.#slots.taken < this.#slots.count;
  }

  setState(state: PoolState): void {
    this.state = state;
    this.#slots.adjust(state === "open");
  }

  /**
   * Starts workers as long as one more handler may start and an item is ready.
   *
   * @param isRested Whether a pause has just ended. Then, one item may be taken without another pause.
   */
  fill(isRested = false): void {
    const slots = this.#slots;
    while (slots.taken < slots.count) {
      const lease = this.take(isRested);
      if (lease === undefined) break;
      isRested = false;
      this.#workers.work(lease);
    }
    if (slots.taken >= slots.count) this.source.giveBackUnused();
    if (this.isShutDown || this.state === "stopping") this.#pool.endIfIdle();
  }

  /**
   * Takes the next item if one more handler may start now. If not, the intake continues by itself when a handler may
   * start.
   */
  take(isRested = false): WorkLease<T> | undefined {
    if (this.#isPausing || this.#slots.taken >= this.#slots.count) return undefined;
    if (this.#makesPauses && !isRested && burst.isTooLong() && isRealTime(systemClock)) {
      void this.#pause();
      return undefined;
    }
    const { gate } = this;
    try {
      const lease = gate === undefined ? this.source.tryTake() : gate.tryTake();
      if (lease !== undefined) return lease;
    } catch (error) {
      this.#pool.fail(error);
    }
    if (gate === undefined || gate.needsItem) void this.#wait();
    return undefined;
  }

  /** Gives timers, I/O and other work in this program a turn. */
  async #pause(): Promise<void> {
    this.#isPausing = true;
    await burst.turn();
    this.#isPausing = false;
    this.fill(true);
  }

  /**
   * Waits for one item, and starts a worker with it or keeps it until a permit is granted. If the item arrives just as
   * the wait is canceled, hands the item back. When the item has arrived, other items may be ready as well.
   */
  async #wait(): Promise<void> {
    if (this.isWaiting || this.isShutDown || this.state !== "open") return;
    this.isWaiting = true;
    this.#slots.taken++;
    const request = this.#request;
    let got: WorkLease<T> | Shutdown | undefined;
    try {
      got = await this.source.take(request);
    } catch (error) {
      if (!request.signal.aborted) this.#pool.fail(error);
    }
    this.isWaiting = false;
    this.#slots.taken--;
    if (got !== undefined) {
      if (got.shutdown) this.isShutDown = true;
      else if (!this.mayStart) this.#workers.handBack(got);
      else if (this.gate === undefined) this.#workers.work(got);
      else this.gate.keep(got); // `fill` asks for the permit
    }
    this.fill();
  }

  /** Stops waiting for an item and for a permit, and gives back items for which no handler may start. */
  takeBack(): void {
    if (this.isWaiting) {
      this.#canceler.abort();
      this.#renewRequest();
    }
    const kept = this.gate?.takeBack();
    if (kept !== undefined) this.#workers.handBack(kept);
    this.source.giveBackUnused();
  }

  /** Prepares the request of the next wait. Without a gate, the source takes the permits. */
  #renewRequest(): void {
    const { signal } = this.#canceler = new AbortController();
    const throttle = this.gate === undefined ? this.settings.throttle : undefined;
    this.#request = { signal, wanted: () => this.#wanted(), throttle };
  }

  /**
   * Returns the number of items to wait for: one for the reserved slot and one for each free slot, but no more than the
   * throttle would grant permits.
   */
  #wanted(): number {
    const free = Math.min(this.#slots.count - this.#slots.taken, (this.gate?.free ?? Infinity) - 1);
    return 1 + Math.max(free, 0);
  }

  #openGate(): void {
    const { throttle } = this.settings;
    this.gate = undefined;
    if (throttle !== undefined && !this.source.takesPermits(throttle)) {
      const open = (throttle as object as { [GATE]: OpenGate })[GATE];
      this.gate = open(this.source.sharedThrottle(throttle) ?? throttle, this);
    }
    this.#renewRequest();
  }

  /** Switches to the gate of a new throttle, which counts the running attempts. Returns the old gate. */
  changeGate(running: Iterable<RunningWorker<T>>): Gate<T> | undefined {
    const old = this.gate;
    this.takeBack();
    this.#openGate();
    for (const worker of this.gate === undefined ? [] : running) {
      if (worker.attempt.rare?.timedOut === undefined) worker.permit = this.gate!.adopt(worker.permit);
    }
    return old;
  }

  /** Watches a source that has shut down, because an item may still come back. */
  watch(): void {
    this.#endWatch ??= this.source.watch(() => {
      if (this.isShutDown) soon(() => this.fill());
    });
  }

  end(): void {
    this.#endWatch?.();
    this.gate?.end();
  }
}
