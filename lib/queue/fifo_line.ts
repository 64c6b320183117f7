import { ChurnMap } from "../base/churn_map.ts";
import { Priorities } from "../structures/priorities.ts";
import type { Line, ListedKey } from "./line.ts";

/**
 * Largest number of processing keys for which a separate map is created. If more keys are processing, a scan of all
 * keys quickly finds some of them.
 */
const FEW = 10_000;

/** Number of ready keys in a block. A single large array would be copied as it grows. */
const BLOCK = 256;

/** Block in the linked list of ready keys. */
interface Block {
  readonly keys: unknown[];
  next: Block | undefined;
}

function newBlock(): Block {
  return { keys: new Array(BLOCK), next: undefined };
}

/** Data about the keys of a line that most programs never need. */
class Details {
  /** Priorities of keys that are ready, or were added again while processing. */
  readonly priorities = new Priorities();
  /** Priorities with which the processing keys were called. */
  readonly processingPriorities = new Priorities();
  /**
   * Processing keys and their tickets. Created the first time a snapshot has to find a few processing keys among all
   * keys.
   */
  processing: ChurnMap<unknown, number> | undefined;

  /** Records that a key was called, and returns its priority. */
  call(key: unknown, ticket: number): number {
    const priority = this.priorities.take(key);
    this.processingPriorities.set(key, priority);
    this.processing?.set(key, ticket);
    return priority;
  }

  /** Removes the data that is kept while a key is processing. */
  leave(key: unknown): void {
    this.processingPriorities.set(key, 0);
    this.processing?.remove(key);
  }
}

/**
 * First-in, first-out line: tickets are called in numerical order. Priorities are stored, but do not affect the order.
 *
 * Ready keys are stored in a linked list of blocks.
 */
export class FifoLine implements Line<unknown> {
  readonly blocked = 0;
  readonly latest = -Infinity;
  batches = 0;
  readyAt: number | undefined;
  called = 0;
  priority = 0;
  /** Last ticket drawn. */
  #drawn = 0;
  readonly #tickets = new ChurnMap<unknown, number>();
  /** Created when a key first has a priority, or a snapshot first lists processing keys. */
  #details: Details | undefined;
  /** Block of the next key to call, and the key's index in the block. */
  #first = newBlock();
  #place = 0;
  /** Block for the next key that becomes ready, and the key's index in the block. */
  #last = this.#first;
  #end = 0;

  get length(): number {
    return this.#drawn - this.called;
  }

  get processing(): number {
    return this.size - this.length;
  }

  get size(): number {
    return this.#tickets.size;
  }

  get drawn(): number {
    return this.called;
  }

  ticketOf(key: unknown): number | undefined {
    return this.#tickets.get(key);
  }

  join(key: unknown, _item: unknown, priority: number): number {
    const ticket = this.#drawn + 1;
    if (priority !== 0 || this.#details !== undefined) this.#detailsFor(priority)!.priorities.set(key, priority);
    this.#tickets.set(key, ticket);
    this.#push(key);
    return this.#drawn = ticket;
  }

  rejoin(key: unknown): number {
    this.#details?.leave(key);
    this.#tickets.set(key, ++this.#drawn);
    this.#push(key);
    return this.#drawn;
  }

  next(): unknown {
    if (this.#place === BLOCK) this.#dropBlock();
    const { keys } = this.#first;
    const key = keys[this.#place];
    keys[this.#place++] = undefined; // lets the key be garbage collected
    this.called++;
    if (this.#details !== undefined) this.priority = this.#details.call(key, this.called);
    return key;
  }

  addAgain(key: unknown, ticket: number, priority: number): void {
    if (ticket < 0) return this.touch(key, undefined, priority);
    this.#detailsFor(priority)?.priorities.set(key, priority); // set before the ticket, because this call may throw
    this.#tickets.set(key, -ticket);
  }

  unmark(key: unknown): number {
    this.#tickets.set(key, -this.#tickets.get(key)!);
    return this.#details?.priorities.take(key) ?? 0;
  }

  touch(key: unknown, _item: unknown, priority: number): void {
    this.#detailsFor(priority)?.priorities.raise(key, priority);
  }

  leave(key: unknown): void {
    this.#details?.leave(key);
    this.#tickets.remove(key);
  }

  listReady(limit: number): ListedKey[] {
    let [block, place] = [this.#first, this.#place];
    return Array.from({ length: Math.min(limit, this.length) }, () => {
      if (place === BLOCK) [block, place] = [block.next!, 0];
      const key = block.keys[place++];
      return { key, priority: this.#details?.priorities.get(key) ?? 0 };
    });
  }

  listProcessing(limit: number): ListedKey[] {
    const listed: ListedKey[] = [];
    const count = Math.min(limit, this.processing);
    if (count === 0) return listed;
    const details = this.#details ??= new Details();
    if (this.processing <= FEW) details.processing ??= this.#findProcessing();
    for (const [key, ticket] of (details.processing ?? this.#tickets).entries()) {
      if (ticket <= this.called) listed.push({ key, priority: details.processingPriorities.get(key) });
      if (listed.length === count) break;
    }
    return listed;
  }

  #findProcessing(): ChurnMap<unknown, number> {
    const processing = new ChurnMap<unknown, number>();
    for (const [key, ticket] of this.#tickets.entries()) {
      if (ticket <= this.called) processing.set(key, ticket);
      if (processing.size === this.processing) break;
    }
    return processing;
  }

  #detailsFor(priority: number): Details | undefined {
    return priority === 0 ? this.#details : this.#details ??= new Details();
  }

  #push(key: unknown): void {
    if (this.#end === BLOCK) this.#addBlock();
    this.#last.keys[this.#end++] = key;
  }

  #addBlock(): void {
    this.#last = this.#last.next = newBlock();
    this.#end = 0;
  }

  #dropBlock(): void {
    this.#first = this.#first.next!;
    this.#place = 0;
  }
}
