import type { GiveUpReason } from "@workqueue/core";
import type { DisciplinePlan } from "@workqueue/engine";
import { Failures } from "./failures.ts";
import { GivenUpKeys } from "./given_up_keys.ts";
import { type Item, leaveLine, Line } from "./item.ts";
import type { Order } from "./order.ts";
import { newOrder } from "./orders.ts";
import { Owners } from "./owners.ts";
import { RetryBudget } from "./retry_budget.ts";
import { FAR } from "./time.ts";
import type { Transaction } from "./transaction.ts";
import { Waits } from "./waits.ts";
import { type Awaited, Waking } from "./waking.ts";

/** Maximum number of keys that one call moves to another order. A transaction must not take long. */
const MAX_MOVED = 200;

/** Parts of a queue, for the calls of one transaction. */
export class Queue implements Awaited {
  readonly tx: Transaction;
  readonly owners: Owners;
  readonly waking: Waking;
  readonly failures: Failures;
  readonly keptKeys: GivenUpKeys;
  readonly waits: Waits;
  #budget: RetryBudget | undefined = undefined;
  order: Order;

  constructor(tx: Transaction) {
    this.tx = tx;
    this.owners = new Owners(tx);
    this.waking = new Waking(this);
    this.failures = new Failures(tx);
    this.keptKeys = new GivenUpKeys(tx);
    this.waits = new Waits(tx);
    this.order = this.#newOrder();
  }

  /** Retry budget; `undefined` if the queue has none. */
  get budget(): RetryBudget | undefined {
    const { budget } = this.tx.state;
    return budget && (this.#budget ??= new RetryBudget(this, budget));
  }

  #newOrder(): Order {
    return newOrder(this.tx, this.tx.state.discipline ?? '["fifo"]');
  }

  /** Puts a discipline in force. Does nothing if it is in force already. */
  setDiscipline({ text, weights }: DisciplinePlan): void {
    const { tx } = this;
    const { sql, queue, state } = tx;
    if (state.discipline === text) return;
    for (const table of ["groups", "weights"]) sql.run(`DELETE FROM ${table} WHERE queue = ?`, queue);
    for (const { group, weight } of weights) {
      sql.run("INSERT INTO weights (queue, grp, weight) VALUES (?, ?, ?)", queue, group, weight);
    }
    state.discipline = text;
    delete state.groups;
    this.order = this.#newOrder();
    for (const item of tx.items("owner IS NOT NULL")) {
      item.note = null;
      this.order.adopt(item);
    }
    const paused = sql.all<{ grp: string; until: number }>(
      "SELECT grp, until FROM paused_groups WHERE queue = ? AND until > ?",
      queue,
      tx.now,
    );
    for (const { grp, until } of paused) this.order.pauseGroup(grp, until);
    tx.flush();
    state.line++; // `moveToOrder` moves the ready keys, some with each call
    state.lines[Line.EARLIER] += state.ready;
    state.ready = 0;
    this.waking.wakeForReady();
  }

  /** Moves some ready keys to the order in force, the oldest first, if they are still in the line of an earlier one. */
  moveToOrder(): void {
    const { tx } = this;
    const { state } = tx;
    if (state.lines[Line.EARLIER] === 0) return;
    for (const item of this.inEarlierLines(MAX_MOVED)) {
      const { place } = item;
      state.firstLine = item.line!;
      leaveLine(item);
      this.order.add(item, place!);
    }
    tx.flush();
    if (state.lines[Line.EARLIER] === 0) state.firstLine = state.line;
  }

  /** Returns keys that are in lines of earlier orders. */
  inEarlierLines(count: number): Item[] {
    const { tx } = this;
    const { state } = tx;
    const found: Item[] = [];
    for (let line = state.firstLine; line < state.line && found.length < count; line++) {
      found.push(...tx.items("line = ? ORDER BY place LIMIT ?", line, count - found.length));
    }
    return found;
  }

  /** Whether the queue is paused. While it is, no key is handed out and no process is woken. */
  get isPaused(): boolean {
    const { paused = false, pausedUntil = 0 } = this.tx.state;
    return paused || pausedUntil > this.tx.now;
  }

