import { OPTIONS, setBrand } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { titleOf } from "../base/inspection.ts";
import type { KnownKey, QueueHooks } from "../contracts/queue_hooks.ts";
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
import { requireDuration } from "../base/duration_arguments.ts";
import { noGroups, PAUSE, RESUME } from "./groups.ts";
import { hooksOf, takesOptions } from "./hooks.ts";
import { noKnownKey } from "./known_key.ts";

/**
 * Queue that forwards every call to the queue below it.
 *
 * A layer extends this class and overrides the methods that it changes. This resembles embedding an interface in Go.
 */
export class QueueLayer<T, Q extends WorkQueue<T>> implements WorkQueue<T> {
  protected readonly below: Q;
  /** Hooks of the queue below. */
  protected readonly hooks: QueueHooks<T>;
  /** Whether the queue below uses the same keys. */
  protected readonly sharesKeys: boolean;
  /** Holds the item whose key is currently known, and that key. Shared by all layers that use the same keys;
   * `undefined` if each item is its own key. */
  protected readonly known: KnownKey | undefined;
  readonly name: string;
  keyOf?(item: T): unknown;
  readonly clock?: Clock;

  constructor(below: Q, { name = below.name, keyOf, clock = below.clock }: LayerOptions<T>) {
    this.below = below;
    this.hooks = hooksOf(below);
    this.sharesKeys = keyOf === undefined || keyOf === below.keyOf;
    keyOf ??= below.keyOf?.bind(below);
    if (keyOf !== undefined) this.known = (this.sharesKeys ? this.hooks.known : undefined) ?? noKnownKey();
    this.name = name;
    if (keyOf !== undefined) this.keyOf = keyOf;
    if (clock !== undefined) this.clock = clock;
    if (takesOptions(below)) setBrand(this, OPTIONS, true);
    setTotals(this, () => totalsOf(below));
  }

  get length(): number {
    return this.below.length;
  }

  get processing(): number {
    return this.below.processing;
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

  pauseGroup(group: unknown, duration: Duration): void {
    const ms = requireDuration(PAUSE, "duration", duration);
    if (this.below.pauseGroup === undefined) throw noGroups(PAUSE);
    this.below.pauseGroup(group, ms);
  }

  resumeGroup(group: unknown): void {
    if (this.below.resumeGroup === undefined) throw noGroups(RESUME);
    this.below.resumeGroup(group);
  }

  snapshot(options?: SnapshotOptions): QueueSnapshot<T> {
    return { ...this.below.snapshot(options), name: this.name };
  }

  toString(): string {
    return titleOf("addRateLimited" in this ? "RateLimitingQueue" : "DelayingQueue", this.name);
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return this.below[Symbol.asyncIterator]();
  }

  protected key(item: T): unknown {
    if (this.keyOf === undefined) return item;
    return item === this.known!.item ? this.known!.key : this.keyOf(item);
  }
}

interface LayerOptions<T> {
  name?: string | undefined;
  keyOf?: ((item: T) => unknown) | undefined;
  clock?: Clock | undefined;
}
