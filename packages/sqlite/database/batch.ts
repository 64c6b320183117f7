import type { Statements } from "./statements.ts";

/** Part of the database that the tasks of a transaction share. */
export interface Shared {
  /** Time of the part, and the messages to send once the transaction has ended. */
  readonly tx: { readonly now: number; readonly messages: ReadonlyMap<string, number> };
  /** Writes the changes of the tasks. Called at the end of the transaction. */
  end(): void;
}

/** Transaction, with what its tasks share, by name. */
export interface Batch {
  readonly sql: Statements;
  readonly shared: Map<string, Shared>;
  /**
   * Contents that earlier transactions of this connection have left in memory, by name. They are the same as in the
   * file.
   */
  readonly kept: Map<string, unknown>;
}
