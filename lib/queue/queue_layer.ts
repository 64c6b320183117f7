import type { Clock } from "../base/clock.ts";
import type { QueueHooks } from "../contracts/queue_hooks.ts";
import type {
  AddOptions,
  DrainOptions,
  Lease,
  QueueSnapshot,
  Shutdown,
  SnapshotOptions,
  WorkQueue,
} from "../contracts/work_queue.ts";
import { setTotals, totalsOf } from "../metrics/totals.ts";
import { markTakesOptions, takesOptions } from "./add_options.ts";
import { hooksOf } from "./hooks.ts";

/**
 * A queue that passes everything on to the queue below it.
 *
 * A layer extends it and changes the one thing it adds. Go does the same by embedding an interface.
 */
export class QueueLayer<T, Q extends WorkQueue<T>> implements WorkQueue<T> {
  protected readonly below: Q;
  /** What the queue below can be asked beside its interface. */
  protected readonly hooks: QueueHooks<T>;
  readonly name: string;
  keyOf?(item: T): unknown;
  readonly clock?: Clock;

  constructor(below: Q, { name = below.name, keyOf = below.keyOf?.bind(below), clock = below.clock }: LayerOptions<T>) {
    this.below = below;
    this.hooks = hooksOf(below);
    this.name = name;
    if (keyOf !== undefined) this.keyOf = keyOf;
    if (clock !== undefined) this.clock = clock;
    if (takesOptions(below)) markTakesOptions(this);
    setTotals(this, () => totalsOf(below));
  }

  get length(): number {
    return this.below.length;
  }

  get held(): number {
    return this.below.held;
  }

  get shuttingDown(): boolean {
    return this.below.shuttingDown;
  }

  add(item: T, options?: AddOptions): void {
    this.below.add(item, options);
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

  whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void> {
    return this.below.whenIdle(options);
  }

  whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    return this.below.whenBelow(count, options);
  }

  snapshot(options?: SnapshotOptions): QueueSnapshot<T> {
    return { ...this.below.snapshot(options), name: this.name };
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return this.below[Symbol.asyncIterator]();
  }

  protected key(item: T): unknown {
    return this.keyOf === undefined ? item : this.keyOf(item);
  }
}

interface LayerOptions<T> {
  name?: string | undefined;
  keyOf?: ((item: T) => unknown) | undefined;
  clock?: Clock | undefined;
}
