import type { Engine, Finish, FinishAnswer, GivenUpKey, TakenKey, TurnReply } from "./engine.ts";
import { Finishes, type PendingFinish } from "./finishes.ts";
import type { HeldLease } from "./lease.ts";
import type { BucketPlan } from "./limiter_plan.ts";
import { Leases } from "./leases.ts";
import { Working } from "./working.ts";

/** Party in this process that wants work: a call of `get`, or a pool. */
export interface Want<T> {
  /**
   * Returns the number of leases wanted now, the bucket that each lease takes a token from, and the milliseconds during
   * which no lease may be taken (a paused bucket).
   */
  request(): { readonly count: number; readonly throttle?: BucketPlan | undefined; readonly pause?: number };
  /** Accepts one lease. */
  accept(lease: HeldLease<T>): void;
  /** Called when no more leases will come. */
  end(): void;
}

/** Callbacks of a dispatcher, implemented by the queue. */
export interface DispatcherEvents<T> {
  /** Makes the lease of a key that was taken. Throws if this process can't read the item. */
  leaseOf(taken: TakenKey): HeldLease<T>;
  /** Called if `leaseOf` threw. Makes a lease without an item. */
  onUnreadable(taken: TakenKey, error: unknown): HeldLease<T>;
  /** Called when a key was given up because each of its holders was lost. */
  onGivenUp(key: GivenUpKey): void;
  /** Called when work is wanted. */
  onWant(): void;
  /** Called when a call has ended. */
  onSettled(): void;
  onError(error: unknown): void;
}

/** Longest pause before asking again about a queue that returned nothing, in milliseconds. */
const LOOK_AGAIN = 5000;
/** Time without wants after which the server is notified, in milliseconds. Most pools want work again at once. */
const WANTS_AGAIN = 10;
/** Most keys that one call takes, and most that it finishes. During a call, the server does nothing else. */
const MAX_IN_TURN = 100;

/**
 * Combines what this process wants and what it has finished into calls, one call at a time. Between calls, it waits for
 * a message that there may be work, or for the time when something is due.
 */
