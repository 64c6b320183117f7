import type { Connection, Script } from "./connection/connection.ts";
import { createScript } from "./connection/script.ts";
import { type Division, divisionIn, indexOf, indexOfGroup, textOf } from "./division.ts";
import { forgetPartitions, openPartitions } from "./scripts/open_partitions.ts";

/** Scripts, created on first use, because most queues have no partitions. */
let script: Script | undefined;
let forgetScript: Script | undefined;

/**
 * Division of a queue, as the server has it. The server keeps the division from the first use of the queue on, because
 * a key that another process looks for in another partition could be handed out twice.
 */
export class Partitioning {
  readonly #connection: Connection;
  readonly #name: string;
  /** Division that this process wants. If it has no separator, a stored division with any separator is accepted. */
  readonly #own: Division;
  #opening: Promise<void> | undefined = undefined;
  #isOpen = false;
  /** Division on the server, once it is known. Kept even after `forget`, because this process may have leases. */
  #division: Division | undefined = undefined;
  #text = "";

  constructor(connection: Connection, name: string, own: Division) {
    this.#connection = connection;
    this.#name = name;
    this.#own = own;
  }

  /** Whether the division is known. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Division in the form in which the server has it. Must not be read before the division is known. */
  get text(): string {
    return this.#text;
  }

  /** Returns the partition of a key. Must not be called before the division is known. */
  indexOf(key: string): number {
    return indexOf(this.#division!, key);
  }

  /** Returns the partition of a group. */
  indexOfGroup(group: string): number {
    return indexOfGroup(this.#own, group);
  }

  /** Reads the division from the server. Returns `undefined` if the division is known already. */
  open(): Promise<void> | undefined {
    if (this.#isOpen) return undefined;
    return this.#opening ??= this.#open().finally(() => this.#opening = undefined);
  }

  /** Forgets the division, because the server has another. */
  close(): void {
    this.#isOpen = false;
  }

  /** Lets the server forget the division after some milliseconds, unless a process opens the queue before that. */
  async forgetIn(ms: number): Promise<void> {
    forgetScript ??= createScript(forgetPartitions.lua(""));
    const args = forgetPartitions.write({ own: this.#text, expireMs: ms });
    await this.#connection.run(forgetScript, `workqueue:{${this.#name}}:meta`, args, { retry: "always" });
  }

  async #open(): Promise<void> {
    const { count, separator } = this.#own;
    script ??= createScript(openPartitions.lua(""));
    const args = openPartitions.write({ own: textOf(this.#own) });
    const key = `workqueue:{${this.#name}}:meta`;
    const found = openPartitions.read(await this.#connection.run(script, key, args, { retry: "always" }));
    if (found.moving !== undefined) throw this.#refusal("its items are being moved to other partitions");
    if (found.division === undefined) {
      throw this.#refusal("it has no partitions. Leave out the option 'partitions', or call repartition");
    }
    const stored = divisionIn(found.division);
    if (stored.count !== count) {
      throw this.#refusal(`it has ${stored.count} partitions. Use this number, or call repartition`);
    }
    if (separator !== null && separator !== stored.separator) {
      const is = stored.separator === null ? "" : ` that end at ${JSON.stringify(stored.separator)}`;
      const without = stored.separator === null ? "without regard to" : "by";
      const needed = `groups that end at ${JSON.stringify(separator)}`;
      throw this.#refusal(`its items are divided ${without} groups${is}, but the discipline needs ${needed}`);
    }
    this.#division = stored;
    this.#text = found.division;
    this.#isOpen = true;
  }

  #refusal(reason: string): Error {
    return new Error(`Cannot use queue ${JSON.stringify(this.#name)} with ${this.#own.count} partitions: ${reason}`);
  }
}
