import { type FairPlan, LINE_TRAITS, type LinePlan } from "@workqueue/engine";
import { type Group, Groups } from "./groups.ts";
import { type Item, leaveLine } from "./item.ts";
import { movesBehind, requireLine, scoreOf } from "./line_order.ts";
import type { BlockedGroup, Order, Taken } from "./order.ts";
import type { Transaction } from "./transaction.ts";

/** Maximum weight of the past in a mean, in values. */
const MAX_COUNT = 100;
/** Mean duration of a queue that has none, in microseconds. */
const FIRST_MEAN = 1000;

/** End of a turn after all others, in virtual time. */
const LAST = 1e300;

/** Query for the next keys of a group. */
const NEXT = "line = ? AND grp = ? AND score IS NOT NULL ORDER BY score, turn LIMIT ?";

/** Start-time fair queuing over groups, as in memory: see disciplines/fair_order.ts of the core. */
export class FairOrder implements Order {
  readonly #tx: Transaction;
  readonly #groups: Groups;
  readonly #separator: string;
  readonly #within: LinePlan;
  readonly #maxPerGroup: number;
  readonly #interval: number;
  readonly #burst: number;
  readonly #isByTime: boolean;
  /** Time at which groups are settled. */
  #clock: number;

  constructor(tx: Transaction, [, separator, within, limit, interval, burst, byTime]: FairPlan) {
    this.#tx = tx;
    this.#groups = new Groups(tx);
    this.#separator = separator;
    this.#within = requireLine(within);
    this.#maxPerGroup = limit > 0 ? limit : Infinity;
    this.#interval = interval;
    this.#burst = burst;
    this.#isByTime = byTime === 1;
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
      first.start += this.#costOf(first.group);
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
    return group === undefined || group.processing < this.#maxPerGroup && this.#allowed(group) >= 1;
  }

  admit(item: Item): void {
    const group = this.#groups.named(this.groupOf(item.key));
    if (group.turn === null) group.start = Math.max(this.#groups.state.virtual, group.finish);
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
    const { state } = this.#groups;
    group.processing = Math.max(group.processing - 1, 0);
    if (group.probe === key) group.pause = group.probe = null;
    const charged = Number(note);
    if (this.#isByTime && !Number.isNaN(charged)) {
      const duration = Math.max(this.#clock - token!, 0);
      group.count = Math.min(group.count + 1, MAX_COUNT);
      group.mean += (duration - group.mean) / group.count;
      state.count = Math.min(state.count + 1, MAX_COUNT);
      state.mean += (duration - state.mean) / state.count;
      const more = group.cost * (duration - charged);
      group.finish += more;
      state.latest = Math.max(state.latest, group.finish);
      if (more !== 0 && group.turn !== null) this.#groups.beginTurn(group, group.start + more);
    }
    this.#settle(group);
  }

  // ---- Groups

  pauseGroup(name: string, until: number): void {
    const group = this.#groups.named(name);
    if (group.pause === null || group.pause < until) [group.pause, group.probe] = [until, null];
    this.#settle(group);
  }

  resumeGroup(name: string): void {
    const group = this.#groups.find(name);
    if (group === undefined || group.pause === null) return;
    group.pause = group.probe = null;
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
      const common = { group: group.name, blocked: group.size - group.ready };
      if (group.pause !== null) {
        return group.pause > this.#clock
          ? { ...common, reason: "paused", changesAt: group.pause }
          : { ...common, reason: "probing", changesAt: undefined };
      }
      return this.#interval > 0 && this.#allowed(group) <= group.ready
        ? { ...common, reason: "rate", changesAt: this.#allowsMoreAt(group) }
        : { ...common, reason: "limit", changesAt: undefined };
    });
  }

  /** Returns the number of keys that the rate and a pause of the group allow to hand out now. */
  #allowed(group: Group): number {
    const byRate = this.#interval > 0 ? this.#tokens(group) : Infinity;
    if (group.pause === null) return byRate;
    return group.pause > this.#clock || group.probe !== null ? 0 : Math.min(byRate, 1);
  }

  #tokens({ full_at }: Group): number {
    return Math.max(Math.floor(this.#burst - Math.max(full_at - this.#clock, 0) / this.#interval + 1e-9), 0);
  }

  /** Returns the time at which the rate and a pause allow more keys; infinity if that does not depend on the time. */
  #allowsMoreAt(group: Group): number {
    let [rateAt, tokens] = [Infinity, Infinity];
    if (this.#interval > 0) {
      tokens = this.#tokens(group);
      if (tokens < this.#burst) rateAt = Math.ceil(group.full_at - (this.#burst - tokens - 1) * this.#interval);
    }
    if (group.pause === null) return rateAt;
    const token = tokens === 0 ? rateAt : this.#clock;
    if (group.pause > this.#clock) return Math.max(group.pause, token);
    return group.probe === null && token > this.#clock ? token : Infinity;
  }

  #costOf({ cost, count, mean }: Group): number {
    const { state } = this.#groups;
    return this.#isByTime ? cost * (count > 0 ? mean : state.count > 0 ? state.mean : FIRST_MEAN) : cost;
  }

  /** Hands out a key of a group. Returns the note for the holder: whether and how the end of the work counts. */
  #handOut(group: Group, key: string): string | null {
    const { state } = this.#groups;
    const cost = this.#costOf(group);
    let note: string | null = null;
    if (this.#interval > 0) group.full_at = Math.max(group.full_at, this.#clock) + this.#interval;
    if (group.pause !== null) group.probe = key;
    if (this.#maxPerGroup < Infinity || this.#isByTime || group.pause !== null) {
      group.processing++;
      note = this.#isByTime ? String(Math.round(cost / group.cost)) : "n";
    }
    group.finish = group.start + cost;
    state.latest = Math.max(state.latest, group.finish);
    state.virtual = Math.max(state.virtual, group.start);
    return note;
  }

  #endTurn(group: Group): void {
    this.#settle(group, true);
    const { state } = this.#groups;
    if (state.turning === 0) state.virtual = state.latest;
  }

  /** Brings what depends on a group up to date. Called after each change to the group. */
  #settle(group: Group, hadTurn = false): void {
    const { state } = this.#groups;
    let ready = Math.max(0, Math.min(group.size, this.#maxPerGroup - group.processing));
    let changesAt = Infinity;
    if (this.#interval > 0 || group.pause !== null) {
      const allowed = this.#allowed(group);
      if (allowed < ready) [ready, changesAt] = [allowed, this.#allowsMoreAt(group)];
    }
    this.#groups.setReady(group, ready);
    if (ready === 0) this.#groups.endTurn(group);
    else if (hadTurn || group.turn === null) {
      const start = hadTurn && this.#isByTime ? group.start : state.virtual;
      this.#groups.beginTurn(group, Math.max(start, group.finish));
    }
    const isIdle = group.size === 0 && group.processing === 0;
    const changes = !isIdle && changesAt < Infinity ? changesAt : null;
    if (changes !== group.changes_at) [group.changes_at, group.changes_turn] = [changes, this.#tx.tick()];
    const kept = Math.max(this.#interval > 0 ? group.full_at : 0, group.pause ?? 0);
    group.idle_until = isIdle ? Math.max(kept, this.#clock) : null;
    // A pause is not forgotten when it is over, because a probe comes first.
    group.idle_finish = !isIdle ? null : group.pause === null ? group.finish : LAST;
  }
}
