/** What there is of an item that is ready or waiting. */
interface Place {
  readonly item: number;
  priority: number;
  /** The priority that it became ready with; it may have been raised since. */
  readyWith: number;
  /** Orders the items of one priority. */
  place: number;
  /** When it becomes ready; `undefined` if it is. */
  due: number | undefined;
}

/**
 * Strict priorities with one record an item, in the plainest way there is: as we promise them, or as
 * controller-runtime has them. These differ in who is where among items of one priority:
 *
 * - an item that is added again while it is held has its place from when the work is done; there, from the add;
 * - one that waits and is added now, from now on; there, from the add that let it wait;
 * - one that waits and is raised, among those that are due at the same time, from when it began to wait; there, from
 *   the raise.
 */
export class StrictOrder {
  #time = 0;
  #lastPlace = 0;
  readonly #places = new Map<number, Place>();
  readonly #processing = new Set<number>();

  constructor(readonly whose: "ours" | "theirs") {}

  /** How many are ready. Those that are held and were added again count there, and not here. */
  get length(): number {
    return this.#ready().filter(({ item }) => this.whose === "theirs" || !this.#processing.has(item)).length;
  }

  /** How many items are ready by priority: here by that which they became ready with, there by that which they have. */
  depths(): Map<number, number> {
    const depths = new Map<number, number>();
    for (const its of this.#ready()) {
      const priority = this.whose === "ours" ? its.readyWith : its.priority;
      depths.set(priority, (depths.get(priority) ?? 0) + 1);
    }
    return depths;
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
    its.due = its.due === undefined || due === undefined ? undefined : Math.min(its.due, due);
    its.priority = Math.max(its.priority, priority);
    const isReady = its.due === undefined;
    if (waited) its.readyWith = its.priority;
    const moves = this.whose === "theirs" ? isRaised : isReady && (isRaised || waited);
    if (moves) its.place = this.#lastPlace++;
  }

  /** Lets time pass. */
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
    if (wasAddedAgain && this.whose === "ours") its.place = this.#lastPlace++;
  }

  #ready(): Place[] {
    return [...this.#places.values()].filter(({ due }) => due === undefined);
  }
}
