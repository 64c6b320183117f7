/**
 * Owners of leases. A lease covers all keys of its owner.
 *
 * @module
 */

import { processOf } from "@workqueue/engine";
import type { Transaction } from "./transaction.ts";

/** Row of the table `owners`. */
interface Row {
  readonly id: number;
  readonly name: string;
  readonly ends: number | null;
  readonly has_grace: number;
  readonly tells_adds: number;
}

/** Condition for the rows of the keys of an owner. Its parameters are the id of the queue and the name of the owner. */
export const OF_OWNER = "owner = (SELECT id FROM owners WHERE queue = ? AND name = ?)";

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

  /** Returns the state of the lease of an owner: `"expired"` while its keys are being taken away. */
  leaseOf(name: string): "valid" | "expired" | "none" {
    const row = this.#row(name);
    return row === undefined ? "none" : row.ends === null ? "expired" : "valid";
  }

  #row(name: string): Row | undefined {
    const { sql, queue } = this.#tx;
    return sql.get<Row>("SELECT * FROM owners WHERE queue = ? AND name = ?", queue, name);
  }

  /** Returns the name of an owner. */
  nameOf(id: number): string {
    return this.#tx.sql.get<{ name: string }>("SELECT name FROM owners WHERE id = ?", id)!.name;
  }

  /** Returns the process of an owner, if the owner wants to be told of adds of its keys. */
  toldProcess(id: number): string | undefined {
    const row = this.#tx.sql.get<Row>("SELECT * FROM owners WHERE id = ?", id);
    return row?.tells_adds === 1 ? processOf(row.name) : undefined;
  }

  /** Reports whether an owner has keys. */
  hasKeys(name: string): boolean {
    this.#tx.flush();
    const { sql, queue } = this.#tx;
    return sql.get(`SELECT 1 FROM items WHERE queue = ? AND ${OF_OWNER} LIMIT 1`, queue, queue, name) !== undefined;
  }

  /**
   * Renews the lease of an owner, which may be new. Returns the id of the owner. An owner that renews its lease all the
   * time gets a little more, so that not each of its calls writes.
   *
   * @param tellsAdds Whether the owner wants to be told of adds of its keys.
   */
  renew(name: string, lease: number, tellsAdds: boolean): number {
    const { sql, queue, now } = this.#tx;
    const row = this.#row(name);
    const tells = tellsAdds || row?.tells_adds === 1 ? 1 : 0;
    const left = row === undefined || row.ends === null || row.has_grace === 1 ? 0 : row.ends - now;
    if (left >= lease && row!.tells_adds === tells) return row!.id;
    if (tellsAdds) this.#tx.state.tellsAdds = true;
    const more = lease / 100;
    const ends = Math.floor(now + lease + (left > lease - more ? more : 0));
    const { id } = sql.get<{ id: number }>(
      `INSERT INTO owners (queue, name, ends, has_grace, tells_adds) VALUES (?, ?, ?, 0, ?)
        ON CONFLICT (queue, name) DO UPDATE
          SET ends = excluded.ends, has_grace = 0, tells_adds = excluded.tells_adds RETURNING id`,
      queue,
      name,
      ends,
      tells,
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

  /** Ends the lease of an owner. From now on, its keys are taken away. */
  expire({ id, name }: Owner): void {
    if (!this.hasKeys(name)) return this.forget(name);
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
}

function ownerOf({ id, name, ends, has_grace }: Row): Owner {
  return { id, name, ends: ends!, hasGrace: has_grace === 1 };
}
