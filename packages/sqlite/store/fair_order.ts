import { endPause, FairShare, newFrom, setPause } from "@workqueue/core/internal/policy";
import { type FairPlan, LINE_TRAITS, type LinePlan } from "@workqueue/engine";
import { type Group, Groups } from "./groups.ts";
import { type Item, leaveLine } from "./item.ts";
import { movesBehind, requireLine, scoreOf } from "./line_order.ts";
import type { BlockedGroup, Order, Taken } from "./order.ts";
import type { Transaction } from "./transaction.ts";

/** Query for the next keys of a group. */
const NEXT = "line = ? AND grp = ? AND score IS NOT NULL ORDER BY score, turn LIMIT ?";

/** Start-time fair queuing over groups. */
export class FairOrder implements Order {
  readonly #tx: Transaction;
  readonly #groups: Groups;
  readonly #separator: string;
  readonly #within: LinePlan;
  readonly #share: FairShare;
  readonly #maxPerGroup: number;
  readonly #isByTime: boolean;
  /** Time at which groups are settled. */
  #clock: number;

  constructor(tx: Transaction, [, separator, within, limit, interval, burst, byTime]: FairPlan) {
    this.#tx = tx;
    this.#groups = new Groups(tx);
    this.#separator = separator;
    this.#within = requireLine(within);
    this.#maxPerGroup = limit > 0 ? limit : Infinity;
    this.#isByTime = byTime === 1;
    const rules = { maxPerGroup: this.#maxPerGroup, interval, burst, isByTime: this.#isByTime, round: Math.ceil };
    this.#share = new FairShare(rules, this.#groups.state);
    this.#clock = tx.now;
  }

  get ages(): boolean {
    return LINE_TRAITS[this.#within[0]].ages;
  }

  get ready(): number {
    return this.#groups.state.ready;
  }

  groupOf(key: string): string {
    return key.split(this.#separator, 1)[0]!;
  }

  flush(): void {
    this.#groups.flush();
  }

  // ---- Keys

  add(item: Item, place: number): void {
    const group = this.#groups.named(this.groupOf(item.key));
    item.line = this.#tx.state.line;
    item.place = item.turn = place;
    item.grp = group.name;
    item.score = scoreOf(this.#within, place, item.priority);
    group.size++;
    this.#settle(group);
  }

  blocks(item: Item): boolean {
    return this.#groups.named(item.grp!).ready === 0;
  }

  remove(item: Item): void {
    const group = this.#groups.named(item.grp!);
    leaveLine(item);
    group.size--;
    this.#settle(group);
  }

  raised(item: Item, before: number): void {
    const score = scoreOf(this.#within, item.place!, item.priority);
    if (score === scoreOf(this.#within, item.place!, before)) return;
    item.score = score;
    if (movesBehind(this.#within)) item.turn = this.#tx.tick();
  }

  take(count: number): Taken[] {
    const taken: Taken[] = [];
    const read = new Map<Group, { items: Item[]; given: number }>();
    while (taken.length < count) {
      const group = this.#groups.first();
      if (group === undefined) break;
      let keys = read.get(group);
      if (keys === undefined) read.set(group, keys = { items: [], given: 0 });
      if (keys.items.length === 0) {
        keys.items = this.#tx.items(NEXT, ...this.#next(group, Math.min(keys.given + 1, count - taken.length)));
      }
      const item = keys.items.shift()!;
      keys.given++;
      const place = item.place!;
      leaveLine(item);
      this.#groups.endTurn(group);
      group.size--;
      item.note = this.#handOut(group, item.key);
      this.#endTurn(group);
      taken.push({ item, place });
    }
    return taken;
  }

  list(count: number): Readonly<Item>[] {
    const turns = this.#turns(count);
    const counts = new Map<Group, number>();
    for (const group of turns) counts.set(group, (counts.get(group) ?? 0) + 1);
    const rows = new Map(Array.from(counts, ([group, count]) => {
      return [group, this.#tx.rows(NEXT, ...this.#next(group, count)).values()];
    }));
    return turns.map((group) => rows.get(group)!.next().value!);
  }

  /** Returns the groups of the next keys, without changing them. */
  #turns(count: number): Group[] {
    const turns: Group[] = [];
    const waiting = this.#groups.next(count).map((group) => ({ group, start: group.start, left: group.ready }));
    while (turns.length < count && waiting.length > 0) {
      const first = waiting.shift()!;
      turns.push(first.group);
      if (--first.left === 0) continue;
      first.start += this.#share.costOf(first.group);
      let [from, to] = [0, waiting.length]; // behind all groups with the same start
      while (from < to) {
        const middle = (from + to) >> 1;
        if (waiting[middle]!.start <= first.start) from = middle + 1;
        else to = middle;
      }
      waiting.splice(from, 0, first);
    }
    return turns;
  }

  /** Returns the values for `NEXT`. */
  #next(group: Group, count: number): [line: number, group: string, count: number] {
    return [this.#tx.state.line, group.name, count];
  }

  admits(item: Item): boolean {
    const group = this.#groups.find(this.groupOf(item.key));
    return group === undefined ||
      group.processing < this.#maxPerGroup && this.#share.allowedAt(group, this.#clock) >= 1;
  }

  admit(item: Item): void {
    const group = this.#groups.named(this.groupOf(item.key));
    if (group.turn === null) group.start = this.#share.nextStart(group, false);
    item.note = this.#handOut(group, item.key);
    this.#endTurn(group);
  }

  adopt(item: Item): void {
    if (this.#maxPerGroup === Infinity) return;
    const group = this.#groups.named(this.groupOf(item.key));
    group.processing++;
    item.note = "n";
    this.#settle(group);
  }

  ended({ key, token, note }: Item): void {
    if (note === null) return;
    const group = this.#groups.find(this.groupOf(key));
    if (group === undefined) return;
    this.#share.end(group, key);
    const charged = Number(note);
    if (this.#isByTime && !Number.isNaN(charged)) {
      const more = this.#share.correct(group, Math.max(this.#clock - token!, 0), charged);
      if (more !== 0 && group.turn !== null) this.#groups.beginTurn(group, group.start + more);
    }
    this.#settle(group);
  }

  // ---- Groups

  pauseGroup(name: string, until: number): void {
    const group = this.#groups.named(name);
    setPause(group, until);
    this.#settle(group);
  }

  resumeGroup(name: string): void {
    const group = this.#groups.find(name);
    if (group === undefined || group.pause === null) return;
    endPause(group);
    this.#settle(group);
  }

  nextChange(): number | undefined {
    return this.#groups.nextChange();
  }

  advance(time: number): void {
    this.#clock = time;
    for (const group of this.#groups.changed(time)) this.#settle(group);
  }

  blockedGroups(count: number): BlockedGroup[] {
    return this.#groups.blocked(count).map((group) => {
      const { reason, until } = this.#share.blockOf(group, this.#clock);
      return {
        group: group.name,
        blocked: group.size - group.ready,
        reason,
        changesAt: until < Infinity ? until : undefined,
      };
    });
  }

  /** Hands out a key of a group. Returns the note for the holder: whether and how the end of the work counts. */
  #handOut(group: Group, key: string): string | null {
    const cost = this.#share.handOut(group, key, this.#clock);
    if (this.#maxPerGroup === Infinity && !this.#isByTime && group.pause === null) return null;
    group.processing++;
    return this.#isByTime ? String(Math.round(cost / group.cost)) : "n";
  }

  #endTurn(group: Group): void {
    this.#settle(group, true);
    const { state } = this.#groups;
    if (state.turning === 0) state.virtual = state.latest;
  }

  /** Updates the values that depend on a group. Called after each change to the group. */
  #settle(group: Group, hadTurn = false): void {
    const before = group.ready;
    const changesAt = this.#share.limit(group, group.size, this.#clock);
    this.#groups.state.ready += group.ready - before;
    if (group.ready === 0) this.#groups.endTurn(group);
    else if (hadTurn || group.turn === null) this.#groups.beginTurn(group, this.#share.nextStart(group, hadTurn));
    const isIdle = group.size === 0 && group.processing === 0;
    const changes = !isIdle && changesAt < Infinity ? changesAt : null;
    if (changes !== group.changes_at) [group.changes_at, group.changes_turn] = [changes, this.#tx.tick()];
    group.idle_until = isIdle ? Math.max(this.#share.keptUntil(group), this.#clock) : null;
    group.idle_finish = isIdle ? newFrom(group) : null;
  }
}
