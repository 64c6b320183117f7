/** Record of a ready or delayed item. */
interface Place {
  readonly item: number;
  priority: number;
  /** Priority that the item had when it became ready. The item's priority may have been raised since then. */
  readyWith: number;
  /** Position among items with the same priority. */
  place: number;
  /** Time when the item becomes ready; `undefined` if it is already ready. */
  due: number | undefined;
}

/** Queue that a {@linkcode StrictOrder} models: this package's, in memory or in an engine, or controller-runtime's. */
export type Whose = "ours" | "ours in an engine" | "theirs";

/**
 * Simple model of a queue with strict priorities and one record per item: either this package's queue ("ours") or
 * controller-runtime's queue ("theirs"). The two models order items of the same priority differently in these cases:
 *
 * - An item is added again while processing. In "ours", the item's place is determined by `done`; in "theirs", by the
 *   second add.
 * - An item is added again, without a delay, while it is delayed. In "ours", the item's place is determined by this
 *   add; in "theirs", by the earlier add.
 * - The priority of a delayed item is raised, and the item is due at the same time as other items. In "ours", the
 *   item's place is determined by the start of its delay; in "theirs", by the raise.
 *
 * "Ours in an engine" differs from "ours" in one case: if the delay of an item is shortened, so that the item is due at
 * the same time as others, the item's place is determined by the shortening, not by the start of its delay.
 */
export class StrictOrder {
  #time = 0;
  #lastPlace = 0;
  readonly #places = new Map<number, Place>();
  readonly #processing = new Set<number>();

  constructor(readonly whose: Whose) {}

  /** Number of ready items. Only "theirs" includes items that were added again while processing. */
  get length(): number {
    return this.#ready().filter(({ item }) => this.whose === "theirs" || !this.#processing.has(item)).length;
  }

  /**
   * Returns the number of ready items by priority. In "ours", an item counts under the priority that it had when it
   * became ready; in "theirs", under its current priority.
   */
  depths(): Map<number, number> {
    const depths = new Map<number, number>();
    for (const its of this.#ready()) {
      const priority = this.whose === "theirs" ? its.priority : its.readyWith;
      depths.set(priority, (depths.get(priority) ?? 0) + 1);
    }
    return depths;
  }

  /** Returns the times when delayed items become ready. */
  dues(): Map<number, number> {
    const delayed = [...this.#places.values()].filter(({ due }) => due !== undefined);
    return new Map(delayed.map(({ item, due }) => [item, due!]));
  }

  add(item: number, priority: number, delay: number): void {
    const due = delay > 0 ? this.#time + delay : undefined;
    const its = this.#places.get(item);
    if (its === undefined) {
      this.#places.set(item, { item, priority, readyWith: priority, due, place: this.#lastPlace++ });
      return;
    }
    const waited = its.due !== undefined;
    const isRaised = priority > its.priority;
    const before = its.due;
    its.due = its.due === undefined || due === undefined ? undefined : Math.min(its.due, due);
    its.priority = Math.max(its.priority, priority);
    const isReady = its.due === undefined;
    if (waited) its.readyWith = its.priority;
    const isShortened = this.whose === "ours in an engine" && its.due !== before;
    const moves = this.whose === "theirs" ? isRaised : isReady ? isRaised || waited : isShortened;
    if (moves) its.place = this.#lastPlace++;
  }

  /** Moves time forward. */
  pass(duration: number): void {
    this.#time += duration;
    const due = [...this.#places.values()].filter((its) => its.due !== undefined && its.due <= this.#time);
    for (const its of due.sort((a, b) => a.due! - b.due! || a.place - b.place)) {
      its.due = undefined;
      its.place = this.#lastPlace++;
    }
  }

  /** Hands out the next item. */
  take(): { readonly item: number; readonly priority: number } | undefined {
    const [next] = this.#ready()
      .filter(({ item }) => !this.#processing.has(item))
      .sort((a, b) => b.priority - a.priority || a.place - b.place);
    if (next === undefined) return undefined;
    this.#places.delete(next.item);
    this.#processing.add(next.item);
    return next;
  }

  done(item: number): void {
    const its = this.#places.get(item);
    const wasAddedAgain = this.#processing.delete(item) && its !== undefined && its.due === undefined;
    if (wasAddedAgain && this.whose !== "theirs") its.place = this.#lastPlace++;
  }

  #ready(): Place[] {
    return [...this.#places.values()].filter(({ due }) => due === undefined);
  }
}
