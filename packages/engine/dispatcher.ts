import { setImmediate } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  AttemptBucket,
  Finish,
  FinishAnswer,
  GivenUpKey,
  HandOuts,
  ProcessListener,
  TakenKey,
  TurnReply,
} from "./engine.ts";
import { Finishes, type PendingFinish } from "./finishes.ts";
import type { HeldLease } from "./lease.ts";
import { Leases } from "./leases.ts";
import { Working } from "./working.ts";

/** Consumer in this process that wants work: a call to `get`, or a pool. */
export interface Want<T> {
  /**
   * Returns the number of leases wanted now, and the bucket from which each lease takes a token. If the bucket is
   * paused, also returns the remaining milliseconds of the pause, during which no lease may be taken.
   */
  request(): { readonly count: number; readonly throttle?: AttemptBucket | undefined; readonly pause?: number };
  /** Accepts leases, at least one and no more than it wanted. */
  accept(leases: readonly HeldLease<T>[]): void;
  /** Called when no more leases will be offered. */
  end(): void;
}

/** Callbacks of a dispatcher, implemented by the queue. */
export interface DispatcherEvents<T> {
  /** Creates the lease for a taken key. Throws if this process can't read the item. */
  leaseOf(taken: TakenKey): HeldLease<T>;
  /** Creates a lease without an item. Called if `leaseOf` threw `error`. */
  onUnreadable(taken: TakenKey, error: unknown): HeldLease<T>;
  /** Called when a key was given up because each of its holders was lost. */
  onGivenUp(key: GivenUpKey): void;
  /** Called before work is wanted for the first time. */
  onFirstWant(): void;
  /** Called when a call to the engine has ended. */
  onSettled(): void;
  onError(error: unknown): void;
}

/** Way in which the wants of a process get leases, and in which it reports the outcomes. */
export interface Dispatch<T> {
  /** Number of leases that this process is working on. */
  readonly processing: number;
  /** Whether this process has no work left, and the engine knows every outcome. */
  readonly isDone: boolean;
  /** Whether the queue was paused when the engine last replied. */
  readonly isPaused: boolean;
  /** Offers leases to a want until `unwant` is called. */
  want(want: Want<T>): void;
  unwant(want: Want<T>): void;
  /** Asks for work again. Called when the wants or the queue may have changed. */
  look(): void;
  /**
   * Reports whether work on a lease may begin. Hands the lease back if it has expired according to this process's
   * clock, or if its item was cancelled.
   */
  mayBegin(lease: HeldLease<T>): boolean;
  /** Reports the outcome of the work on a lease to the engine. */
  finish(lease: HeldLease<T>, finish: Finish): Promise<FinishAnswer>;
  /** Aborts the running attempts of pools, because others may have got their permits. */
  losePermits(): void;
  /** Tells leases from now on when their items are added again. */
  tellAdds(): void;
  /** Stops taking keys. Hands back leases that arrived and were not accepted. */
  close(): void;
  /** Tells the engine that this process takes no more keys. Must be called after `close`, when no work is left. */
  leave(): Promise<void>;
}

/** Limits on the calls of a dispatcher that shares the wants of the process with other dispatchers. */
export interface TurnLimits {
  /**
   * Called before each call to the engine. Returns the number of leases that the call may take, at most `wanted`.
   */
  begin(wanted: number): number;
  /** Whether the process works on keys of other dispatchers. */
  isBusyElsewhere(): boolean;
  /** Called when the call has ended, with the number of leases that it could take and took. */
  end(wanted: number, taken: number, isAlone: boolean): void;
}

/** Pause before subscribing again after a failure, in milliseconds. */
const LISTEN_AGAIN = 1000;
/** Longest pause between a call that returned no work and the next call, in milliseconds. */
const LOOK_AGAIN = 5000;
/**
 * Milliseconds after which the engine is notified that this process wants no work. Most pools want work again
 * immediately.
 */
const WANTS_AGAIN = 10;
/**
 * Maximum number of keys that one call takes, and also of keys that it finishes. The engine does nothing else during a
 * call.
 */
const MAX_IN_TURN = 100;
/**
 * Longest time that a finish waits for a running turn to end, in milliseconds. After this time, the finish is sent in a
 * separate call.
 */
const MAX_FINISH_WAIT = 100;

/**
 * Combines the wants and finishes of this process into calls to the engine, one call at a time. Between calls, the
 * dispatcher waits until a message says that there may be work, or until the next check is due. If a call takes a long
 * time, new finishes are sent in separate calls meanwhile, so that the call timeout of each finish starts soon after
 * its work ends.
 */
