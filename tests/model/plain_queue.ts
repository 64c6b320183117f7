/** Item whose version distinguishes it from other items with the same key. */
export interface Item {
  readonly key: number;
  readonly version: number;
}

/** Shortest and longest delay after a failure, in milliseconds. */
export const BASE_DELAY = 4;
export const MAX_DELAY = 64;

type Policy = "drop" | "flush" | "wait";

/** Item, and the highest priority that it was added with. */
export interface Entry {
  item: Item;
  priority: number;
}

/** Entry whose delay has not passed. */
interface DelayedEntry extends Entry {
  deadline: number;
  /** Whether adds are folded into the retry, because the key failed. */
  folds?: boolean;
  /** Whether an add was folded into the retry. */
  wasAdded?: boolean;
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
  readonly processing: Entry[] = [];
  readonly again: Entry[] = [];
  readonly delayed: DelayedEntry[] = [];
  readonly failures: number[] = [];
  getters: string[] = [];
  drainers: string[] = [];
  /** Items that were dropped by a shutdown. */
  readonly dropped: Item[] = [];
  /** Pending calls to `whenIdle` and `whenBelow`. */
  waits: { name: string; isOver: () => boolean }[] = [];
  /** Results of the pending calls, in order. */
  readonly given: { to: string; what: Item | "shutdown" | "drained" | "aborted" | "over" }[] = [];

  constructor(readonly next: Next, readonly addWhileDelayed: "keep" | "replace" | "fold") {}

  add(item: Item, priority: number): void {
    if (this.closed !== "no") return;
    this.#addNow({ item, priority });
    this.#serve();
  }

  addAfter(item: Item, delay: number, priority: number): void {
    if (this.closed === "no") this.#addAfter({ item, priority }, delay);
    this.#serve();
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
    const isComing = [...this.ready, ...this.again].some(({ item }) => item.key === key);
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
      delayed.deadline = Math.min(delayed.deadline, deadline);
    }
  }

  addRateLimited(item: Item, priority: number, minDelay: number): void {
    const delay = this.#delayAfterFailure(item.key, minDelay);
    if (this.takesBack(item.key)) this.#addAfter({ item, priority }, delay);
    this.#serve();
  }

  /** Adds a processing key again because a pool's attempt failed. The queue must take the key back. */
  fail(key: number, minDelay: number): void {
    const { item, priority } = this.processing.find((entry) => entry.item.key === key)!;
    const again = this.again.find((entry) => entry.item.key === key);
    const newest = this.delayed.find((entry) => entry.item.key === key) ?? again ?? { item };
    const delay = this.#delayAfterFailure(key, minDelay);
    const entry = { item: newest.item, priority };
    if (this.addWhileDelayed !== "fold") return this.#addAfter(entry, delay);
    removeKey(this.again, key);
    this.#delay({ ...entry, priority: Math.max(priority, again?.priority ?? priority) }, delay);
    const delayed = this.delayed.find((entry) => entry.item.key === key)!;
    delayed.folds = true;
    delayed.wasAdded = again !== undefined;
  }

  #delayAfterFailure(key: number, minDelay: number): number {
    const failures = this.failures[key] ?? 0;
    this.failures[key] = failures + 1;
    return Math.max(Math.min(BASE_DELAY * 2 ** failures, MAX_DELAY), minDelay);
  }

  /** Reports whether the queue accepts a retry of a key. */
  takesBack(key: number): boolean {
    const isProcessing = this.processing.some((each) => each.item.key === key);
    return this.closed === "no" || (this.closed === "draining" && this.policy !== "drop" && isProcessing);
  }

  forget(key: number): void {
    this.failures[key] = 0;
    for (const delayed of this.delayed) if (delayed.item.key === key) delayed.folds = false;
  }

  /** Takes the next entry, if any. */
  take(): Entry | undefined {
    const entry = this.next(this.ready);
    if (entry === undefined) return undefined;
    removeKey(this.ready, entry.item.key);
    this.processing.push(entry);
    this.#settle();
    return entry;
  }

  get(name: string): void {
    const entry = this.take();
    if (entry !== undefined) this.given.push({ to: name, what: entry.item });
    else if (this.closed === "yes") this.given.push({ to: name, what: "shutdown" });
    else this.getters.push(name);
  }

  whenIdle(name: string): void {
    this.#wait(name, () => this.ready.length + this.processing.length + this.delayed.length === 0);
  }

  whenBelow(name: string, count: number): void {
    this.#wait(name, () => this.closed !== "no" || this.ready.length + this.delayed.length < count);
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
    if (again !== undefined) this.ready.push(again);
    this.#serve();
    this.#settleDrainers();
  }

  /** Moves time forward, stopping at each deadline. */
  pass(ms: number): void {
    const end = this.now + ms;
    while (this.now < end) this.sleep(Math.min(...this.delayed.map(({ deadline }) => deadline), end) - this.now);
    this.sleep(0);
  }

  /**
   * Moves time forward in a single step. Due items are added in the order of their deadlines. Items with equal
   * deadlines are added in the order in which they were delayed.
   */
  sleep(ms: number): void {
    this.now += ms;
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
    if (policy === "flush") this.#deliverDelayed([...this.delayed]);
    if (policy === "drop") this.#drop();
    this.#settleDrainers();
  }

  #drop(): void {
    if (this.closed !== "yes") {
      const added = this.delayed.filter(({ folds, wasAdded }) => folds && wasAdded);
      for (const { item, priority } of added.sort((a, b) => a.deadline - b.deadline)) {
        removeKey(this.delayed, item.key);
        this.#deliver({ item, priority });
      }
      this.#serve();
    }
    this.dropped.push(...this.delayed.splice(0).map(({ item }) => item));
  }

  #deliverDelayed(due: DelayedEntry[]): void {
    for (const { item, priority } of due.sort((a, b) => a.deadline - b.deadline)) {
      removeKey(this.delayed, item.key);
      this.#deliver({ item, priority });
    }
    this.#serve();
    this.#settleDrainers();
  }

  #deliver(entry: Entry): void {
    const { key } = entry.item;
    const isProcessing = this.processing.some(({ item }) => item.key === key);
    const entries = isProcessing ? this.again : this.ready;
    const other = entries.find(({ item }) => item.key === key);
    if (other !== undefined) fold(other, entry);
    else entries.push(entry);
  }

  /** Serves pending calls to `get` as long as items are ready. */
  #serve(): void {
    while (this.getters.length > 0 && this.ready.length > 0) {
      this.given.push({ to: this.getters.shift()!, what: this.take()!.item });
    }
    this.#settle();
  }

  /**
   * Ends drains. Once no item is delayed, a draining queue closes, unless its remaining items may be retried. Once the
   * queue has no items at all, the drain is complete.
   */
  #settleDrainers(): void {
    if (this.drainers.length > 0 && this.delayed.length === 0) {
      const left = this.ready.length + this.processing.length;
      if (this.policy === "drop" || left === 0) this.#close();
      if (left === 0) this.#giveAll("drainers", "drained");
    }
    this.#settle();
  }

  #close(): void {
    this.closed = "yes";
    this.#giveAll("getters", "shutdown");
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