  get hasWork(): boolean {
    const { lines } = this.tx.state;
    return !this.isPaused && this.order.ready + lines[Line.EARLIER] + lines[Line.STALLED] + lines[Line.SUSPECT] > 0;
  }

  /**
   * Makes a key ready that is not processing. A key that is ready keeps its place, and has the higher of the two
   * priorities.
   */
  makeReady(item: Item, place: number, priority: number): void {
    this.keptKeys.revive(item);
    if (item.line !== null) {
      const before = item.priority;
      if (priority <= before) return;
      item.priority = priority;
      if (item.line === this.tx.state.line) this.order.raised(item, before);
      return;
    }
    item.priority = priority;
    if (item.stalls === 0) return this.order.add(item, place);
    item.line = item.stalls === 1 ? Line.STALLED : Line.SUSPECT;
    item.place = place;
  }

  /** Returns the next time at which keys may become ready; `undefined` if no such time is known. */
  nextChange(): number | undefined {
    const { paused = false, pausedUntil = 0, redrive } = this.tx.state;
    const step = redrive?.stepAt ?? Infinity;
    if (this.isPaused) {
      const first = Math.min(paused ? Infinity : pausedUntil, step);
      return first < Infinity ? first : undefined;
    }
    this.tx.flush();
    const change = Math.min(step, this.order.nextChange() ?? Infinity, this.budget?.opensAt() ?? Infinity);
    const next = this.tx.sql.get<{ due: number }>(
      "SELECT due FROM items WHERE queue = ? AND due IS NOT NULL ORDER BY due LIMIT 1",
      this.tx.queue,
    );
    const first = Math.min(next?.due ?? Infinity, change);
    return first < Infinity ? first : undefined;
  }

  /**
   * Stores a key as given up, and forgets its failures. The key must be in no state afterwards.
   *
   * @param uncounted The number of attempts that the limiter has not counted.
   * @param attempts The number of all attempts, if it is known. Failures may have been forgotten during the last one.
   * @returns The number of all attempts.
   */
  giveUp(item: Item, error: string, reason: GiveUpReason, uncounted: number, attempts?: number): number {
    const { state } = this.tx;
    const failure = this.failures.find(item.key);
    this.failures.forget(item.key);
    const all = attempts ?? uncounted + (failure?.count ?? 0);
    state.givenUp++;
    state.givenUpFor[reason] = (state.givenUpFor[reason] ?? 0) + 1;
    this.keptKeys.add(item, error, reason, all, failure?.since, this.order.groupOf(item.key));
    this.waits.end(item.key, `givenUp ${reason} ${error}`);
    return all;
  }

  pauseGroup(group: string, duration: number): void {
    const { sql, queue, now } = this.tx;
    sql.run("DELETE FROM paused_groups WHERE queue = ? AND until <= ?", queue, now);
    if (duration <= 0) return;
    const until = Math.min(now + duration, FAR);
    sql.run(
      `INSERT INTO paused_groups (queue, grp, until) VALUES (?, ?, ?)
        ON CONFLICT (queue, grp) DO UPDATE SET until = MAX(until, excluded.until)`,
      queue,
      group,
      until,
    );
    this.order.pauseGroup(group, until);
    this.waking.plan();
  }

  resumeGroup(group: string): void {
    const { sql, queue } = this.tx;
    sql.run("DELETE FROM paused_groups WHERE queue = ? AND grp = ?", queue, group);
    this.order.resumeGroup(group);
    this.waking.wakeForReady();
  }

  /** Ends a call. */
  endCall(): void {
    this.tx.endCall();
  }

  /** Writes everything that has changed. */
  end(): void {
    this.order.flush();
    this.tx.end();
  }

  /** Wakes processes for the keys that this call has made ready or delayed. */
  notify(): void {
    if (this.tx.mayChangeEarlier && this.waking.hasIdle) this.waking.plan();
    this.waking.wakeForReady();
  }
}
