/** What two items with one key are told apart by. */
export interface Item {
  readonly key: number;
  readonly version: number;
}

/** How long a key waits after so many failures, in milliseconds. */
export const BASE_DELAY = 4;
export const MAX_DELAY = 64;

type Policy = "drop" | "flush" | "wait";

/** An item, and the highest priority that it was added with. */
export interface Entry {
  item: Item;
  priority: number;
}

/** Which entry is next. */
export type Next = (ready: readonly Entry[]) => Entry | undefined;

/**
 * The whole rate-limiting queue once more, as plainly as it can be said: arrays that are searched and
 * sorted. Time is a number; a call of `get` or a drain that waits is a name.
 */
export class PlainQueue {
  now = 0;
  closed: "no" | "draining" | "yes" = "no";
  policy: Policy = "drop";
  /** In the order in which they became ready. */
  readonly ready: Entry[] = [];
  readonly processing: Entry[] = [];
  readonly again: Entry[] = [];
  readonly delayed: (Entry & { deadline: number })[] = [];
  readonly failures: number[] = [];
  getters: string[] = [];
  drainers: string[] = [];
  /** The items that a shutdown dropped. */
  readonly dropped: Item[] = [];
  /** Calls of `whenIdle` and `whenBelow` that wait. */
  waits: { name: string; isOver: () => boolean }[] = [];
  /** What each call that waited was given, in the order of giving. */
  readonly given: { to: string; what: Item | "shutdown" | "drained" | "aborted" | "over" }[] = [];

  constructor(readonly next: Next, readonly addWhileDelayed: "keep" | "replace") {}

  add(item: Item, priority: number): void {
    if (this.closed !== "no") return;
    this.#addNow({ item, priority });
    this.#serve();
  }

  addAfter(item: Item, delay: number, priority: number): void {
    if (this.closed === "no") this.#addAfter({ item, priority }, delay);
    this.#serve();
  }

  /** Tells whether the item was waiting. */
  cancelDelayed(key: number): boolean {
    const wasWaiting = removeKey(this.delayed, key) !== undefined;
    this.#settleDrainers();
    return wasWaiting;
  }

  #addNow(entry: Entry): void {
    const waiting = this.delayed.find(({ item }) => item.key === entry.item.key);
    if (waiting !== undefined && this.addWhileDelayed === "replace") {
      removeKey(this.delayed, entry.item.key);
      entry = { ...entry, priority: Math.max(entry.priority, waiting.priority) };
    } else if (waiting !== undefined) waiting.item = entry.item;
    this.#deliver(entry);
  }

  #addAfter(entry: Entry, delay: number): void {
    const { key } = entry.item;
    const isComing = [...this.ready, ...this.again].some(({ item }) => item.key === key);
    if (delay <= 0 || (this.addWhileDelayed === "replace" && isComing)) return this.#addNow(entry);
    const deadline = this.now + delay;
    const waiting = this.delayed.find(({ item }) => item.key === key);
    if (waiting === undefined) {
      this.delayed.push({ ...entry, deadline });
    } else {
      fold(waiting, entry);
      waiting.deadline = Math.min(waiting.deadline, deadline);
    }
  }

  addRateLimited(item: Item, priority: number, minDelay: number): void {
    const failures = this.failures[item.key] ?? 0;
    this.failures[item.key] = failures + 1;
    const isRetry = this.closed === "draining" && this.policy !== "drop" &&
      this.processing.some((each) => each.item.key === item.key);
    const delay = Math.max(Math.min(BASE_DELAY * 2 ** failures, MAX_DELAY), minDelay);
    if (this.closed === "no" || isRetry) this.#addAfter({ item, priority }, delay);
    this.#serve();
  }

  forget(key: number): void {
    this.failures[key] = 0;
  }

  /** Takes an item without waiting. */
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

  /** There is less to do than before: calls that waited for that go on. */
  #settle(): void {
    for (const { name } of this.waits.filter(({ isOver }) => isOver())) this.given.push({ to: name, what: "over" });
    this.waits = this.waits.filter(({ isOver }) => !isOver());
  }

  /** Ends a drain as `shutDown` does; the others that wait resolve. */
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

  /** Time passes, from one deadline to the next. */
  pass(ms: number): void {
    const end = this.now + ms;
    while (this.now < end) this.sleep(Math.min(...this.delayed.map(({ deadline }) => deadline), end) - this.now);
    this.sleep(0);
  }

  /** It is later at once; what is due is added, in the order of the deadlines, and equal ones as they were added. */
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
    this.dropped.push(...this.delayed.splice(0).map(({ item }) => item));
  }

  #deliverDelayed(due: (Entry & { deadline: number })[]): void {
    for (const { item, priority } of due.sort((a, b) => a.deadline - b.deadline)) {
      removeKey(this.delayed, item.key);
      this.#deliver({ item, priority });
    }
    this.#serve();
    this.#settleDrainers();
  }

  #deliver(entry: Entry): void {
    const { key } = entry.item;
    const isHeld = this.processing.some(({ item }) => item.key === key);
    const entries = isHeld ? this.again : this.ready;
    const other = entries.find(({ item }) => item.key === key);
    if (other !== undefined) fold(other, entry);
    else entries.push(entry);
  }

  /** Gives what is ready to those who wait in `get`. */
  #serve(): void {
    while (this.getters.length > 0 && this.ready.length > 0) {
      this.given.push({ to: this.getters.shift()!, what: this.take()!.item });
    }
    this.#settle();
  }

  /**
   * Once nothing waits for its delay, a queue that drains closes, unless it takes retries of what is left; once nothing
   * is left at all, it has drained.
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

/** The newest item and the highest priority count. */
function fold(entry: Entry, added: Entry): void {
  entry.item = added.item;
  entry.priority = Math.max(entry.priority, added.priority);
}
