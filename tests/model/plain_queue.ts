import type { RetryBudgetOptions } from "@workqueue/core";
import { newCredit, RetryCredit } from "../../lib/policy/retry_credit.ts";

/** Item whose version distinguishes it from other items with the same key. */
export interface Item {
  readonly key: number;
  readonly version: number;
}

/** Returns the delay after a failure, in milliseconds, for a key with this many earlier failures. */
export function delayAfter(failures: number): number {
  return failures % 4 === 3 ? 0 : Math.min(4 * 2 ** failures, 64);
}

type Policy = "drop" | "flush" | "wait";

/**
 * Start of an attempt: by an add, an `addAfter` or a flush, by a failure or `requeue`, or by a holder that handed the
 * item back.
 */
type Start = "first" | "retry" | "handed back";

/** Item, and the highest priority that it was added with. */
export interface Entry {
  item: Item;
  priority: number;
  /** Start of the entry's next attempt. Used only with a retry budget. */
  start: Start;
}

/** Entry whose delay has not passed. */
interface DelayedEntry extends Entry {
  deadline: number;
  /** Whether adds are folded into the retry, because the key failed. */
  folds?: boolean;
  /** Whether an add was folded into the retry. */
  wasAdded?: boolean;
}

/** Failures of a key. */
interface Failed {
  count: number;
  /** End of the last delay. */
  end: number;
  /** Whether the last attempt failed. */
  isFailing: boolean;
}

/** Selects the next entry. */
export type Next = (ready: readonly Entry[]) => Entry | undefined;

/**
 * Plain model of the whole rate-limiting queue, which searches and sorts arrays. Time is a number. Pending calls to
 * `get` and pending drains are represented by names.
 */
export class PlainQueue {
  now = 0;
  closed: "no" | "draining" | "yes" = "no";
  policy: Policy = "drop";
  /** Ready entries, in the order in which they became ready. */
  readonly ready: Entry[] = [];
  /** Retries without budget, in the order in which they were due. */
  readonly blocked: Entry[] = [];
  readonly processing: Entry[] = [];
  readonly again: Entry[] = [];
  readonly delayed: DelayedEntry[] = [];
  /** Keys whose failures were not forgotten. Expired ones are not removed. */
  readonly #failed = new Map<number, Failed>();
  getters: string[] = [];
  drainers: string[] = [];
  /** Items that were dropped by a shutdown. */
  readonly dropped: Item[] = [];
  /** Pending calls to `whenIdle` and `whenBelow`. */
  waits: { name: string; isOver: () => boolean }[] = [];
  /** Results of the pending calls, in order. */
  readonly given: { to: string; what: Item | "shutdown" | "drained" | "aborted" | "over" }[] = [];

  /** Numbers of the retry budget. `tests/policy/finagle_test.ts` tests their arithmetic. */
  readonly #budget: RetryCredit | undefined;

  constructor(
    readonly next: Next,
    readonly addWhileDelayed: "keep" | "replace" | "fold",
    budget: RetryBudgetOptions | undefined,
    readonly forgetAfter: number,
  ) {
    if (budget !== undefined) this.#budget = new RetryCredit(budget, newCredit(), 1000);
  }

  add(item: Item, priority: number): void {
    if (this.closed !== "no") return;
    this.#addNow({ item, priority, start: "first" });
    this.#serve();
  }

  addAfter(item: Item, delay: number, priority: number): void {
    if (this.closed === "no") this.#addAfter({ item, priority, start: "first" }, delay);
    this.#serve();
  }

  /** Time from which a blocked retry may become ready without a first attempt; `Infinity` if there is none. */
  get opensAt(): number {
    return this.blocked.length > 0 ? this.#budget!.opensAt : Infinity;
  }

  /**
   * Time at which a timer lets the next blocked retry through. After a shutdown, none does unless somebody waits and
   * nothing is ready.
   */
  get opensByTimerAt(): number {
    const isAwaited = this.getters.length + this.waits.length > 0 && this.ready.length === 0;
    return this.closed === "yes" && !isAwaited ? Infinity : this.opensAt;
  }

