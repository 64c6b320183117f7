import type { GiveUpReason } from "@workqueue/core";
import type { KeptKey } from "@workqueue/engine";
import type { Item } from "./item.ts";
import { toMicroseconds } from "./time.ts";
import type { Transaction } from "./transaction.ts";

/** Maximum number of given-up keys that a queue keeps by default. */
const KEPT = 10_000;
/** Maximum number of given-up keys that one call drops. */
const BATCH = 200;

/** Maximum number of given-up keys that one call lists or discards. */
const PAGE = 1000;

/** Row of the table `given_up`. */
export interface GivenUpRow {
  readonly key: string;
  readonly at: number;
  readonly payload: string | null;
  readonly error: string;
  readonly reason: GiveUpReason;
  readonly attempts: number;
  readonly first_failed: number;
  readonly grp: string | null;
}

/** Given-up keys of one queue, in one transaction. */
export class GivenUpKeys {
  readonly #tx: Transaction;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  add(
    item: Item,
    error: string,
    reason: GiveUpReason,
    attempts: number,
    firstFailed: number | undefined,
    group?: string,
  ): void {
    const { sql, queue, state } = this.#tx;
    const at = this.#tx.tick();
    sql.run(
      `INSERT INTO given_up (queue, at, key, payload, error, reason, attempts, first_failed, grp, stalls)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      queue,
      at,
      item.key,
      item.payload,
      error,
      reason,
      attempts,
      firstFailed ?? at,
      group ?? null,
      item.stalls,
    );
    state.kept++;
    this.dropOld();
  }

  /** Adds a key that was given up in another queue. */
  restore({ key, payload, error, reason, attempts, firstFailedAgoMs, givenUpAgoMs, group }: KeptKey): void {
    const { sql, queue, state, now } = this.#tx;
    let at = now - toMicroseconds(givenUpAgoMs);
    // No two keys have the same time.
    while (sql.get("SELECT 1 FROM given_up WHERE queue = ? AND at = ?", queue, at) !== undefined) at--;
    sql.run(
      `INSERT INTO given_up (queue, at, key, payload, error, reason, attempts, first_failed, grp, stalls)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
      queue,
      at,
      key,
      payload ?? null,
      error,
      reason,
      attempts,
      Math.min(now - toMicroseconds(firstFailedAgoMs), at),
      group ?? null,
    );
    state.kept++;
  }

  /** Forgets that a key was given up. A key that had stalled is a suspect from now on. */
  revive(item: Item): void {
    const { sql, queue, state } = this.#tx;
    if (state.kept === 0) return;
    const row = sql.get<{ stalls: number }>(
      "DELETE FROM given_up WHERE queue = ? AND key = ? RETURNING stalls",
      queue,
      item.key,
    );
    if (row === undefined) return;
    state.kept--;
    item.stalls = row.stalls === 0 ? 0 : 2;
  }

  /** Returns keys that were given up before a time, the newest first, up to `PAGE`, and whether there are more. */
  page(before: number): { rows: GivenUpRow[]; isMore: boolean } {
    const { sql, queue } = this.#tx;
    const rows = sql.all<GivenUpRow>(
      `SELECT * FROM given_up WHERE queue = ? AND at < ? ORDER BY at DESC LIMIT ${PAGE + 1}`,
      queue,
      before,
    );
    return { rows: rows.slice(0, PAGE), isMore: rows.length > PAGE };
  }

  /** Returns a key that was given up; `undefined` if it was not. */
  find(key: string): GivenUpRow | undefined {
    const { sql, queue } = this.#tx;
    return sql.get<GivenUpRow>("SELECT * FROM given_up WHERE queue = ? AND key = ?", queue, key);
  }

  /** Forgets keys. */
  discard(rows: readonly GivenUpRow[]): void {
    const { sql, queue, state } = this.#tx;
    for (const { at } of rows) sql.run("DELETE FROM given_up WHERE queue = ? AND at = ?", queue, at);
    state.kept -= rows.length;
  }

  /** Drops keys over the limits, the oldest first. Returns whether there may be more of them. */
  dropOld(): boolean {
    const { sql, queue, state, now } = this.#tx;
    const { max = KEPT, maxAge = Infinity } = state.retention ?? {};
    const oldest = "(SELECT at FROM given_up WHERE queue = ? AND at < ? ORDER BY at LIMIT ?)";
    const drop = (until: number, count: number) =>
      Number(sql.run(`DELETE FROM given_up WHERE queue = ? AND at IN ${oldest}`, queue, queue, until, count).changes);
    const excess = Math.min(state.kept - max, BATCH);
    let dropped = excess > 0 ? drop(Number.MAX_SAFE_INTEGER, excess) : 0;
    if (dropped === 0 && maxAge < Infinity && state.kept > 0) dropped = drop(now - maxAge, BATCH);
    state.kept -= dropped;
    state.dropped += dropped;
    return dropped === BATCH;
  }
}
