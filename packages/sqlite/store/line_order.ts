import { type Item, leaveLine } from "./item.ts";
import type { BlockedGroup, Order, Taken } from "./order.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Plan of an order that does not depend on groups: see `discipline_plan.ts`.
 *
 * - `["fifo"]`;
 * - `["aging", MIN, MAX, POINT]`: by the time when a key became ready, minus POINT microseconds for each point of its
 *   priority above MIN;
 * - `["strict", MIN, MAX]`: by priority, and within a priority by the time when the key became ready or was raised.
 */
export type LinePlan =
  | readonly ["fifo"]
  | readonly ["aging", number, number, number]
  | readonly [
    "strict",
    number,
    number,
  ];

/** Returns the score of a key that became ready at `place`. Keys with smaller scores are handed out first. */
export function scoreOf(plan: LinePlan, place: number, priority: number): number {
  if (plan[0] === "fifo") return 0;
  const [kind, min, max, point = 0] = plan;
  const within = Math.max(min, Math.min(max, priority));
  return kind === "strict" ? -within : place - Math.round((within - min) * point);
}

/** Order by priority, or by the time when keys became ready. */
export class LineOrder implements Order {
  readonly #tx: Transaction;
  readonly #plan: LinePlan;

  constructor(tx: Transaction, plan: LinePlan) {
    this.#tx = tx;
    this.#plan = plan;
  }

  get ready(): number {
    this.#tx.flush();
    return this.#tx.state.ready;
  }

  add(item: Item, place: number): void {
    item.line = this.#tx.state.line;
    item.place = place;
    if (this.#plan[0] === "fifo") return; // the place is enough
    item.turn = place;
    item.grp = "";
    item.score = scoreOf(this.#plan, place, item.priority);
  }

  raised(item: Item, before: number): void {
    const score = scoreOf(this.#plan, item.place!, item.priority);
    if (score === scoreOf(this.#plan, item.place!, before)) return;
    item.score = score;
    if (this.#plan[0] === "strict") item.turn = this.#tx.tick();
  }

  take(count: number): Taken[] {
    return this.#tx.items(...this.#next(count)).map((item) => {
      const place = item.place!;
      leaveLine(item);
      return { item, place };
    });
  }

  list(count: number): Readonly<Item>[] {
    return this.#tx.rows(...this.#next(count));
  }

  /** Returns the query for the next keys, and its values. */
  #next(count: number): [where: string, ...values: number[]] {
    const { behind = Number.MAX_SAFE_INTEGER, state: { line } } = this.#tx;
    if (this.#plan[0] !== "fifo") {
      return ["line = ? AND grp = '' AND score IS NOT NULL ORDER BY score, turn LIMIT ?", line, count];
    }
    // Keys that became ready after a due key that still is delayed come later.
    return ["line = ? AND place <= ? ORDER BY place LIMIT ?", line, behind, count];
  }

  admits(): boolean {
    return true;
  }

  admit(): void {}

  adopt(): void {}

  ended(): void {}

  groupOf(): undefined {}

  advance(): void {}

  nextChange(): undefined {}

  pauseGroup(): void {}

  resumeGroup(): void {}

  blockedGroups(): BlockedGroup[] {
    return [];
  }

  flush(): void {}
}
