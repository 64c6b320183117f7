import { headStartOf, priorityWithin } from "@workqueue/core/internal/policy";
import { entryOf, LINE_TRAITS, type LineKind, type LinePlan } from "@workqueue/engine";
import { PRODUCT } from "../product.ts";
import { type Item, leaveLine } from "./item.ts";
import type { BlockedGroup, Order, Taken } from "./order.ts";
import type { Transaction } from "./transaction.ts";

/** Function that returns the score of a key that became ready at `place`. Smaller scores are handed out first. */
type ScoreOf<Plan> = (plan: Plan, place: number, priority: number) => number;

/** Scores, by kind of order. */
const SCORES: { readonly [Kind in LineKind]: ScoreOf<Extract<LinePlan, readonly [Kind, ...unknown[]]>> } = {
  fifo: () => 0,
  aging: ([, min, max, point], place, priority) =>
    place - Math.round(headStartOf(min, point, priorityWithin(min, max, priority))),
  strict: ([, min, max], _, priority) => -priorityWithin(min, max, priority),
};

/**
 * Returns the plan of the order within each group.
 *
 * @throws {TypeError} If this release doesn't know the order.
 */
export function requireLine(plan: LinePlan): LinePlan {
  entryOf(SCORES, PRODUCT, "discipline", plan[0]);
  return plan;
}

/** Returns the score of a key that became ready at `place`. Keys with smaller scores are handed out first. */
export function scoreOf(plan: LinePlan, place: number, priority: number): number {
  return (SCORES[plan[0]] as ScoreOf<LinePlan>)(plan, place, priority);
}

/** Reports whether raising the priority of a key puts it behind the keys that had this priority before. */
export function movesBehind([kind]: LinePlan): boolean {
  return LINE_TRAITS[kind].movesBehind;
}

/** Order by priority, or by the time when keys became ready. */
export class LineOrder implements Order {
  readonly #tx: Transaction;
  readonly #plan: LinePlan;

  constructor(tx: Transaction, plan: LinePlan) {
    this.#tx = tx;
    this.#plan = plan;
  }

  get ages(): boolean {
    return LINE_TRAITS[this.#plan[0]].ages;
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

  blocks(): boolean {
    return false;
  }

  remove(item: Item): void {
    leaveLine(item);
  }

  raised(item: Item, before: number): void {
    const score = scoreOf(this.#plan, item.place!, item.priority);
    if (score === scoreOf(this.#plan, item.place!, before)) return;
    item.score = score;
    if (movesBehind(this.#plan)) item.turn = this.#tx.tick();
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
    // If a due key is still delayed, keys that became ready after its deadline wait.
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
