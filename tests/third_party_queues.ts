/** Queue as a third party might write it: simple, slow, and very different from the built-in ones. */

import type { DrainOptions, Lease, QueueSnapshot, Shutdown, WorkQueue } from "@workqueue/core";
import { nextTurn } from "./queue_helpers.ts";

/** Queue of layer 1 that is built on arrays, and that polls instead of keeping a list of waiters. */
export class ArrayQueue<T> implements WorkQueue<T> {
  readonly name = "foreign";
  readonly ready: T[] = [];
  readonly inProcess: T[] = [];
  readonly again: T[] = [];
  shuttingDown = false;

  get length(): number {
    return this.ready.length;
  }

  get processing(): number {
    return this.inProcess.length;
  }

  add(item: T): void {
    if (this.shuttingDown || this.ready.includes(item)) return;
    if (!this.inProcess.includes(item)) this.ready.push(item);
    else if (!this.again.includes(item)) this.again.push(item);
  }

  pauseGroup(): void {
    throw new Error("no groups");
  }

  resumeGroup(): void {
    throw new Error("no groups");
  }

  tryGet(): Lease<T> | undefined {
    if (this.ready.length === 0) return undefined;
    const item = this.ready.shift() as T;
    this.inProcess.push(item);
    let processing = true;
    return {
      item,
      shutdown: false,
      priority: 0,
      addedAgain: () => processing && this.again.includes(item),
      [Symbol.dispose]: () => {
        if (processing) this.done(item);
        processing = false;
      },
    };
  }

  async get({ signal }: { signal?: AbortSignal } = {}): Promise<Lease<T> | Shutdown> {
    while (true) {
      signal?.throwIfAborted();
      const lease = this.tryGet();
      if (lease !== undefined) return lease;
      if (this.shuttingDown) return { item: undefined, shutdown: true, [Symbol.dispose]() {} };
      await nextTurn();
    }
  }

  done(item: T): void {
    if (!remove(this.inProcess, item)) return;
    if (remove(this.again, item)) this.ready.push(item);
  }

  shutDown(): void {
    this.shuttingDown = true;
  }

  async shutDownWithDrain(_options?: DrainOptions): Promise<void> {
    this.shutDown();
    while (this.ready.length + this.inProcess.length > 0) await nextTurn();
  }

  async whenIdle({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    while (this.ready.length + this.inProcess.length > 0) {
      signal?.throwIfAborted();
      await nextTurn();
    }
  }

  async whenBelow(count: number, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    while (this.ready.length >= count && !this.shuttingDown) {
      signal?.throwIfAborted();
      await nextTurn();
    }
  }

  snapshot({ limit = 100 }: { limit?: number | undefined } = {}): QueueSnapshot<T> {
    const list = (items: T[]) => items.slice(0, limit).map((item) => ({ item, priority: 0 }));
    return {
      name: this.name,
      ready: this.length,
      blocked: 0,
      delayed: 0,
      processing: this.processing,
      readyItems: list(this.ready),
      delayedItems: [],
      processingItems: list(this.inProcess).map((each) => ({ ...each, addedAgain: this.again.includes(each.item) })),
    };
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    while (true) {
      const lease = await this.get();
      if (lease.shutdown) return;
      try {
        yield lease.item;
      } finally {
        lease[Symbol.dispose]();
      }
    }
  }
}

function remove<T>(items: T[], item: T): boolean {
  const index = items.indexOf(item);
  if (index !== -1) items.splice(index, 1);
  return index !== -1;
}
