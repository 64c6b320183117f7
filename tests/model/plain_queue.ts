/** What two items with one key are told apart by. */
export interface Item {
  readonly key: number;
  readonly version: number;
}

/** How long a key waits after so many failures, in milliseconds. */
export const BASE_DELAY = 4;
export const MAX_DELAY = 64;

type Policy = "drop" | "flush" | "wait";

/**
 * The whole rate-limiting queue once more, as plainly as it can be said: arrays that are searched and
 * sorted. Time is a number; a call of `get` or a drain that waits is a name.
 */
export class PlainQueue {
  now = 0;
  closed: "no" | "draining" | "yes" = "no";
  policy: Policy = "drop";
  readonly ready: Item[] = [];
  readonly held: Item[] = [];
  readonly again: Item[] = [];
  readonly delayed: { item: Item; deadline: number }[] = [];
  readonly failures: number[] = [];
  getters: string[] = [];
  drainers: string[] = [];
  /** What each call that waited was given, in the order of giving. */
  readonly given: { to: string; what: Item | "shutdown" | "drained" | "aborted" }[] = [];

  constructor(readonly next: "first" | "last") {}

  add(item: Item): void {
    if (this.closed !== "no") return;
    const waiting = this.delayed.find((each) => each.item.key === item.key);
    if (waiting !== undefined) waiting.item = item;
    this.#deliver(item);
  }

  addAfter(item: Item, delay: number): void {
    if (this.closed === "no") this.#addAfter(item, delay);
  }

  #addAfter(item: Item, delay: number): void {
    if (delay <= 0) return this.add(item);
    const deadline = this.now + delay;
    const waiting = this.delayed.find((each) => each.item.key === item.key);
    if (waiting === undefined) {
      this.delayed.push({ item, deadline });
    } else {
      waiting.item = item;
      waiting.deadline = Math.min(waiting.deadline, deadline);
    }
  }

  addRateLimited(item: Item): void {
    const failures = this.failures[item.key] ?? 0;
    this.failures[item.key] = failures + 1;
    const isRetry = this.closed === "draining" && this.policy === "wait" &&
      this.held.some((each) => each.key === item.key);
    if (this.closed === "no" || isRetry) this.#addAfter(item, Math.min(BASE_DELAY * 2 ** failures, MAX_DELAY));
  }

  forget(key: number): void {
    this.failures[key] = 0;
  }

  /** Takes an item without waiting. */
  take(): Item | undefined {
    const item = this.next === "first" ? this.ready.shift() : this.ready.pop();
    if (item !== undefined) this.held.push(item);
    return item;
  }

  get(name: string): void {
    const item = this.take();
    if (item !== undefined) this.given.push({ to: name, what: item });
    else if (this.closed === "yes") this.given.push({ to: name, what: "shutdown" });
    else this.getters.push(name);
  }

  /** Ends a drain as `shutDown` does; the others that wait resolve. */
  abortDrain(name: string): void {
    if (!this.drainers.includes(name)) return;
    this.drainers = this.drainers.filter((each) => each !== name);
    this.given.push({ to: name, what: "aborted" });
    this.shutDown();
  }

  abort(name: string): void {
    if (!this.getters.includes(name)) return;
    this.getters = this.getters.filter((each) => each !== name);
    this.given.push({ to: name, what: "aborted" });
  }

  done(key: number): void {
    if (!remove(this.held, key)) return;
    const again = this.again.find((each) => each.key === key);
    if (again !== undefined) {
      remove(this.again, key);
      this.#becomeReady(again);
    }
    this.#settleDrainers();
  }

  /** Time passes; what is due is added, in the order of the deadlines, and equal ones as they were added. */
  pass(ms: number): void {
    this.now += ms;
    const due = this.delayed.filter(({ deadline }) => deadline <= this.now);
    this.#deliverDelayed(due);
  }

  shutDown(): void {
    this.delayed.length = 0;
    this.#close();
    this.#giveAll("drainers", "drained");
  }

  drain(name: string, policy: Policy): void {
    this.drainers.push(name);
    if (this.closed === "no") this.closed = "draining";
    this.policy = policy;
    if (policy === "flush") this.#deliverDelayed([...this.delayed]);
    if (policy !== "wait") this.delayed.length = 0;
    this.#settleDrainers();
  }

  #deliverDelayed(due: { item: Item; deadline: number }[]): void {
    for (const each of due.sort((a, b) => a.deadline - b.deadline)) {
      this.delayed.splice(this.delayed.indexOf(each), 1);
      this.#deliver(each.item);
    }
    this.#settleDrainers();
  }

  #deliver(item: Item): void {
    if (this.held.some((each) => each.key === item.key)) {
      if (!replace(this.again, item)) this.again.push(item);
    } else if (!replace(this.ready, item)) {
      this.#becomeReady(item);
    }
  }

  #becomeReady(item: Item): void {
    this.ready.push(item);
    const first = this.getters.shift();
    if (first !== undefined) this.given.push({ to: first, what: this.take()! });
  }

  /**
   * Once nothing waits for its delay, a queue that drains closes, unless it takes retries of what is left; once nothing
   * is left at all, it has drained.
   */
  #settleDrainers(): void {
    if (this.drainers.length === 0 || this.delayed.length > 0) return;
    const left = this.ready.length + this.held.length;
    if (this.policy !== "wait" || left === 0) this.#close();
    if (left === 0) this.#giveAll("drainers", "drained");
  }

  #close(): void {
    this.closed = "yes";
    this.#giveAll("getters", "shutdown");
  }

  #giveAll(who: "getters" | "drainers", what: "shutdown" | "drained"): void {
    for (const to of this[who].splice(0)) this.given.push({ to, what });
  }
}

function remove(items: Item[], key: number): boolean {
  const index = items.findIndex((each) => each.key === key);
  if (index !== -1) items.splice(index, 1);
  return index !== -1;
}

/** Puts an item in place of the one with its key, if there is one. */
function replace(items: Item[], item: Item): boolean {
  const index = items.findIndex((each) => each.key === item.key);
  if (index !== -1) items[index] = item;
  return index !== -1;
}
