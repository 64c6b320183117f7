import { type Wait, WAIT_FOR, type WaitOutcome, type WaitsReply, type WaitsRequest } from "@workqueue/engine";
import { isGone } from "./item.ts";
import type { WaitsState } from "./state.ts";
import type { Transaction } from "./transaction.ts";

/** Maximum number of outcomes that one call returns. */
const MAX_OUTCOMES = 20;
/** Condition for the row of a wait. Its parameters are the id of the queue, the key, the process and the id. */
const OF_WAIT = "queue = ? AND key = ? AND process = ? AND id = ?";

/** Waits of processes for keys, and the outcomes that the processes have not received, in one transaction. */
export class Waits {
  readonly #tx: Transaction;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  get #state(): WaitsState {
    return this.#tx.state.waits ??= { waiting: 0, kept: 0, ends: Infinity };
  }

  /** Notes that a process waits for a key, from now on. */
  add(key: string, process: string, id: number): void {
    const { sql, queue, now } = this.#tx;
    const ends = now + WAIT_FOR * 1000;
    sql.run(
      "INSERT INTO waits (queue, key, since, process, id, ends) VALUES (?, ?, ?, ?, ?, ?)",
      queue,
      key,
      this.#tx.tick(),
      process,
      id,
      ends,
    );
    this.#state.waiting++;
    this.#note(ends);
  }

  /** Called when a key is handed out. Reports whether it is awaited. */
  begin(key: string): boolean {
    if (!this.#tx.state.waits?.waiting) return false;
    const { sql, queue } = this.#tx;
    const first = sql.get<{ since: number }>(
      "SELECT since FROM waits WHERE queue = ? AND key = ? ORDER BY since LIMIT 1",
      queue,
      key,
    );
    if (first !== undefined && first.since < 0) {
      sql.run("UPDATE waits SET since = -since WHERE queue = ? AND key = ? AND since < 0", queue, key);
    }
    return first !== undefined;
  }

  /**
   * Called when a key is added as a retry during a hand-out. The waits that are older than the hand-out go on if the
   * hand-out is only done. Until the next hand-out, their times are negative.
   */
  keep(key: string, token: number): void {
    if (!this.#tx.state.waits?.waiting) return;
    const { sql, queue } = this.#tx;
    sql.run(
      "UPDATE waits SET since = -since WHERE queue = ? AND key = ? AND since BETWEEN 0 AND ?",
      queue,
      key,
      token,
    );
  }

  /**
   * Ends the waits for a key, and tells their processes.
   *
   * @param token The token of the hand-out whose outcome it is. Later waits go on. By default, all waits end.
   * @param keepFor The microseconds for which the outcome is kept.
   * @param from Smallest time of the waits that end. By default, waits that were kept end as well.
   */
  end(
    key: string,
    outcome: string,
    token: number = Number.MAX_SAFE_INTEGER,
    keepFor: number = WAIT_FOR * 1000,
    from: number = -token,
  ): void {
    if (!this.#tx.state.waits?.waiting) return;
    const { sql, queue, now, messages } = this.#tx;
    const ended = sql.all<{ process: string; id: number }>(
      "DELETE FROM waits WHERE queue = ? AND key = ? AND since BETWEEN ? AND ? RETURNING process, id",
      queue,
      key,
      from,
      token,
    );
    if (ended.length === 0) return;
    const state = this.#state;
    state.waiting -= ended.length;
    const ends = now + keepFor;
    const processes = new Map<string, number[]>();
    for (const { process, id } of ended) processes.set(process, [...processes.get(process) ?? [], id]);
    for (const [process, ids] of processes) {
      sql.run(
        "INSERT INTO outcomes (queue, process, ids, outcome, ends) VALUES (?, ?, ?, ?, ?)",
        queue,
        process,
        ids.join(),
        outcome,
        ends,
      );
      state.kept++;
      messages.set(process, 0);
    }
    this.#note(ends);
  }

  /** Answers a request of a process about its waits. */
  answer({ process, received, ended, kept }: WaitsRequest): WaitsReply {
    const { sql, queue } = this.#tx;
    for (const ids of received) {
      this.#state.kept -= changesOf(
        sql.run("DELETE FROM outcomes WHERE queue = ? AND process = ? AND ids = ?", queue, process, ids),
      );
    }
    for (const { key, id } of ended) {
      this.#state.waiting -= changesOf(sql.run(`DELETE FROM waits WHERE ${OF_WAIT}`, queue, key, process, id));
    }
    const lost = kept.filter((wait) => !this.#keep(process, wait)).map(({ id }) => id);
    this.forgetOld();
    const outcomes = sql.all<{ ids: string; outcome: string }>(
      "SELECT ids, outcome FROM outcomes WHERE queue = ? AND process = ? LIMIT ?",
      queue,
      process,
      MAX_OUTCOMES + 1,
    ).map(({ ids, outcome }): WaitOutcome => ({ ids, outcome }));
    return { outcomes: outcomes.slice(0, MAX_OUTCOMES), isMore: outcomes.length > MAX_OUTCOMES, lost };
  }

  /** Keeps a wait. Returns `false` if there is none, or if its key will not be handed out, so that it has ended. */
  #keep(process: string, { key, id }: Wait): boolean {
    const { sql, queue, now } = this.#tx;
    if (isGone(this.#tx.item(key))) {
      this.#state.waiting -= changesOf(sql.run(`DELETE FROM waits WHERE ${OF_WAIT}`, queue, key, process, id));
      return false;
    }
    const ends = now + WAIT_FOR * 1000;
    return changesOf(sql.run(`UPDATE waits SET ends = ? WHERE ${OF_WAIT}`, ends, queue, key, process, id)) > 0;
  }

  /** Forgets waits whose processes are gone, and outcomes that were kept for long enough. */
  forgetOld(): void {
    const { sql, queue, now, state } = this.#tx;
    if (state.waits === undefined) return;
    const { waits } = state;
    if (waits.ends <= now) {
      waits.waiting -= changesOf(sql.run("DELETE FROM waits WHERE queue = ? AND ends <= ?", queue, now));
      waits.kept -= changesOf(sql.run("DELETE FROM outcomes WHERE queue = ? AND ends <= ?", queue, now));
      waits.ends = Infinity;
      for (const table of ["waits", "outcomes"]) {
        const first = sql.get<{ ends: number }>(
          `SELECT ends FROM ${table} WHERE queue = ? ORDER BY ends LIMIT 1`,
          queue,
        );
        if (first !== undefined) this.#note(first.ends);
      }
    }
    if (waits.waiting + waits.kept === 0) delete state.waits;
  }

  /** Notes the end of a row. */
  #note(ends: number): void {
    this.#state.ends = Math.min(this.#state.ends, ends);
  }
}

function changesOf({ changes }: { readonly changes: number | bigint }): number {
  return Number(changes);
}
