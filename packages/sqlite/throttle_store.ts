import type { PermitsReply, PermitsRequest, ThrottleStore, TokensReply, TokensRequest } from "@workqueue/engine";
import type { Database } from "./database/database.ts";
import { permits, tokens } from "./store/throttles.ts";
import { Transaction } from "./store/transaction.ts";

/** Calls to the file for throttles that all processes share. */
export class SqliteThrottleStore implements ThrottleStore {
  readonly #database: Database;
  readonly #callTimeout: number;
  readonly #clock: () => number;

  constructor(database: Database, callTimeout: number, clock: () => number) {
    this.#database = database;
    this.#callTimeout = callTimeout;
    this.#clock = clock;
  }

  permits(id: string, request: PermitsRequest): Promise<PermitsReply> {
    return this.#call(id, (tx) => permits(tx, request));
  }

  tokens(id: string, request: TokensRequest): Promise<TokensReply> {
    return this.#call(id, (tx) => tokens(tx, request));
  }

  listen(_id: string, process: string, callback: () => void): Promise<() => void> {
    return Promise.resolve(this.#database.messages.listen(process, callback));
  }

  onReconnect(): () => void {
    return () => {};
  }

  #call<R>(id: string, run: (tx: Transaction) => R): Promise<R> {
    return this.#database.run("normal", this.#callTimeout, ({ sql, shared, kept }) => {
      const name = `throttle ${id}`;
      let found = shared.get(name) as { tx: Transaction; end(): void } | undefined;
      if (found === undefined) {
        const tx = new Transaction(sql, "throttle", id, this.#clock(), kept);
        found = { tx, end: () => tx.end() };
        shared.set(name, found);
      }
      return run(found.tx);
    });
  }
}
