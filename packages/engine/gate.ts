import type { GatePlan, PermitsPlan, ThrottleStore, TokensPlan } from "./throttle_store.ts";

/** Store and process of a gate. */
export interface GateContext {
  readonly store: ThrottleStore;
  /** Name of the process in the store, unique for each gate. */
  readonly process: string;
  /** Duration of the lease on permits, in milliseconds. */
  readonly leaseDuration: number;
  onError(error: unknown): void;
  /** Called when permits have arrived, or fewer than wanted although more may be available now. */
  onChange(): void;
  /** Called when the store may have given the permits of running attempts to others. */
  onExpired(): void;
}

/** Number of renewals in one lease duration. */
const RENEWALS = 3;
/** Longest time between two calls that ask for tokens, and time after a failed call, in milliseconds. */
const ASK_AGAIN = 5000;
const AFTER_FAILURE = 1000;

/**
 * Part of a throttle in the store that all processes share. Holds permits in stock from the reply of the engine until
 * the pools take them, or until `keep` gives them back. Makes one call at a time.
 */
export abstract class Gate<Plan extends GatePlan = GatePlan> {
  /** Number of permits that the engine has granted and no attempt has taken. */
  stock = 0;
  /** Number of permits that the pools of this process wait for. */
  wanted = 0;
  protected readonly context: GateContext;
  #plan: Plan;
  #mustCall = false;
  #isScheduled = false;
  #call: Promise<void> | undefined = undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  /** Whether the latest call failed, so that the next is made only after a pause. */
  #isResting = false;
  #isClosed = false;

  constructor(plan: Plan, context: GateContext) {
    this.#plan = plan;
    this.context = context;
  }

  get plan(): Plan {
    return this.#plan;
  }

  change(plan: Plan): void {
    this.#plan = plan;
    this.tell();
  }

  /**
   * Number of attempts for which the engine would probably grant permits now. At least 1, so that a call is made to
   * find out.
   */
  abstract get free(): number;

  /** Sets the number of permits to wait for. */
  want(count: number): void {
    if (count === this.wanted) return;
    this.wanted = count;
    this.tell();
  }

  /** Keeps at most `count` permits in stock and gives the others back. */
  keep(count: number): void {
    if (this.stock > count) this.putBack(this.stock - count);
  }

  /** Reports whether an attempt can take a permit out of the stock now. */
  hasStock(): boolean {
    return this.stock > 0;
  }

  /** Takes a permit out of the stock for an attempt. */
  abstract take(): void;

  /** Counts an attempt that is running already. */
  abstract adopt(): void;

  /** Called when an attempt ends, or when it does not begin after all (`isUnused`). */
  abstract end(isUnused: boolean): void;

  /** Gives `count` permits in the stock back to the engine. */
  abstract putBack(count: number): void;

  abstract charge(cost: number): void;

  /**
   * Calls the engine in a microtask if anything has changed, so that one call sends all changes of one turn of the
   * event loop.
   */
  tell(): void {
    if (this.#isScheduled || this.#isResting || this.#call !== undefined) return;
    this.#isScheduled = true;
    Promise.resolve().then(() => {
      this.#isScheduled = false;
      this.callNow();
    });
  }

  /** Calls the engine in a microtask even if nothing has changed. */
  askAgain(): void {
    this.#mustCall = true;
    this.tell();
  }

  /** Calls the engine at once, even after a failed call. */
  reconnected(): void {
    this.#isResting = false;
    this.#mustCall = true;
    this.callNow();
  }

  /** Calls the engine now if anything has changed, unless a call is running. */
  callNow(): void {
    if (this.#isResting || this.#call !== undefined || !(this.#mustCall || this.hasNews)) return;
    this.#mustCall = false;
    clearTimeout(this.#timer);
    this.#call = this.#makeCall().then(() => {
      this.#call = undefined;
      this.callNow();
    });
  }

  /** Stops asking for permits, gives all of them back, and waits until the engine has received this. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.wanted = 0;
    this.#isResting = false;
    this.keep(0);
    this.callNow();
    while (this.#call !== undefined) await this.#call;
    clearTimeout(this.#timer);
  }

  /** Whether there are changes that the engine doesn't know. */
  protected abstract get hasNews(): boolean;

  /**
   * Sends the changes to the engine. Returns the longest time until the next call in milliseconds, or `undefined` if
   * none is needed.
   */
  protected abstract ask(): Promise<number | undefined>;

  async #makeCall(): Promise<void> {
    let next: number | undefined;
    try {
      next = await this.ask();
    } catch (error) {
      this.context.onError(error);
      this.#isResting = true; // if the gate is being closed, the lease ends by itself
      next = AFTER_FAILURE;
    }
    if (next === undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#isResting = false;
      this.askAgain();
    }, Math.ceil(next));
  }
}

/** Concurrency throttle in the store. */
export class PermitsGate extends Gate<PermitsPlan> {
  /** Number of permits of attempts that are running. */
  #using = 0;
  #calls = 0;
  /** State that the engine knows. */
  #told = this.#state();
  /** Number of permits that were left after the latest call, and that were given back since. */
  #left = Infinity;
  /** Whether the latest call got fewer permits than it wanted. */
  #isShort = false;
  /** Send time of the latest successful call. The store leases the permits from this time on. */
  #renewedAt = Infinity;
  #end: ReturnType<typeof setTimeout> | undefined = undefined;
  #isListening = false;
  #stopListening: (() => void) | undefined = undefined;
  readonly #stopReconnecting: () => void;