  /** Cancels the delay of a key. Reports whether the key was delayed. */
  cancelDelayed(key: number): boolean {
    const wasDelayed = removeKey(this.delayed, key) !== undefined;
    this.#settleDrainers();
    return wasDelayed;
  }

  #addNow(entry: Entry): void {
    const delayed = this.delayed.find(({ item }) => item.key === entry.item.key);
    if (delayed?.folds) {
      delayed.wasAdded = true;
      return fold(delayed, entry);
    }
    if (delayed !== undefined && this.addWhileDelayed !== "keep") {
      removeKey(this.delayed, entry.item.key);
      entry = { ...entry, priority: Math.max(entry.priority, delayed.priority) };
    } else if (delayed !== undefined) delayed.item = entry.item;
    this.#deliver(entry);
  }

  #addAfter(entry: Entry, delay: number): void {
    const { key } = entry.item;
    const isComing = [...this.ready, ...this.blocked, ...this.again].some(({ item }) => item.key === key);
    if (delay <= 0 || (this.addWhileDelayed !== "keep" && isComing)) return this.#addNow(entry);
    this.#delay(entry, delay);
  }

  #delay(entry: Entry, delay: number): void {
    const { key } = entry.item;
    const deadline = this.now + delay;
    const delayed = this.delayed.find(({ item }) => item.key === key);
    if (delayed === undefined) {
      this.delayed.push({ ...entry, deadline });
    } else {
      fold(delayed, entry);
      if (deadline < delayed.deadline) delayed.start = entry.start;
      delayed.deadline = Math.min(delayed.deadline, deadline);
    }
  }

  addRateLimited(item: Item, priority: number, minDelay: number): void {
    const delay = this.#delayAfterFailure(item.key, minDelay);
    if (this.takesBack(item.key)) this.#addAfter({ item, priority, start: "retry" }, delay);
    this.#serve();
  }

  /** Adds a processing key again without a delay, because its holder did not work on it. */
  handBack(key: number): void {
    const { item, priority } = this.processing.find((entry) => entry.item.key === key)!;
    this.#addNow({ item: this.#newest(key) ?? item, priority, start: "first" });
    const again = this.again.find((entry) => entry.item.key === key);
    if (again !== undefined) again.start = "handed back";
    this.#serve();
  }

  /** Adds a processing key again because its handler asked for `requeue`. */
  requeue(key: number): void {
    const { item, priority } = this.processing.find((entry) => entry.item.key === key)!;
    this.addRateLimited(this.#newest(key) ?? item, priority, 0);
    this.#failed.get(key)!.isFailing = false;
  }

  /** Returns the item with this key that was added last since the key was handed out. */
  #newest(key: number): Item | undefined {
    return [...this.delayed, ...this.again].find((entry) => entry.item.key === key)?.item;
  }

  /** Adds a processing key again because a pool's attempt failed. The queue must take the key back. */
  fail(key: number, minDelay: number): void {
    const { item, priority } = this.processing.find((entry) => entry.item.key === key)!;
    const again = this.again.find((entry) => entry.item.key === key);
    const delay = this.#delayAfterFailure(key, minDelay);
    this.#failed.get(key)!.isFailing = true;
    const entry: Entry = { item: this.#newest(key) ?? item, priority, start: "retry" };
    if (this.addWhileDelayed !== "fold" || delay <= 0) {
      if (this.addWhileDelayed === "fold" && again !== undefined) again.start = "retry"; // the add is folded
      this.#addAfter(entry, delay);
      return this.#serve(); // fewer items may wait until the attempt ends: a delay may have been replaced
    }
    removeKey(this.again, key);
    this.#delay({ ...entry, priority: Math.max(priority, again?.priority ?? priority) }, delay);
    const delayed = this.delayed.find((entry) => entry.item.key === key)!;
    delayed.folds = true;
    delayed.wasAdded = again !== undefined;
  }

  #delayAfterFailure(key: number, minDelay: number): number {
    const { count, isFailing } = this.#failuresOf(key);
    const delay = Math.max(delayAfter(count), minDelay);
    this.#failed.set(key, { count: count + 1, end: this.now + delay, isFailing });
    return delay;
  }

  /** Returns the failures of a key that are remembered now. */
  #failuresOf(key: number): Failed {
    const failed = this.#failed.get(key);
    const isOver = failed === undefined || failed.end + this.forgetAfter <= this.now;
    return isOver ? { count: 0, end: 0, isFailing: false } : failed;
  }

  numRequeues(key: number): number {
    return this.#failuresOf(key).count;
  }

  get failing(): number {
    return [...this.#failed.keys()].filter((key) => this.#failuresOf(key).isFailing).length;
  }

  /** Reports whether the queue accepts a retry of a key. */
  takesBack(key: number): boolean {
    const isProcessing = this.processing.some((each) => each.item.key === key);
    return this.closed === "no" || (this.closed === "draining" && this.policy !== "drop" && isProcessing);
  }

  forget(key: number): void {
    this.#failed.delete(key);
    for (const delayed of this.delayed) if (delayed.item.key === key) delayed.folds = false;
  }

  /** Takes the next entry, if any. */
  take(): Entry | undefined {
    const entry = this.next(this.ready);
    if (entry === undefined) return undefined;
    removeKey(this.ready, entry.item.key);
    this.processing.push(entry);
    if (entry.start === "first") {
      this.#budget?.deposit(this.now);
      this.#open();
    }
    this.#settle();
    return entry;
  }

  get(name: string): void {
    const entry = this.take();
    if (entry !== undefined) this.given.push({ to: name, what: entry.item });
    else if (this.#isOver) this.given.push({ to: name, what: "shutdown" });
    else this.getters.push(name);
  }

  whenIdle(name: string): void {
    this.#wait(name, () => this.#left + this.delayed.length === 0);
  }

  whenBelow(name: string, count: number): void {
    const isBelow = () => this.ready.length + this.blocked.length + this.delayed.length < count;
    this.#wait(name, () => this.closed !== "no" || isBelow());
  }

  #wait(name: string, isOver: () => boolean): void {
    this.waits.push({ name, isOver });
    this.#settle();
  }

  /** Resolves the calls to `whenIdle` and `whenBelow` whose condition is now true. */
  #settle(): void {
    for (const { name } of this.waits.filter(({ isOver }) => isOver())) this.given.push({ to: name, what: "over" });
    this.waits = this.waits.filter(({ isOver }) => !isOver());
  }

  /** Aborts a drain, which shuts the queue down like `shutDown`. The other pending drains resolve. */
  abortDrain(name: string): void {
    if (!this.drainers.includes(name)) return;
    this.drainers = this.drainers.filter((each) => each !== name);
    this.given.push({ to: name, what: "aborted" });
    this.shutDown();
  }

  abort(name: string): void {
    const waits = [...this.getters, ...this.waits.map((each) => each.name)];
    if (!waits.includes(name)) return;
    this.getters = this.getters.filter((each) => each !== name);
    this.waits = this.waits.filter((each) => each.name !== name);
    this.given.push({ to: name, what: "aborted" });
  }

  done(key: number): void {
    if (removeKey(this.processing, key) === undefined) return;
    const again = removeKey(this.again, key);
    if (again !== undefined) this.#comeIn(again);
    this.#serve();
    this.#settleDrainers();
  }

  /** Moves time forward, stopping at each time at which something happens. */
  pass(ms: number): void {
    const end = this.now + ms;
    while (this.now < end) {
      this.sleep(Math.min(...this.delayed.map(({ deadline }) => deadline), this.opensByTimerAt, end) - this.now);
    }
    this.sleep(0);
  }

  /**
   * Moves time forward in a single step. Due items are added in the order of their deadlines. Items with equal
   * deadlines are added in the order in which they were delayed.
   */
  sleep(ms: number): void {
    this.now += ms;
    this.#open();
    const due = this.delayed.filter(({ deadline }) => deadline <= this.now);
    this.#deliverDelayed(due);
  }

  shutDown(): void {
    this.#drop();
    this.#close();
    this.#giveAll("drainers", "drained");
  }

  drain(name: string, policy: Policy): void {
    this.drainers.push(name);
    if (this.closed === "no") this.closed = "draining";
    this.policy = policy;
    if (policy === "flush") {
      this.ready.push(...this.blocked.splice(0).map((entry) => ({ ...entry, start: "first" as const })));
      for (const delayed of this.delayed) delayed.start = "first";
      this.#deliverDelayed([...this.delayed]);
    }
    if (policy === "drop") this.#drop();
    this.#settleDrainers();
  }

  #drop(): void {
    if (this.closed !== "yes") {
      const added = this.delayed.filter(({ folds, wasAdded }) => folds && wasAdded);
      for (const { item, priority } of added.sort((a, b) => a.deadline - b.deadline)) {
        removeKey(this.delayed, item.key);
        this.#deliver({ item, priority, start: "first" });
      }
      this.#serve();
    }
    this.dropped.push(...this.delayed.splice(0).map(({ item }) => item));
  }

  #deliverDelayed(due: DelayedEntry[]): void {
    for (const { item, priority, start } of due.sort((a, b) => a.deadline - b.deadline)) {
      removeKey(this.delayed, item.key);
      this.#deliver({ item, priority, start });
    }
    this.#serve();
    this.#settleDrainers();
  }

  #deliver(entry: Entry): void {
    const { key } = entry.item;
    const isProcessing = this.processing.some(({ item }) => item.key === key);
    const blocked = this.blocked.find(({ item }) => item.key === key);
    const other = [...this.ready, ...this.again].find(({ item }) => item.key === key);
    if (blocked !== undefined) {
      fold(blocked, entry);
      if (entry.start === "retry" || this.addWhileDelayed === "fold") return;
      removeKey(this.blocked, key);
      this.ready.push({ ...blocked, start: "first" });
    } else if (other !== undefined) {
      fold(other, entry);
      if (isProcessing && entry.start === "first") other.start = "first"; // rule 18: an add starts it
    } else if (isProcessing) this.again.push(entry);
    else this.#comeIn(entry);
  }

  /** Makes an entry ready, or blocks it if it is a retry without budget. */
  #comeIn(entry: Entry): void {
    if (this.#budget === undefined || entry.start !== "retry") this.ready.push(entry);
    else {
      this.blocked.push(entry);
      this.#open();
    }
  }

  /** Makes blocked retries ready while there is budget. */
  #open(): void {
    while (this.blocked.length > 0 && this.#budget!.withdraw(this.now)) this.ready.push(this.blocked.shift()!);
  }

  /** Number of entries that are ready, blocked or processing. */
  get #left(): number {
    return this.ready.length + this.blocked.length + this.processing.length;
  }

  get #isOver(): boolean {
    return this.closed === "yes" && this.ready.length + this.blocked.length === 0;
  }

  /** Serves pending calls to `get` as long as items are ready. */
  #serve(): void {
    while (this.getters.length > 0 && this.ready.length > 0) {
      this.given.push({ to: this.getters.shift()!, what: this.take()!.item });
    }
    if (this.#isOver) this.#giveAll("getters", "shutdown");
    this.#settle();
  }

  /**
   * Ends drains. Once no item is delayed, a draining queue closes, unless its remaining items may be retried. Once the
   * queue has no items at all, the drain is complete.
   */
  #settleDrainers(): void {
    if (this.drainers.length > 0 && this.delayed.length === 0) {
      if (this.policy === "drop" || this.#left === 0) this.#close();
      if (this.#left === 0) this.#giveAll("drainers", "drained");
    }
    this.#settle();
  }

  #close(): void {
    this.closed = "yes";
    if (this.#isOver) this.#giveAll("getters", "shutdown");
    this.#settle();
  }

  #giveAll(who: "getters" | "drainers", what: "shutdown" | "drained"): void {
    for (const to of this[who].splice(0)) this.given.push({ to, what });
  }
}

function removeKey<E extends Entry>(entries: E[], key: number): E | undefined {
  const index = entries.findIndex(({ item }) => item.key === key);
  return index === -1 ? undefined : entries.splice(index, 1)[0];
}

/** Merges another add of the same key into an entry. The entry takes the newer item and the higher priority. */
function fold(entry: Entry, added: Entry): void {
  entry.item = added.item;
  entry.priority = Math.max(entry.priority, added.priority);
}