export class Dispatcher<T> {
  readonly #engine: Engine;
  readonly #process: string;
  readonly #events: DispatcherEvents<T>;
  readonly #leases: Leases<HeldLease<T>>;
  readonly #working = new Working<T>();
  readonly #wants = new Set<Want<T>>();
  readonly #finishes = new Finishes<T>();
  /** Finishes sent by the call that is running. */
  #sent: readonly PendingFinish<T>[] = [];
  /** Leases that nothing has accepted yet. */
  readonly #brought: HeldLease<T>[] = [];
  /**
   * Buckets (`undefined` for no bucket) for which the latest call returned fewer leases than wanted. Another call would
   * probably return none.
   */
  readonly #served = new Set<string | undefined>();
  /** Lease of a suspect: a key that stalled more than once. This process takes nothing else beside it. */
  #suspect: HeldLease<T> | undefined = undefined;
  /** Whether messages reach this process. Until then nothing is taken, because no message would announce more work. */
  #isListening = false;
  #isClosed = false;
  #isScheduled = false;
  #isInTurn = false;
  /** Whether a message has announced work. If nothing here wants work, the next call wakes another process. */
  #isWoken = false;
  /** Whether the server may have leases of this process that the process doesn't know of. */
  #hasToRelease = false;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #lookAt = Infinity;
  /** Timer that runs while nothing is wanted, until the server is notified. */
  #idleEnd: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(engine: Engine, process: string, events: DispatcherEvents<T>) {
    this.#engine = engine;
    this.#process = process;
    this.#events = events;
    this.#leases = new Leases(engine, process);
  }

  get owner(): string {
    return this.#leases.owner;
  }

  /** Number of leases that are being worked on here. */
  get processing(): number {
    return this.#working.size;
  }

  /** Whether nothing is being worked on here, and the server knows every outcome. */
  get isDone(): boolean {
    return this.#working.size === 0 && this.#finishes.size === 0 && !this.#isInTurn;
  }

  want(want: Want<T>): void {
    this.#wants.add(want);
    this.#events.onWant();
    this.#deliver();
    if (this.#wants.size === 1) this.#setTimer();
    this.#schedule();
  }

  unwant(want: Want<T>): void {
    this.#wants.delete(want);
    if (this.#wants.size > 0) return;
    this.#setTimer(); // ends the timer; `#lookAt` stays, because it also applies to later wants
    if (this.#lookAt < Infinity && !this.#isClosed) this.#idleEnd ??= setTimeout(() => this.#endIdle(), WANTS_AGAIN);
  }

  /** Notifies the server that nothing is wanted here any more, so that another process looks when something is due. */
  #endIdle(): void {
    this.#idleEnd = undefined;
    if (this.#wants.size > 0 || this.#isClosed) return;
    this.#isWoken = true;
    this.#schedule();
  }

  /** Stops taking. Hands back leases that arrived and were not accepted. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idleEnd);
    this.#clearTimer();
    for (const want of this.#wants) want.end();
    this.#wants.clear();
    for (const lease of this.#working.waiting) lease.giveBack();
    this.#deliver();
  }

  /** Tells the server how the work on a lease has ended. */
  finish(lease: HeldLease<T>, finish: Finish): Promise<FinishAnswer> {
    const next = this.#working.end(lease);
    if (next?.isLost) next.giveBack();
    else if (next !== undefined) {
      this.#brought.push(next);
      this.#deliver();
    }
    if (lease === this.#suspect) this.#suspect = undefined;
    this.#schedule();
    return this.#finishes.add(lease, finish);
  }

  /** Asks for work again, because the wants or the queue may have changed. */
  look(): void {
    this.#served.clear();
    this.#schedule();
  }

  /** Called when messages begin to reach this process, the first time and after each interruption. */
  listen(): void {
    this.#isListening = true;
    this.look();
  }

  /**
   * Handles a message that there may be work, now or in `delay` milliseconds. If nothing here wants work, the server
   * wakes another process.
   */
  wake(delay: number): void {
    if (delay > 0 && this.#wants.size > 0) return this.#lookIn(delay);
    this.#isWoken = true;
    this.look();
  }

  /** Called when a lost connection is back. Calls made now are sent before all calls that are retried. */
  reconnect(): void {
    this.#release().catch(() => {}); // the next turn reports a failure
    this.look();
  }

  /**
   * Runs a turn in a microtask. Everything finished and wanted in the same turn of the event loop goes into one call.
   */
  #schedule(): void {
    if (this.#isScheduled || this.#isInTurn) return;
    this.#isScheduled = true;
    Promise.resolve().then(() => {
      this.#isScheduled = false;
      this.#turn();
    });
  }

  async #turn(): Promise<void> {
    const finishes = this.#sent = this.#finishes.next(MAX_IN_TURN);
    const mayTake = this.#isListening && this.#suspect === undefined;
    const { count: wanted, throttle } = mayTake ? this.#wanted(finishes.length > 0) : NOTHING;
    if (finishes.length === 0 && wanted === 0 && !this.#isWoken) return;
    this.#isInTurn = true;
    this.#isWoken = false;
    if (wanted > 0) {
      this.#served.add(throttle?.[0]);
      this.#clearTimer();
    }
    try {
      if (this.#hasToRelease) await this.#release();
      const sentAt = performance.now();
      const reply = await this.#engine.turn({
        process: this.#process,
        owner: this.#leases.owner,
        known: this.#leases.countWithout(finishes.map(({ lease }) => lease)),
        wanted,
        throttle,
        finishes: finishes.map(({ finish }) => finish),
      });
      this.#settle(finishes, reply);
      this.#takeIn(reply, wanted, throttle?.[0], sentAt);
    } catch (error) {
      this.#fail(finishes, error, wanted);
    }
    this.#sent = [];
    this.#isInTurn = false;
    this.#deliver();
    this.#schedule();
    this.#events.onSettled();
  }

  /**
   * Returns the number of leases wanted by the first want and by all other wants with the same bucket. Wants that may
   * get leases come before those in `#served`, which are considered only if a call is made anyway.
   */
  #wanted(isCall: boolean): { count: number; throttle: BucketPlan | undefined } {
    let found: { count: number; throttle: BucketPlan | undefined } = NOTHING;
    for (const want of this.#wants) {
      const { count, throttle, pause = 0 } = want.request();
      const bucket = throttle?.[0];
      const isServed = this.#served.has(bucket);
      if (pause > 0) this.#lookIn(pause);
      else if (count === 0 || (isServed && !isCall)) continue;
      else if (found.count === 0 || (!isServed && this.#served.has(found.throttle?.[0]))) found = { count, throttle };
      else if (bucket === found.throttle?.[0]) found = { count: found.count + count, throttle };
    }
    return { ...found, count: Math.min(found.count, MAX_IN_TURN) };
  }

  #settle(finishes: readonly PendingFinish<T>[], { answers }: TurnReply): void {
    for (const [i, { lease, resolve }] of finishes.entries()) {
      const answer = answers[i]!;
      if (typeof answer === "boolean") this.#leases.delete(lease);
      resolve(answer);
    }
  }

  #takeIn(
    { isLost, isAlone, pauseMs, taken, givenUp }: TurnReply,
    wanted: number,
    bucket: string | undefined,
    sentAt: number,
  ): void {
    for (const key of givenUp) this.#events.onGivenUp(key);
    if (isLost) {
      this.#leases.loseAll();
      this.#served.clear();
    }
    const unreadable = new Map<HeldLease<T>, unknown>();
    const leases = taken.map((key) => this.#leaseOf(key, unreadable));
    this.#leases.add(leases, sentAt);
    for (const lease of leases) {
      lease.bucket = bucket;
      if (!unreadable.has(lease) && this.#working.begin(lease)) this.#brought.push(lease);
    }
    if (isAlone) this.#suspect = leases[0];
    for (const [lease, error] of unreadable) lease.refuse(error);
    if (wanted === 0) return;
    if (taken.length === wanted) this.#served.delete(bucket);
    else this.#lookIn(pauseMs ?? LOOK_AGAIN);
  }

  #leaseOf(taken: TakenKey, unreadable: Map<HeldLease<T>, unknown>): HeldLease<T> {
    try {
      return this.#events.leaseOf(taken);
    } catch (error) {
      const lease = this.#events.onUnreadable(taken, error);
      unreadable.set(lease, error);
      return lease;
    }
  }

  /** Rejects finishes whose effect is unknown. Leases that the server still has for them are released later. */
  #fail(finishes: readonly PendingFinish<T>[], error: unknown, wanted: number): void {
    this.#hasToRelease = true;
    for (const { lease, reject } of finishes) {
      this.#leases.delete(lease);
      reject(error);
    }
    // The failure of a call that took nothing and finished nothing concerns nobody here.
    if (finishes.length === 0 && wanted > 0) this.#events.onError(error);
    this.#lookIn(LOOK_AGAIN);
  }

  async #release(): Promise<void> {
    const { owner, tokens } = this.#leases;
    this.#hasToRelease = false;
    try {
      const lost = new Set(await this.#engine.release(owner, tokens));
      for (const { finish } of this.#sent) lost.delete(finish.token); // the reply to its finish decides
      if (owner === this.#leases.owner) this.#leases.lose(lost);
    } catch (error) {
      this.#hasToRelease = true;
      throw error;
    }
  }

  /** Reports whether work on a lease may begin. Hands the lease back if it has expired by the clock of this process. */
  mayBegin(lease: HeldLease<T>): boolean {
    this.#leases.check();
    if (lease.isLost) lease.giveBack();
    return !lease.isLost;
  }

  /**
   * Hands out the leases that arrived, each to a want with the same bucket. Hands back leases that nothing wants any
   * more.
   */
  #deliver(): void {
    this.#leases.check();
    for (let next = this.#findLost(); next >= 0; next = this.#findLost()) this.#brought.splice(next, 1)[0]!.giveBack();
    for (const want of this.#wants) {
      if (this.#brought.length === 0) return;
      const { count, throttle } = want.request();
      for (let i = 0; i < count; i++) {
        const next = this.#brought.findIndex(({ bucket }) => bucket === throttle?.[0]);
        if (next < 0) break;
        want.accept(this.#brought.splice(next, 1)[0]!);
      }
    }
    for (const lease of this.#brought.splice(0)) lease.giveBack();
  }

  #findLost(): number {
    return this.#brought.findIndex(({ isLost }) => isLost);
  }

  /** Asks again after `delay` milliseconds or sooner: a timer can't hold every delay. */
  #lookIn(delay: number): void {
    const at = performance.now() + Math.min(delay, LOOK_AGAIN);
    if (this.#isClosed || at >= this.#lookAt) return;
    this.#lookAt = at;
    this.#setTimer();
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    if ((this.#wants.size === 0 && !this.#hasToRelease) || this.#lookAt === Infinity) return;
    this.#timer = setTimeout(() => {
      this.#lookAt = Infinity;
      if (this.#hasToRelease) this.#isWoken = true; // forces a turn: the released keys may be for another process
      this.look();
    }, Math.max(Math.ceil(this.#lookAt - performance.now()), 0));
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#lookAt = Infinity;
  }
}

const NOTHING = { count: 0, throttle: undefined };