export class Dispatcher<T> implements Dispatch<T> {
  readonly #engine: HandOuts;
  readonly #process: string;
  readonly #events: DispatcherEvents<T>;
  readonly #limits: TurnLimits | undefined;
  readonly #stopReconnecting: () => void;
  readonly #leases: Leases<HeldLease<T>>;
  readonly #working = new Working<T>();
  readonly #wants = new Set<Want<T>>();
  readonly #finishes = new Finishes<T>();
  /** Set of finishes that were sent in calls that are still running. */
  readonly #sent = new Set<PendingFinish<T>>();
  /** Leases that arrived and that no want has accepted yet. */
  readonly #brought: HeldLease<T>[] = [];
  /**
   * Buckets (`undefined` for no bucket) for which the latest call returned fewer leases than wanted. Another call would
   * probably return none.
   */
  readonly #served = new Set<string | undefined>();
  /** Lease of a suspect: a key that stalled more than once. Until the lease ends, this process takes no other key. */
  #suspect: HeldLease<T> | undefined = undefined;
  /**
   * Whether messages reach this process. If not, this process takes no keys, because no message would announce more
   * work.
   */
  #isListening = false;
  #isFirstWant = true;
  #stopListening: (() => void) | undefined = undefined;
  #isClosed = false;
  #isScheduled = false;
  #isInTurn = false;
  /**
   * Whether a message has announced work. If nothing in this process wants work, the next call wakes another process.
   */
  #isWoken = false;
  isPaused = false;
  /** Whether the engine may have assigned leases to this process that this process doesn't know about. */
  #hasToRelease = false;
  /** Timer that limits how long finishes wait for a turn to end. */
  #finishEnd: ReturnType<typeof setTimeout> | undefined = undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #lookAt = Infinity;
  /** Timer that notifies the engine if this process wants no work for a while. */
  #idleEnd: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(engine: HandOuts, process: string, events: DispatcherEvents<T>, limits?: TurnLimits) {
    this.#engine = engine;
    this.#process = process;
    this.#events = events;
    this.#limits = limits;
    this.#leases = new Leases(engine, process);
    this.#stopReconnecting = engine.onReconnect(() => this.#reconnect());
  }

  get processing(): number {
    return this.#working.size;
  }

  get isDone(): boolean {
    return this.#working.size === 0 && this.#finishes.size === 0 && this.#sent.size === 0 && !this.#isInTurn;
  }

  /** Whether a call that takes no token of a bucket may get leases. */
  get mayHaveWork(): boolean {
    return this.#isListening && !this.#served.has(undefined);
  }

  want(want: Want<T>): void {
    this.#wants.add(want);
    if (this.#isFirstWant) this.#begin();
    this.#deliver();
    if (this.#wants.size === 1) this.#setTimer();
    this.#schedule();
  }

  unwant(want: Want<T>): void {
    this.#wants.delete(want);
    if (this.#wants.size > 0) return;
    this.#setTimer(); // stops the timer; `#lookAt` stays, because it also applies to later wants
    if (this.#lookAt < Infinity && !this.#isClosed) this.#idleEnd ??= setTimeout(() => this.#endIdle(), WANTS_AGAIN);
  }

  /** Notifies the engine that this process wants no more work. Another process then checks for due keys. */
  #endIdle(): void {
    this.#idleEnd = undefined;
    if (this.#wants.size > 0 || this.#isClosed) return;
    this.#isWoken = true;
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idleEnd);
    this.#clearTimer();
    for (const want of this.#wants) want.end();
    this.#wants.clear();
    for (const lease of this.#working.waiting) lease.giveBack();
    this.#deliver();
  }

  async leave(): Promise<void> {
    this.#stopReconnecting();
    if (this.#stopListening === undefined) return;
    this.#stopListening();
    await this.#engine.leave(this.#process, this.#leases.owner);
  }

  losePermits(): void {
    this.#leases.losePermits();
  }

  tellAdds(): void {
    this.#leases.tellAdds();
  }

  finish(lease: HeldLease<T>, finish: Finish): Promise<FinishAnswer> {
    const next = this.#working.end(lease);
    if (next?.isLost) next.giveBack();
    else if (next !== undefined) {
      this.#brought.push(next);
      this.#deliver();
    }
    if (lease === this.#suspect) this.#suspect = undefined;
    this.#schedule();
    const answer = this.#finishes.add(lease, finish);
    if (this.#isInTurn) this.#limitWait();
    return answer;
  }

  look(): void {
    this.#served.clear();
    this.#schedule();
  }

  #begin(): void {
    this.#isFirstWant = false;
    this.#events.onFirstWant();
    this.#listen();
  }

  /** Subscribes to the messages for this process. Keeps trying until it succeeds or the dispatcher is closed. */
  async #listen(): Promise<void> {
    const listener: ProcessListener = {
      wake: (delay) => this.#wake(delay),
      renew: () => this.#leases.renew(),
      resumed: () => {
        this.#isListening = true;
        this.look();
      },
    };
    while (this.#stopListening === undefined && !this.#isClosed) {
      try {
        this.#stopListening = await this.#engine.listen(this.#process, listener);
        listener.resumed();
      } catch (error) {
        this.#events.onError(error);
        await sleep(LISTEN_AGAIN);
      }
    }
  }

  /**
   * Handles a message saying that there may be work, now or in `delay` milliseconds. If nothing in this process wants
   * work, the engine wakes another process.
   */
  #wake(delay: number): void {
    if (delay > 0 && this.#wants.size > 0) return this.#lookIn(delay);
    this.#isWoken = true;
    this.look();
  }

  /** Called when a lost connection is restored. Calls made now are sent before all repeated calls. */
  #reconnect(): void {
    this.#release().catch(() => {}); // the next turn tries again and reports errors
    this.look();
  }

  /**
   * Runs a turn soon. All finishes and wants from one turn of the event loop are combined into one call. If the wants
   * are shared with other dispatchers, the turn waits for the end of the turn of the event loop, because a pool
   * finishes many leases before it wants others.
   */
  #schedule(): void {
    if (this.#isScheduled || this.#isInTurn) return;
    this.#isScheduled = true;
    const run = () => {
      this.#isScheduled = false;
      this.#turn();
    };
    if (this.#limits === undefined) Promise.resolve().then(run);
    else setImmediate(run);
  }

  async #turn(): Promise<void> {
    const isFinish = this.#finishes.size > 0;
    if (this.#hasToRelease) this.#finishBeside(); // otherwise, finishes would wait until keys are released
    const finishes = this.#finishes.next(MAX_IN_TURN);
    const mayTake = this.#isListening && this.#suspect === undefined;
    const { count, throttle } = mayTake ? this.#wanted(isFinish) : NOTHING;
    const wanted = this.#limits === undefined ? count : this.#limits.begin(count);
    if (!isFinish && wanted === 0 && !this.#isWoken) return;
    this.#isInTurn = true;
    if (this.#finishes.size > 0) this.#limitWait();
    this.#isWoken = false;
    if (wanted > 0) {
      this.#served.add(throttle?.id);
      this.#clearTimer();
    } else {
      this.#served.clear(); // after a call that wants nothing, the engine sends this process no messages
    }
    let reply: TurnReply | undefined;
    try {
      if (this.#hasToRelease) await this.#release();
      const sentAt = performance.now();
      reply = await this.#send(finishes, wanted, throttle);
      this.#settle(finishes, reply);
      this.#takeIn(reply, wanted, throttle?.id, sentAt);
    } catch (error) {
      this.#fail(finishes, error, wanted);
    }
    this.#isInTurn = false;
    clearTimeout(this.#finishEnd);
    this.#finishEnd = undefined;
    this.#deliver();
    this.#schedule();
    this.#limits?.end(wanted, reply?.taken.length ?? 0, reply?.isAlone === true);
    this.#events.onSettled();
  }

  #send(finishes: readonly PendingFinish<T>[], wanted: number, throttle?: AttemptBucket): Promise<TurnReply> {
    for (const each of finishes) this.#sent.add(each);
    return this.#engine.turn({
      process: this.#process,
      owner: this.#leases.owner,
      known: this.#leases.countWithout([...this.#sent].map(({ lease }) => lease)),
      wanted,
      isBusyElsewhere: wanted > 0 && this.#limits?.isBusyElsewhere() === true,
      tellsAdds: this.#leases.tellsAdds,
      throttle,
      finishes: finishes.map(({ finish }) => finish),
    });
  }

  /** If the running turn doesn't end soon, sends the finishes that wait for it in separate calls. */
  #limitWait(): void {
    this.#finishEnd ??= setTimeout(() => {
      this.#finishEnd = undefined;
      this.#finishBeside();
    }, MAX_FINISH_WAIT);
  }

  /** Sends all waiting finishes in calls that take no keys. */
  #finishBeside(): void {
    while (this.#finishes.size > 0) this.#finishAlone(this.#finishes.next(MAX_IN_TURN));
  }

  async #finishAlone(finishes: readonly PendingFinish<T>[]): Promise<void> {
    try {
      this.#settle(finishes, await this.#send(finishes, 0));
      this.look(); // after this call, the engine considers this process busy and doesn't notify it
    } catch (error) {
      this.#fail(finishes, error, 0);
    }
  }

  /**
   * Returns the number of leases wanted by the first want and by all other wants with the same bucket. Prefers wants
   * whose bucket is not in `#served`. Considers wants whose bucket is in `#served` only if a call is made anyway
   * (`isCall`).
   */
  #wanted(isCall: boolean): { count: number; throttle: AttemptBucket | undefined } {
    let found: { count: number; throttle: AttemptBucket | undefined } = NOTHING;
    for (const want of this.#wants) {
      const { count, throttle, pause = 0 } = want.request();
      const bucket = throttle?.id;
      const isServed = this.#served.has(bucket);
      if (pause > 0) this.#lookIn(pause);
      else if (count === 0 || (isServed && !isCall)) continue;
      else if (found.count === 0 || (!isServed && this.#served.has(found.throttle?.id))) found = { count, throttle };
      else if (bucket === found.throttle?.id) found = { count: found.count + count, throttle };
    }
    return { ...found, count: Math.min(found.count, MAX_IN_TURN) };
  }

  #settle(finishes: readonly PendingFinish<T>[], { answers }: TurnReply): void {
    for (const [i, each] of finishes.entries()) {
      const { lease, resolve } = each;
      const answer = answers[i]!;
      this.#sent.delete(each);
      if (typeof answer !== "number") this.#leases.delete(lease);
      resolve(answer);
    }
  }

  #takeIn(
    { isPaused, isLost, isAlone, pauseMs, taken, givenUp }: TurnReply,
    wanted: number,
    bucket: string | undefined,
    sentAt: number,
  ): void {
    this.isPaused = isPaused;
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

  /**
   * Rejects the promises of finishes whose effect is unknown. If the engine still has the leases of these finishes, the
   * leases are released later.
   */
  #fail(finishes: readonly PendingFinish<T>[], error: unknown, wanted: number): void {
    this.#hasToRelease = true;
    for (const each of finishes) {
      this.#sent.delete(each);
      this.#leases.delete(each.lease);
      each.reject(error);
    }
    // Each rejected promise of a finish already reports the error. The failure of a call without finishes and wants is
    // not reported, because nothing in this process depends on the call.
    if (finishes.length === 0 && wanted > 0) this.#events.onError(error);
    this.#lookIn(LOOK_AGAIN);
  }

  async #release(): Promise<void> {
    const { owner, tokens } = this.#leases;
    this.#hasToRelease = false;
    try {
      const lost = new Set(await this.#engine.release(owner, tokens));
      // If a finish was sent for a lease, the reply to the finish shows whether the lease was lost.
      for (const { finish } of this.#sent) lost.delete(finish.token);
      if (owner === this.#leases.owner) this.#leases.lose(lost);
    } catch (error) {
      this.#hasToRelease = true;
      throw error;
    }
  }

  mayBegin(lease: HeldLease<T>): boolean {
    this.#leases.check();
    const mayBegin = !lease.isLost && !lease.isCancelled;
    if (!mayBegin) lease.giveBack();
    return mayBegin;
  }

  /** Gives each newly arrived lease to a want that has the same bucket. Hands back leases that no want accepts. */
  #deliver(): void {
    this.#leases.check();
    for (let next = this.#findLost(); next >= 0; next = this.#findLost()) this.#brought.splice(next, 1)[0]!.giveBack();
    for (const want of this.#wants) {
      if (this.#brought.length === 0) return;
      const { count, throttle } = want.request();
      const leases: HeldLease<T>[] = [];
      while (leases.length < count) {
        const next = this.#brought.findIndex(({ bucket }) => bucket === throttle?.id);
        if (next < 0) break;
        leases.push(this.#brought.splice(next, 1)[0]!);
      }
      if (leases.length > 0) want.accept(leases);
    }
    for (const lease of this.#brought.splice(0)) lease.giveBack();
  }

  #findLost(): number {
    return this.#brought.findIndex(({ isLost }) => isLost);
  }

  /** Asks for work again after `delay` milliseconds, or after `LOOK_AGAIN` if that is sooner. */
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
      // Forces a turn even if no work is wanted, because another process may take the keys that the turn releases.
      if (this.#hasToRelease) this.#isWoken = true;
      this.look();
    }, Math.max(Math.ceil(this.#lookAt - performance.now()), 0));
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#lookAt = Infinity;
  }
}

const NOTHING = { count: 0, throttle: undefined };
