import type { Statements } from "../database/statements.ts";
import { copyOf, isGone, type Item, Line, newItem, PARTS } from "./item.ts";
import { newState, type State } from "./state.ts";

/** If the clock goes back by more than this, in microseconds, it was set back. */
const STEP_BACK = 100_000;

/** Row of `items` together with its values in the database. */
interface Loaded {
  readonly item: Item;
  /** Values in the database. */
  stored: Item;
}

/** Contents that a transaction leaves in memory for the next one. */
interface Kept {
  /** Id of the queue in the database. */
  readonly queue: number;
  readonly state: State;
  /** State as JSON. */
  readonly text: string;
  /** Rows of the processing keys that a transaction has read. */
  readonly loaded: Map<string, Loaded>;
}

const COLUMNS = PARTS.flat();
/** Columns and statement of an update, by the parts that it changes: bit `i` stands for `PARTS[i]`. */
const UPDATES = Array.from({ length: 1 << PARTS.length }, (_, parts) => {
  const columns = PARTS.flatMap((part, i): readonly (keyof Item)[] => parts & 1 << i ? part : []);
  return { columns, sql: `UPDATE items SET ${columns.map((column) => `${column} = ?`).join(", ")} WHERE id = ?` };
});
const INSERT = `INSERT INTO items (queue, key, ${COLUMNS.join(", ")}) VALUES (${
  Array.from({ length: COLUMNS.length + 2 }, () => "?").join(", ")
})`;

/**
 * Calls of one transaction on one queue. Changes to the rows of keys are kept in memory until they are needed in the
 * database, or until the transaction ends. The numbers of keys in each state are counted when rows are written.
 */
export class Transaction {
  readonly state: State;
  /** Id of the queue in the database. */
  readonly queue: number;
  /** Time at which the transaction runs, by the time of the queue. */
  readonly now: number;
  readonly sql: Statements;
  /** Messages to send once the transaction has ended: for each process, the milliseconds until there may be work. */
  readonly messages = new Map<string, number>();
  /** Deadline of the first due key that was not made ready, if more keys are due than one call makes ready. */
  behind: number | undefined = undefined;
  /** Whether a key was delayed or blocked. It may be the next one that becomes ready with time. */
  mayChangeEarlier = false;
  /** Whether all due keys were made ready. */
  isUpToDate = false;
  readonly #loaded: Map<string, Loaded>;
  /** Rows that the current call may change. */
  readonly #active = new Set<Loaded>();
  readonly #before: string | undefined;
  readonly #kept: Map<string, unknown>;
  readonly #name: string;

  /**
   * @param sql The statements of the database, in which a transaction has begun.
   * @param kind Whether the calls are on a queue, or on a throttle that processes share.
   * @param name The name of the queue or of the throttle.
   * @param time The time of the clock, in microseconds.
   * @param kept Contents in memory, which are those of the file.
   */
  constructor(sql: Statements, kind: "queue" | "throttle", name: string, time: number, kept: Map<string, unknown>) {
    this.sql = sql;
    this.#kept = kept;
    this.#name = `${kind} ${name}`;
    const { queue, state, text, loaded } = kept.get(this.#name) as Kept | undefined ?? read(sql, kind, name);
    this.queue = queue;
    this.state = state;
    this.#before = text;
    this.#loaded = loaded;
    if (state.last - time - state.offset > STEP_BACK) state.offset = state.last - time;
    this.now = state.last = Math.max(state.last + 1, Math.floor(time + state.offset));
  }

  /** Returns a time that is later than all earlier ones. */
  tick(): number {
    return ++this.state.last;
  }

  /** Returns the row of a key. */
  item(key: string): Item {
    const loaded = this.#loaded.get(key);
    if (loaded !== undefined) return this.#activate(loaded);
    const row = this.sql.get<Item>("SELECT * FROM items WHERE queue = ? AND key = ?", this.queue, key);
    return this.#load(row ?? newItem(key));
  }

  /** Returns the rows that a query finds. The query has the id of the queue as its first parameter. */
  items(where: string, ...values: readonly (number | string)[]): Item[] {
    return this.rows(where, ...values).map((row) => {
      const loaded = this.#loaded.get(row.key);
      return loaded === undefined ? this.#load(row) : this.#activate(loaded);
    });
  }

  /** Returns the rows that a query finds, as {@linkcode items} does. The caller must not change the rows. */
  rows(where: string, ...values: readonly (number | string)[]): Readonly<Item>[] {
    this.flush();
    return this.sql.all(`SELECT * FROM items WHERE queue = ? AND ${where}`, this.queue, ...values);
  }

  #load(row: Item): Item {
    const item = copyOf(row);
    const loaded = { item, stored: { ...item } };
    this.#loaded.set(row.key, loaded);
    return this.#activate(loaded);
  }

  #activate(loaded: Loaded): Item {
    this.#active.add(loaded);
    return loaded.item;
  }

  /** Ends a call. Its rows don't change any more, unless a later call reads them. */
  endCall(): void {
    this.flush();
    this.#active.clear();
  }

  /** Writes the changed rows. A key that is in no state has no row. */
  flush(): void {
    for (const loaded of this.#active) this.#write(loaded);
  }

  #write(loaded: Loaded): void {
    const { item, stored } = loaded;
    let parts = 0;
    for (let i = 0; i < PARTS.length; i++) {
      for (const column of PARTS[i]!) if (item[column] !== stored[column]) parts |= 1 << i;
    }
    const isAbsent = isGone(item);
    if (parts === 0 || item.id === 0 && isAbsent) return;
    this.#count(stored, -1);
    if (isAbsent) {
      this.sql.run("DELETE FROM items WHERE id = ?", item.id);
      item.id = 0;
    } else if (item.id === 0) {
      const values = COLUMNS.map((column) => item[column]);
      item.id = Number(this.sql.run(INSERT, this.queue, item.key, ...values).lastInsertRowid);
    } else {
      const { columns, sql } = UPDATES[parts]!;
      this.sql.run(sql, ...columns.map((column) => item[column]), item.id);
    }
    this.#count(item, 1);
    loaded.stored = { ...item };
  }

  #count({ line, due, token }: Item, change: 1 | -1): void {
    const { state } = this;
    if (line === state.line) state.ready += change;
    else if (line !== null) state.lines[line < Line.FIRST ? line : Line.EARLIER]! += change;
    if (due !== null) state.delayed += change;
    if (token !== null) state.processing += change;
  }

  /** Writes everything that has changed. Nothing may be called after that. */
  end(): void {
    this.endCall();
    for (const [key, { item }] of this.#loaded) if (item.token === null) this.#loaded.delete(key);
    const { queue, state } = this;
    const text = JSON.stringify(state);
    if (text !== this.#before) this.sql.run("UPDATE queues SET state = ? WHERE id = ?", text, queue);
    this.#kept.set(this.#name, { queue, state, text, loaded: this.#loaded } satisfies Kept);
  }
}

/** Reads the state of a queue or throttle, which is created if it is new. */
function read(sql: Statements, kind: string, name: string): Kept {
  const row = sql.get<{ id: number; state: string }>(
    "SELECT id, state FROM queues WHERE kind = ? AND name = ?",
    kind,
    name,
  );
  const queue = row?.id ??
    Number(sql.run("INSERT INTO queues (kind, name, state) VALUES (?, ?, '')", kind, name).lastInsertRowid);
  return {
    queue,
    state: row === undefined ? newState() : JSON.parse(row.state),
    text: row?.state ?? "",
    loaded: new Map(),
  };
}
