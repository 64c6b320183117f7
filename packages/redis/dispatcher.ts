import type { Engine, Finish, FinishAnswer, GivenUpKey, TakenKey, TurnReply } from "./engine.ts";
import { Finishes, type PendingFinish } from "./finishes.ts";
import type { HeldLease } from "./lease.ts";
import type { BucketPlan } from "./limiter_plan.ts";
import { Leases } from "./leases.ts";
import { Working } from "./working.ts";

/** Somebody in this process who wants work. */
export interface Want<T> {
  /** How many leases it wants as of now, the tokens that they cost, and for how many milliseconds it may take none. */
  request(): { readonly count: number; readonly throttle?: BucketPlan | undefined; readonly pause?: number };
  /** Takes one lease in. */
  accept(lease: HeldLease<T>): void;
  /** Nothing more will come. */
  end(): void;
}

/** What the queue does for its dispatcher. */
export interface DispatcherEvents<T> {
  /** Makes the lease of a key that was taken. */
  leaseOf(taken: TakenKey): HeldLease<T>;
  /** That failed: nobody here can work on it. Makes a lease without an item. */
  onUnreadable(taken: TakenKey, error: unknown): HeldLease<T>;
  /** A key was given up, as each of its holders was lost. */
  onGivenUp(key: GivenUpKey): void;
  /** Somebody wants work. */
  onWant(): void;
  /** A call has ended. */
  onSettled(): void;
  onError(error: unknown): void;
}

/** The longest time between two looks at a queue that has brought nothing, in milliseconds. */
const LOOK_AGAIN = 5000;
/** How long nobody may want work until the server is told, in milliseconds: most pools want some again at once. */
const WANTS_AGAIN = 10;
/** The most that one call takes, and finishes: the server does nothing else meanwhile. */
const MAX_IN_TURN = 100;

/**
 * Brings together those in this process who want work, and those who have finished some. One call at a time does both,
 * for all of them; in between it waits for the message that there may be more, or for the time when something is due.
 */
export class Dispatcher<T> {
  readonly #engine: Engine;
  readonly #process: string;
  readonly #events: DispatcherEvents<T>;
  readonly #leases: Leases<HeldLease<T>>;
  readonly #working = new Working<T>();
  readonly #wants = new Set<Want<T>>();
  readonly #finishes = new Finishes<T>();
  /** Those on their way. */
  #sent: readonly PendingFinish<T>[] = [];
  /** Leases that nobody has accepted yet. */
  readonly #brought: HeldLease<T>[] = [];
  /**
   * The buckets, or none, of those for whom the latest call brought less than they wanted: another may bring no more.
   */
  readonly #served = new Set<string | undefined>();
  /** What has lost its holder before, and is worked on with nothing beside it. */
  #suspect: HeldLease<T> | undefined = undefined;
  /** Whether messages reach this process. Nothing is taken before: nobody would say that there is more. */
  #isListening = false;
  #isClosed = false;
  #isScheduled = false;
  #isInTurn = false;
  /** Whether the message has come that there is work. If nobody wants any, it is for another process. */
  #isWoken = false;
  /** Whether the server holds something for this process that is not known here. */
  #hasToRelease = false;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #lookAt = Infinity;
  /** Runs for a moment once nobody wants work any more. */
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

  /** How much is worked on here. */
  get held(): number {
    return this.#working.size;
  }

  /** Whether nothing is worked on here, and the server knows the end of everything. */
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
    this.#setTimer(); // to none, and who wants something later has to look at that time still
    if (this.#lookAt < Infinity && !this.#isClosed) this.#idleEnd ??= setTimeout(() => this.#endIdle(), WANTS_AGAIN);
  }

  /** If nobody has wanted work for a while, the server is told, so that another process looks when something is due. */
  #endIdle(): void {
    this.#idleEnd = undefined;
    if (this.#wants.size > 0 || this.#isClosed) return;
    this.#isWoken = true;
    this.#schedule();
  }

  /** Takes nothing more. What came and was not accepted goes back. */
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

  /** What those who want something want may have changed. */
  look(): void {
    this.#served.clear();
    this.#schedule();
  }

  /** Messages reach this process, or do so again. */
  listen(): void {
    this.#isListening = true;
    this.look();
  }

  /**
   * There may be work now, or in a number of milliseconds. If nobody wants work here, the server tells another process.
   */
  wake(delay: number): void {
    if (delay > 0 && this.#wants.size > 0) return this.#lookIn(delay);
    this.#isWoken = true;
    this.look();
  }

  /** The connection was lost, and is there again. What is sent now comes before all that waits to be sent again. */
  reconnect(): void {
    this.#release().catch(() => {}); // it has to be done before the next turn
    this.look();
  }

  /** So that what is finished and wanted in the same turn of the event loop goes into the same call. */
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
   * How much is wanted by the first who wants some, and by all who take the same tokens. Those come first for whom
   * there may be some; the others are asked as well if there is a call anyway.
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

  /** Nobody knows what has become of these finishes. What the server still holds for them is given back. */
  #fail(finishes: readonly PendingFinish<T>[], error: unknown, wanted: number): void {
    this.#hasToRelease = true;
    for (const { lease, reject } of finishes) {
      this.#leases.delete(lease);
      reject(error);
    }
    // A call that only said that nothing is wanted here fails nobody.
    if (finishes.length === 0 && wanted > 0) this.#events.onError(error);
    this.#lookIn(LOOK_AGAIN);
  }

  async #release(): Promise<void> {
    const { owner, tokens } = this.#leases;
    this.#hasToRelease = false;
    try {
      const lost = new Set(await this.#engine.release(owner, tokens));
      for (const { finish } of this.#sent) lost.delete(finish.token); // its answer tells
      if (owner === this.#leases.owner) this.#leases.lose(lost);
    } catch (error) {
      this.#hasToRelease = true;
      throw error;
    }
  }

  /** Whether work on a lease may begin. A lease whose time is over by the clock of this process goes back. */
  mayBegin(lease: HeldLease<T>): boolean {
    this.#leases.check();
    if (lease.isLost) lease.giveBack();
    return !lease.isLost;
  }

  /** Hands out what came, to those who take the same tokens. What nobody wants any more goes back. */
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

  /** Looks again after this time, or sooner: timers cannot be long. */
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
      if (this.#hasToRelease) this.#isWoken = true; // what is given back may be for another process
      this.look();
    }, Math.max(Math.ceil(this.#lookAt - performance.now()), 0));
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#lookAt = Infinity;
  }
}

const NOTHING = { count: 0, throttle: undefined };
