import type { GroupNumbers } from "@workqueue/core/internal/policy";
import type { GroupState } from "./state.ts";
import type { Transaction } from "./transaction.ts";

/** Maximum number of idle groups that are remembered, in addition to those with a pause or a rate. */
const MAX_IDLE = 10_000;
/** Mean duration that is assumed for a queue in which no key is done, in microseconds. */
const FIRST_MEAN = 1000;
/** Maximum number of groups that one call forgets. */
const BATCH = 200;

/** Row of a group. Names are those of the columns. Times are in microseconds. */
export interface Group extends GroupNumbers {
  readonly name: string;
  /** Number of the turn; null if the group has none. Decides between turns with equal starts. */
  turn: number | null;
  /** Number of keys that are ready or blocked. */
  size: number;
  probe: string | null;
  /** Time at which the group may have more ready keys. */
  changes_at: number | null;
  /** Decides between equal times: the group that was blocked first goes first. */
  changes_turn: number;
  /** Time until which an idle group must be remembered. Null unless the group is idle. */
  idle_until: number | null;
  /** Virtual time from which an idle group behaves like a new one. Null unless the group is idle. */
  idle_finish: number | null;
}

const COLUMNS = [
  ...["name", "start", "turn", "finish", "processing", "ready", "size", "cost", "full", "mean", "count"],
  ...["pause", "probe", "changes_at", "changes_turn", "idle_until", "idle_finish"],
] as readonly (keyof Group)[];
const SAVE = `INSERT OR REPLACE INTO groups (queue, ${COLUMNS.join(", ")}) VALUES (?, ${
  COLUMNS.map(() => "?").join(", ")
})`;

/** Groups of one queue, in one transaction. Changes are kept in memory until they are needed in the database. */
export class Groups {
  readonly state: GroupState;
  readonly #tx: Transaction;
  readonly #loaded = new Map<string, { readonly group: Group; stored: Group | undefined }>();

  constructor(tx: Transaction) {
    this.#tx = tx;
    this.state = tx.state.groups ??= {
      virtual: 0,
      latest: 0,
      ready: 0,
      turning: 0,
      turns: 0,
      mean: FIRST_MEAN,
      count: 0,
      idle: 0,
      total: 0,
    };
  }

  find(name: string): Group | undefined {
    const loaded = this.#loaded.get(name);
    if (loaded !== undefined) return loaded.group;
    const { sql, queue } = this.#tx;
    const row = sql.get<Group>("SELECT * FROM groups WHERE queue = ? AND name = ?", queue, name);
    return row && this.#load(row);
  }

  /** Returns a group, which may be new. */
  named(name: string): Group {
    const found = this.find(name);
    if (found !== undefined) return found;
    const { sql, queue } = this.#tx;
    const weight = sql.get<{ weight: number }>("SELECT weight FROM weights WHERE queue = ? AND grp = ?", queue, name);
    const group: Group = {
      name,
      start: 0,
      turn: null,
      finish: 0,
      processing: 0,
      ready: 0,
      size: 0,
      cost: 1 / (weight?.weight ?? 1),
      full: 0,
      mean: 0,
      count: 0,
      pause: null,
      probe: null,
      changes_at: null,
      changes_turn: 0,
      idle_until: null,
      idle_finish: null,
    };
    this.#loaded.set(name, { group, stored: undefined });
    return group;
  }

  beginTurn(group: Group, start: number): void {
    this.endTurn(group);
    this.state.turning++;
    group.start = start;
    group.turn = ++this.state.turns;
  }

  endTurn(group: Group): void {
    if (group.turn !== null) this.state.turning--;
    group.turn = null;
  }

  /** Returns the group whose turn is next; `undefined` if no group has a turn. */
  first(): Group | undefined {
    return this.next(1)[0];
  }

  /** Returns the groups whose turns are next. */
  next(count: number): Group[] {
    return this.#query("WHERE queue = ? AND turn IS NOT NULL ORDER BY start, turn LIMIT ?", count);
  }

  /** Returns groups whose time to change has come. */
  changed(now: number): Group[] {
    return this.#query("WHERE queue = ? AND changes_at <= ? ORDER BY changes_at, changes_turn LIMIT ?", now, BATCH);
  }

  nextChange(): number | undefined {
    const [first] = this.#query("WHERE queue = ? AND changes_at IS NOT NULL ORDER BY changes_at LIMIT ?", 1);
    return first?.changes_at ?? undefined;
  }

  /** Returns groups with blocked keys, in any order. */
  blocked(count: number): Group[] {
    return this.#query("INDEXED BY groups_with_blocked WHERE queue = ? AND ready < size LIMIT ?", count);
  }

  /** Writes the changes, and forgets idle groups whose last turn is over, or some if there are too many. */
  flush(): void {
    this.#write();
    const { state } = this;
    const { sql, queue, now } = this.#tx;
    if (state.idle === 0) return;
    const over = sql.all<{ name: string }>(
      "SELECT name FROM groups WHERE queue = ? AND idle_finish <= ? AND idle_until <= ? LIMIT ?",
      queue,
      state.virtual,
      now,
      BATCH,
    );
    const excess = Math.min(over.length > 0 ? 0 : state.idle - MAX_IDLE, BATCH);
    if (excess > 0) {
      over.push(...sql.all<{ name: string }>(
        `SELECT name FROM groups WHERE queue = ? AND idle_finish IS NOT NULL AND idle_until <= ?
          ORDER BY idle_finish LIMIT ?`,
        queue,
        now,
        excess,
      ));
    }
    for (const { name } of over) {
      sql.run("DELETE FROM groups WHERE queue = ? AND name = ?", queue, name);
      this.#loaded.delete(name);
    }
    state.idle -= over.length;
    state.total -= over.length;
    if (over.length > 0 && state.total === 0) state.virtual = state.latest = 0;
  }

  /** Returns the groups that a query finds. The query has the id of the queue as its first parameter. */
  #query(query: string, ...values: readonly number[]): Group[] {
    this.#write();
    const { sql, queue } = this.#tx;
    return sql.all<Group>(`SELECT * FROM groups ${query}`, queue, ...values)
      .map((row) => this.#loaded.get(row.name)?.group ?? this.#load(row));
  }

  #load(row: Group): Group {
    const group = { ...row };
    this.#loaded.set(row.name, { group, stored: row });
    return group;
  }

  #write(): void {
    const { sql, queue } = this.#tx;
    for (const loaded of this.#loaded.values()) {
      const { group, stored } = loaded;
      if (stored !== undefined && COLUMNS.every((column) => group[column] === stored[column])) continue;
      sql.run(SAVE, queue, ...COLUMNS.map((column) => group[column]));
      if (stored === undefined) this.state.total++;
      this.state.idle += Number(group.idle_finish !== null) - Number((stored?.idle_finish ?? null) !== null);
      loaded.stored = { ...group };
    }
  }
}
