/**
 * Owners of leases. A lease covers all keys of its owner.
 *
 * @module
 */

import type { Transaction } from "./transaction.ts";

/** Row of the table `owners`. */
interface Row {
  readonly id: number;
  readonly name: string;
  readonly ends: number | null;
  readonly has_grace: number;
}

/** Owner whose lease is in force, although its end may have passed. */
export interface Owner {
  readonly id: number;
  readonly name: string;
  readonly ends: number;
  readonly hasGrace: boolean;
}

/** Owners of one queue, in one transaction. */
export class Owners {
  readonly #tx: Transaction;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  /** Returns an owner whose lease is in force; `undefined` if there is none. */
  find(name: string): Owner | undefined {
    const row = this.#row(name);
    return row === undefined || row.ends === null ? undefined : ownerOf(row);
  }

  /** Reports whether the keys of an owner are being taken away. */
  isExpired(name: string): boolean {
    return this.#row(name)?.ends === null;
  }

  /** Renews the lease of an owner, which may be new. Returns the id of the owner. */
  renew(name: string, lease: number): number {
    const { sql, queue, now } = this.#tx;
    const ends = now + lease;
    const { id } = sql.get<{ id: number }>(
      `INSERT INTO owners (queue, name, ends, has_grace) VALUES (?, ?, ?, 0)
        ON CONFLICT (queue, name) DO UPDATE SET ends = excluded.ends, has_grace = 0 RETURNING id`,
      queue,
      name,
      ends,
    )!;
    return id;
  }

  /** Forgets an owner without keys. */
  forget(name: string): void {
    this.#tx.sql.run("DELETE FROM owners WHERE queue = ? AND name = ?", this.#tx.queue, name);
  }

  /** Returns the owners whose leases end first. */
  first(count: number): Owner[] {
    const { sql, queue } = this.#tx;
    return sql.all<Row>(
      "SELECT * FROM owners WHERE queue = ? AND ends IS NOT NULL ORDER BY ends LIMIT ?",
      queue,
      count,
    ).map(ownerOf);
  }

  /** Extends the lease of an owner by the grace of a gap. */
  extend({ id }: Owner, ends: number): void {
    this.#tx.sql.run("UPDATE owners SET ends = ?, has_grace = 1 WHERE id = ?", ends, id);
  }

  /** Ends the lease of an owner, whose keys are taken away from now on. */
  expire({ id, name }: Owner): void {
    this.#tx.flush();
    if (this.#tx.sql.get("SELECT 1 FROM items WHERE owner = ? LIMIT 1", id) === undefined) return this.forget(name);
    this.#tx.sql.run("UPDATE owners SET ends = NULL, expired = ? WHERE id = ?", this.#tx.now, id);
  }

  /** Returns the id of the owner whose keys have been taken away for the longest time; `undefined` if there is none. */
  firstExpired(): number | undefined {
    const { sql, queue } = this.#tx;
    return sql.get<{ id: number }>(
      "SELECT id FROM owners WHERE queue = ? AND ends IS NULL ORDER BY expired LIMIT 1",
      queue,
    )?.id;
  }

  /** Forgets an owner whose keys have been taken away. */
  forgetExpired(id: number): void {
    this.#tx.sql.run("DELETE FROM owners WHERE id = ?", id);
  }

  #row(name: string): Row | undefined {
    const { sql, queue } = this.#tx;
    return sql.get<Row>("SELECT * FROM owners WHERE queue = ? AND name = ?", queue, name);
  }
}

function ownerOf({ id, name, ends, has_grace }: Row): Owner {
  return { id, name, ends: ends!, hasGrace: has_grace === 1 };
}
