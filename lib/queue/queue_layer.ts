import type { DrainOptions, Lease, Shutdown, WorkQueue } from "../contracts/work_queue.ts";
import { newest, type TellsNewest } from "./newest.ts";

/**
 * A queue that passes everything on to the queue below it.
 *
 * A layer extends it and changes the one thing it adds. Go does the same by embedding an interface.
 */
export class QueueLayer<T, Q extends WorkQueue<T>> implements WorkQueue<T>, TellsNewest<T> {
  protected readonly below: Q;
  readonly name: string;
  keyOf?(item: T): unknown;

  constructor(below: Q, { name = below.name, keyOf = below.keyOf?.bind(below) }: LayerOptions<T>) {
    this.below = below;
    this.name = name;
    if (keyOf !== undefined) this.keyOf = keyOf;
  }

  get length(): number {
    return this.below.length;
  }

  get shuttingDown(): boolean {
    return this.below.shuttingDown;
  }

  add(item: T): void {
    this.below.add(item);
  }

  get(options?: { signal?: AbortSignal | undefined }): Promise<Lease<T> | Shutdown> {
    return this.below.get(options);
  }

  tryGet(): Lease<T> | undefined {
    return this.below.tryGet();
  }

  done(item: T): void {
    this.below.done(item);
  }

  shutDown(): void {
    this.below.shutDown();
  }

  shutDownWithDrain(options?: DrainOptions): Promise<void> {
    return this.below.shutDownWithDrain(options);
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return this.below[Symbol.asyncIterator]();
  }

  [newest](item: T): T | undefined {
    return (this.below as TellsNewest<T>)[newest]?.(item);
  }

  protected key(item: T): unknown {
    return this.keyOf === undefined ? item : this.keyOf(item);
  }
}

interface LayerOptions<T> {
  name?: string;
  keyOf?: ((item: T) => unknown) | undefined;
}
