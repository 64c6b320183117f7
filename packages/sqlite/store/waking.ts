/**
 * Messages to processes that want work.
 *
 * @module
 */

import { FAR } from "./time.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Microseconds after which a second process checks for work that the first one should have found, in case the first is
 * gone.
 */
const SECOND_LOOK = 50_000;

/** Time, in microseconds, after which a process that made no call is gone. Idle processes call every five seconds. */
const LONGEST_SILENCE = 6_000_000;

/** Row of the table `idle`. */
interface Idle {
  readonly process: string;
  readonly look: number | null;
}

/** Part of a queue that is needed to wake its processes. */
export interface Awaited {
  readonly tx: Transaction;
  /** Whether there are keys that a process could take. */
  readonly hasWork: boolean;
  /** Returns the next time at which keys may become ready; `undefined` if no such time is known. */
  nextChange(): number | undefined;
}

/** Processes of one queue that want work, in one transaction. */
export class Waking {
  readonly #queue: Awaited;
  /** Whether any process wants work, if that is known. */
  #hasIdle: boolean | undefined = undefined;

  constructor(queue: Awaited) {
    this.#queue = queue;
  }

  /** Whether any process wants work. */
  get hasIdle(): boolean {
    const { sql, queue } = this.#queue.tx;
    return this.#hasIdle ??= sql.get("SELECT 1 FROM idle WHERE queue = ? LIMIT 1", queue) !== undefined;
  }

  /** Records that a process wants work. Returns whether it is one of the two that have wanted work for longest. */
  begin(process: string): boolean {
    const { sql, queue, now } = this.#queue.tx;
    this.#hasIdle = true;
    sql.run(
      `INSERT INTO idle (queue, process, since, seen) VALUES (?, ?, ?, ?)
        ON CONFLICT (queue, process) DO UPDATE SET seen = excluded.seen, look = NULL`,
      queue,
      process,
      now,
      now,
    );
    return this.#longest().some((idle) => idle.process === process);
  }

  /** Records that a process no longer wants work. Returns whether it wanted work before. */
  end(process: string): boolean {
    const { sql, queue } = this.#queue.tx;
    this.#hasIdle = undefined;
    return Number(sql.run("DELETE FROM idle WHERE queue = ? AND process = ?", queue, process).changes) > 0;
  }

  /**
   * Wakes the process that became idle last. It may be gone: a killed process makes no call. So the one that has been
   * idle for longest checks a little later. Returns whether a process was woken.
   */
  wake(): boolean {
    const { sql, queue, now } = this.#queue.tx;
    this.#hasIdle = undefined;
    sql.run("DELETE FROM idle WHERE queue = ? AND seen < ?", queue, now - LONGEST_SILENCE);
    const last = sql.get<{ process: string }>(
      `DELETE FROM idle WHERE queue = ? AND process =
        (SELECT process FROM idle WHERE queue = ? ORDER BY since DESC LIMIT 1) RETURNING process`,
      queue,
      queue,
    );
    if (last === undefined) return false;
    this.#queue.tx.messages.set(last.process, 0);
    const [longest] = this.#longest();
    if (longest !== undefined) this.#look(longest, now + SECOND_LOOK);
    return true;
  }

  /** Wakes a process if there are keys that it could take. */
  wakeForReady(): void {
    if (this.hasIdle && this.#queue.hasWork) this.wake();
  }

  /**
   * Plans the checks for the next time at which keys become ready. The two processes that have been idle for longest
   * check, the second one later, in case the first is gone.
   *
   * @param caller A process that makes the call, and needs no message.
   * @returns The time at which the caller must check, if it is one of the two.
   */
  plan(caller?: string): number | undefined {
    const due = this.#queue.nextChange();
    if (due === undefined) return undefined;
    let own: number | undefined;
    for (const [rank, idle] of this.#longest().entries()) {
      const at = Math.min(Math.ceil(due) + rank * SECOND_LOOK, FAR);
      if (idle.process === caller) own = at;
      this.#look(idle, at, caller);
    }
    return own;
  }

  /** Plans a check by a process. The caller needs no message. */
  #look({ process, look }: Idle, at: number, caller?: string): void {
    const { sql, queue, now, messages } = this.#queue.tx;
    if (process !== caller) {
      if (look !== null && look <= at) return;
      messages.set(process, Math.max(at - now, 1) / 1000);
    }
    sql.run("UPDATE idle SET look = ? WHERE queue = ? AND process = ?", at, queue, process);
  }

  /** Returns the two processes that have been idle for longest. A process that did not look when it had to is gone. */
  #longest(): Idle[] {
    const { sql, queue, now } = this.#queue.tx;
    this.#hasIdle = undefined;
    sql.run("DELETE FROM idle WHERE queue = ? AND look < ?", queue, now - SECOND_LOOK);
    return sql.all<Idle>("SELECT process, look FROM idle WHERE queue = ? ORDER BY since LIMIT 2", queue);
  }
}
