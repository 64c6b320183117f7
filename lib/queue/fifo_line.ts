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
  /** Priorities of keys that are ready, or were added again while processing. */
  readonly #priorities = new Priorities();
  /** Priorities with which the processing keys were called. */
  readonly #processingPriorities = new Priorities();
  /**
   * Processing keys and their tickets. Created the first time a snapshot has to find a few processing keys among all
   * keys.
   */
  #processing: ChurnMap<unknown, number> | undefined;
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
    this.#priorities.set(key, priority);
    this.#tickets.set(key, ticket);
    this.#push(key);
    return this.#drawn = ticket;
  }

  rejoin(key: unknown): number {
    this.#release(key);
    this.#tickets.set(key, ++this.#drawn);
    this.#push(key);
    return this.#drawn;
  }

  next(): unknown {
    const key = this.#shift();
    this.called++;
    this.priority = this.#priorities.take(key);
    this.#processingPriorities.set(key, this.priority);
    this.#processing?.set(key, this.called);
    return key;
  }

  addAgain(key: unknown, ticket: number, priority: number): void {
    if (ticket < 0) return this.#priorities.raise(key, priority);
    this.#priorities.set(key, priority); // set before the ticket, because this call may throw
    this.#tickets.set(key, -ticket);
  }

  touch(key: unknown, _item: unknown, priority: number): void {
    this.#priorities.raise(key, priority);
  }

  leave(key: unknown): void {
    this.#release(key);
    this.#tickets.remove(key);
  }

  listReady(limit: number): ListedKey[] {
    let [block, place] = [this.#first, this.#place];
    return Array.from({ length: Math.min(limit, this.length) }, () => {
      if (place === BLOCK) [block, place] = [block.next!, 0];
      const key = block.keys[place++];
      return { key, priority: this.#priorities.get(key) };
    });
  }

  listProcessing(limit: number): ListedKey[] {
    const processing: ListedKey[] = [];
    const count = Math.min(limit, this.processing);
    if (count > 0 && this.processing <= FEW) this.#processing ??= this.#findProcessing();
    for (const [key, ticket] of (this.#processing ?? this.#tickets).entries()) {
      if (processing.length === count) break;
      if (ticket <= this.called) processing.push({ key, priority: this.#processingPriorities.get(key) });
    }
    return processing;
  }

  #findProcessing(): ChurnMap<unknown, number> {
    const processing = new ChurnMap<unknown, number>();
    for (const [key, ticket] of this.#tickets.entries()) {
      if (ticket <= this.called) processing.set(key, ticket);
      if (processing.size === this.processing) break;
    }
    return processing;
  }

  /** Removes the data that is kept while a key is processing. */
  #release(key: unknown): void {
    this.#processingPriorities.set(key, 0);
    this.#processing?.remove(key);
  }

  #push(key: unknown): void {
    if (this.#end === BLOCK) {
      this.#last = this.#last.next = newBlock();
      this.#end = 0;
    }
    this.#last.keys[this.#end++] = key;
  }

  #shift(): unknown {
    if (this.#place === BLOCK) {
      this.#first = this.#first.next!;
      this.#place = 0;
    }
    const { keys } = this.#first;
    const key = keys[this.#place];
    keys[this.#place++] = undefined; // lets the key be garbage collected
    return key;
  }
}