  constructor(plan: PermitsPlan, context: GateContext) {
    super(plan, context);
    // An engine that has lost its data learns of the running attempts.
    this.#stopReconnecting = context.store.onReconnect(plan.id, () => {
      if (this.#using > 0) this.reconnected();
    });
  }

  get free(): number {
    return this.#isShort ? 1 : Math.max(1, Math.min(this.#left, this.plan.values.limit - this.#using));
  }

  override want(count: number): void {
    super.want(count);
    if (count > 0) this.#listen();
  }

  /** Gives back permits in the stock whose lease has ended. */
  override hasStock(): boolean {
    if (this.stock > 0 && this.#leaseLeft <= 0) this.keep(0);
    return super.hasStock();
  }

  take(): void {
    this.stock--;
    this.#using++;
  }

  adopt(): void {
    this.#using++;
    this.tell();
  }

  end(): void {
    this.#using--;
    this.#left++;
    this.tell();
  }

  protected get hasNews(): boolean {
    return this.#told !== this.#state();
  }

  #state(): string {
    return `${this.plan.values.limit} ${this.#using + this.stock} ${this.wanted}`;
  }

  putBack(count: number): void {
    this.stock -= count;
    this.tell();
  }

  charge(): void {}

  override async close(): Promise<void> {
    this.#stopReconnecting();
    await super.close();
    clearTimeout(this.#end);
    this.#stopListening?.();
  }

  /** Milliseconds until the lease on the permits ends, unless they are renewed. */
  get #leaseLeft(): number {
    return this.#renewedAt + this.context.leaseDuration - performance.now();
  }

  /**
   * Tells the queue when the lease on the permits of running attempts ends according to this process's clock, without
   * asking the store. The store measures the lease from a later time, and gives the permits to others only after that.
   */
  #checkEnd(): void {
    this.#end = undefined;
    if (this.#using + this.stock === 0) return;
    const left = this.#leaseLeft;
    if (left <= 0) this.context.onExpired();
    else this.#end = setTimeout(() => this.#checkEnd(), left);
  }

  protected async ask(): Promise<number | undefined> {
    const { store, process, leaseDuration, onChange } = this.context;
    const { id, values: { limit } } = this.plan;
    const { wanted } = this;
    const using = this.#using + this.stock;
    const request = { process, leaseMs: leaseDuration, limit, nth: ++this.#calls, using, wanted };
    const sentAt = performance.now();
    const { granted, left, waitMs } = await store.permits(id, request);
    this.#renewedAt = sentAt;
    this.#left = left;
    this.#isShort = granted < wanted;
    this.stock += granted;
    if (this.#end === undefined) this.#checkEnd();
    this.wanted = Math.max(this.wanted - granted, 0);
    this.#told = `${limit} ${using + granted} ${wanted - granted}`;
    if (granted > 0) onChange();
    if (this.wanted === 0 && this.stock + this.#using === 0) return undefined;
    return Math.min(leaseDuration / RENEWALS, this.wanted > 0 && waitMs !== undefined ? waitMs : Infinity);
  }

  /** Subscribes to messages that a permit is reserved for this process. */
  async #listen(): Promise<void> {
    if (this.#isListening) return;
    this.#isListening = true;
    const { store, process, onError } = this.context;
    const ask = () => {
      if (this.wanted > 0) this.askAgain();
    };
    try {
      this.#stopListening = await store.listen(this.plan.id, process, ask);
      ask(); // processes that don't listen are skipped
    } catch (error) {
      this.#isListening = false; // tries again with the next permit
      onError(error);
    }
  }
}

/** Token bucket in the store. */
export class TokensGate extends Gate<TokensPlan> {
  #charged = 0;
  /** State that the engine knows: the number of wanted tokens, with the rate and burst. */
  #told = "";
  #isShort = false;

  get free(): number {
    return this.#isShort ? 1 : Math.max(this.plan.values.burst, 1);
  }

  take(): void {
    this.stock--;
  }

  adopt(): void {}

  end(isUnused: boolean): void {
    if (!isUnused) return;
    this.#charged--;
    this.tell();
  }

  protected get hasNews(): boolean {
    return this.#charged !== 0 || this.#told !== this.#stateWith(this.wanted);
  }

  #stateWith(wanted: number): string {
    return wanted === 0 ? "" : `${this.plan.values.rate} ${this.plan.values.burst} ${wanted}`;
  }

  putBack(count: number): void {
    this.stock -= count;
    this.#charged -= count;
    this.tell();
  }

  charge(cost: number): void {
    if (!this.plan.countsCosts || cost === 0) return;
    this.#charged += cost;
    this.tell();
  }

  protected async ask(): Promise<number | undefined> {
    const { store, process, onChange } = this.context;
    const { id, values: { rate, burst } } = this.plan;
    const { wanted } = this;
    const charged = this.#charged;
    this.#charged = 0;
    const call = store.tokens(id, { process, rate, burst, charged, wanted, longestMs: ASK_AGAIN });
    call.catch((error) => {
      // If the call may have taken effect, a charge is repeated, since it must not get lost. A return of tokens is not
      // repeated, since it must not count twice.
      if (charged > 0 || error?.mayHaveRun === false) this.#charged += charged;
    });
    const { granted, waitMs } = await call;
    this.#isShort = granted < wanted;
    this.#told = this.#stateWith(wanted - granted);
    this.stock += granted;
    this.wanted = Math.max(this.wanted - granted, 0);
    if (granted > 0) onChange();
    return this.wanted === 0 ? undefined : Math.min(waitMs ?? ASK_AGAIN, ASK_AGAIN);
  }
}

/** Creates the gate for a plan. */
export function createGate(plan: GatePlan, context: GateContext): Gate {
  switch (plan.kind) { // no `default` case: a kind without a gate is a type error
    case "permits":
      return new PermitsGate(plan, context) as Gate;
    case "tokens":
      return new TokensGate(plan, context) as Gate;
  }
}
