import {
  type AddOptions,
  createPriorityDiscipline,
  type Lease,
  type RateLimitingQueueOptions,
  type Shutdown,
} from "@workqueue/core";
import { buildLimiter, LONGEST_DELAY } from "./limiter_families.ts";
import { DRAINED, DRAINING, Listener, OPEN, RateLimitingReplay, settle, SHUT_DOWN } from "./queue_replay.ts";
import { Metrics } from "./recorded_metrics.ts";
import { StepClock } from "./step_clock.ts";
import { StrictOrder } from "./strict_order.ts";
import type { Trace } from "./trace.ts";

/**
 * Replay of controller-runtime's priority queue, which has strict priorities and one record per item. The traces
 * contain a priority each time an item is added or handed out.
 */
class PriorityReplay extends RateLimitingReplay {
  /** Results of calls to `get` that had to wait, in order. Results that have been compared are removed. */
  readonly #served: (Lease<number> | Shutdown)[] = [];

  constructor(trace: Trace, options: RateLimitingQueueOptions<number> = {}) {
    const clock = new StepClock();
    super(trace, new Listener(buildLimiter(trace.limiter(), clock)), clock, {
      discipline: createPriorityDiscipline({ maxHeadStart: Infinity }),
      addWhileDelayed: "replace",
      ...options,
    });
  }

  override perform(operation: string): void | Promise<void> {
    switch (operation) {
      case "add":
        return this.add(this.trace.next(), this.trace.next());
      case "addAfter":
        return this.addAfter(this.trace.next(), this.trace.next(), this.trace.next());
      case "addRateLimited":
        return this.addRateLimited(this.trace.next(), this.trace.next());
      case "getLater":
        this.queue.get().then((given) => this.#served.push(given));
        return;
      case "served":
        return this.compareServed();
      default:
        return super.perform(operation);
    }
  }

  add(item: number, priority: number): void {
    this.queue.add(item, this.#options(priority));
    this.added(item, priority, 0);
  }

  addAfter(item: number, delay: number, priority: number): void {
    this.queue.addAfter(item, delay / 1e6, this.#options(priority));
    this.added(item, priority, delay);
  }

  addRateLimited(item: number, priority: number): void {
    this.queue.addRateLimited(item, this.#options(priority));
    this.added(item, priority, this.trace.delay(this.limiter.delay, LONGEST_DELAY));
  }

  /**
   * Returns the options for adding an item. In every second trace, priority 0 is omitted, because it is the default.
   */
  #options(priority: number): AddOptions | undefined {
    return priority === 0 && this.usesLeases ? undefined : { priority };
  }

  /** Called each time an item has been added, with the delay in nanoseconds. */
  added(_item: number, _priority: number, _delay: number): void {}

  async compareServed(): Promise<void> {
    await settle();
    const given = this.#served.shift();
    if (given === undefined) this.trace.fail("item of a get that waits", "none", this.trace.next());
    this.handedOut(given);
  }

  override handedOut(given: Lease<number> | Shutdown): void {
    super.handedOut(given);
    this.trace.same("priority", given.shutdown ? 0 : given.priority);
  }
}

/** Replays operations on which both queues agree. */
export function replayPriority(trace: Trace): Promise<void> {
  return new PriorityReplay(trace).run();
}

class MeasuredReplay extends PriorityReplay {
  constructor(trace: Trace, readonly metrics: Metrics) {
    super(trace, { name: "measured", metrics });
  }

  override compareState(): void {
    super.compareState();
    this.metrics.compare(this.trace);
  }
}

/** Replays a trace with client-go's seven metrics. */
export function replayPriorityMetrics(trace: Trace): Promise<void> {
  return new MeasuredReplay(trace, new Metrics()).run();
}

/** Replay of families in which the two queues behave differently. Tracks the expected order of items in each queue. */
class FollowedReplay extends PriorityReplay {
  readonly ours = new StrictOrder("ours");
  readonly theirs = new StrictOrder("theirs");

  override perform(operation: string): void | Promise<void> {
    return operation === "wait" ? this.wait(this.trace.next()) : super.perform(operation);
  }

  wait(duration: number): void {
    this.clock.step(duration);
    if (this.queue.shuttingDown) return;
    this.ours.pass(duration);
    this.theirs.pass(duration);
  }

  override added(item: number, priority: number, delay: number): void {
    if (this.queue.shuttingDown) return;
    this.ours.add(item, priority, delay);
    this.theirs.add(item, priority, delay);
  }

  override handedOut(given: Lease<number> | Shutdown): void {
    super.handedOut(given);
    this.trace.equal("promised item", this.ours.take()?.item, given.item ?? -1);
    this.trace.equal("item of controller-runtime", this.theirs.take()?.item, given.item ?? -1);
  }

  override done(item: number): void {
    super.done(item);
    this.ours.done(item);
    this.theirs.done(item);
  }

  override compareState(): void {
    this.trace.equal("length", this.queue.length, this.ours.length);
    this.trace.same("length of controller-runtime", this.theirs.length);
    this.compareStatus();
  }

  compareStatus(): void {
    this.trace.same("status", this.status());
  }
}

/**
 * Replay of traces in which the two queues hand out items in different orders. `takeAll` takes all ready items and
 * finishes them, so that both queues are in the same state again.
 */
class OrderReplay extends FollowedReplay {
  constructor(trace: Trace, readonly exception: string) {
    super(trace);
  }

  override perform(operation: string): void | Promise<void> {
    return operation === "takeAll" ? this.#takeAll() : super.perform(operation);
  }

  #takeAll(): void {
    let isAlike = true;
    for (let left = this.trace.next(); left > 0; left--) {
      const lease = this.queue.tryGet();
      const ours = this.ours.take();
      const theirs = this.theirs.take();
      this.trace.equal("item", lease?.item, ours!.item);
      this.trace.equal("priority", lease?.priority, ours!.priority);
      this.trace.same("item of controller-runtime", theirs!.item);
      this.trace.same("priority of controller-runtime", theirs!.priority);
      isAlike &&= ours!.item === theirs!.item;
      lease?.[Symbol.dispose]();
      this.ours.done(ours!.item);
      this.theirs.done(theirs!.item);
    }
    if (!isAlike) this.trace.except(this.exception);
  }
}

/**
 * Replays items that are added again while processing. In controller-runtime, the item is ready immediately and takes
 * its place at that time. In this package, the item becomes ready when it is done, behind the other ready items.
 */
export function replayPriorityReadds(trace: Trace): Promise<void> {
  return new OrderReplay(trace, "readd-keeps-its-place").run();
}

/**
 * Replays promotions. If an item is added again, without a delay, while it is delayed, controller-runtime puts it
 * before items of its priority that became ready during the delay. In this package, the item is placed behind these
 * items. If the priority of a delayed item is raised, and the item becomes due at the same time as items of its new
 * priority, controller-runtime puts it last. In this package, items that become due at the same time are ordered by the
 * start of their delays.
 */
export function replayPriorityPromotions(trace: Trace): Promise<void> {
  return new OrderReplay(trace, "promotion-keeps-its-place").run();
}

/**
 * Replay of a shutdown or drain while items are ready. controller-runtime hands out none of these items, doesn't wait
 * for them, and panics at a second shutdown.
 */
class ShutdownReplay extends FollowedReplay {
  #isShutDown = false;

  override perform(operation: string): void | Promise<void> {
    switch (operation) {
      case "shutDown":
        this.#isShutDown = true;
        return super.perform(operation);
      case "shutDownAgain":
        this.#isShutDown = true;
        this.queue.shutDown();
        this.trace.equal("panic of controller-runtime", this.trace.next(), 1);
        return this.trace.except("second-shutdown-panics");
      default:
        return super.perform(operation);
    }
  }

  /** Items that this queue hands out after the shutdown are finished immediately. */
  override handedOut(given: Lease<number> | Shutdown): void {
    if (!this.queue.shuttingDown) return super.handedOut(given);
    const promised = this.ours.take();
    this.trace.equal("item", given.item ?? -1, promised?.item ?? -1);
    if (!given.shutdown) {
      this.trace.equal("priority", given.priority, promised!.priority);
      this.queue.done(given.item);
      this.trace.except("ready-items-dropped");
    }
    this.trace.equal("item of controller-runtime", this.trace.next(), -1);
    this.trace.equal("priority of controller-runtime", this.trace.next(), 0);
  }

  override compareStatus(): void {
    const drains = this.drained !== undefined;
    const isAtRest = this.queue.length === 0 && this.processing.size === 0;
    const status = drains ? (this.#isShutDown || isAtRest ? DRAINED : DRAINING) : this.#isShutDown ? SHUT_DOWN : OPEN;
    this.trace.equal("status", this.status(), status);
    this.trace.same("status of controller-runtime", drains ? DRAINED : status);
    if (status === DRAINING) this.trace.except("drain-waits-for-nothing");
  }
}

/** Replays shutdowns and drains. */
export function replayPriorityShutdown(trace: Trace): Promise<void> {
  return new ShutdownReplay(trace).run();
}

/** Number of priorities that have a gauge of their own in controller-runtime. */
const MOST_GAUGES = 25;

/** All priorities that occur in the traces, by name. */
const LEVELS = Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`${i - 100}`, i - 100]));

/** Metrics that include depths by priority. */
class LevelMetrics extends Metrics {
  /** Nonzero depths by priority. */
  readonly depths = new Map<number, number>();

  priorityDepth = (_queue: string, level: string) => ({
    inc: () => this.#add(LEVELS[level]!, 1),
    dec: () => this.#add(LEVELS[level]!, -1),
  });

  #add(priority: number, change: number): void {
    const depth = (this.depths.get(priority) ?? 0) + change;
    if (depth === 0) this.depths.delete(priority);
    else this.depths.set(priority, depth);
  }
}

/**
 * Replay of traces with depths by priority. Once controller-runtime has seen 26 priorities, it records all further
 * changes, for any priority, in a common gauge. Items that were ready at that moment remain counted in their own gauges
 * forever, and the common gauge falls below zero. In this package, every named priority has a gauge. If the priority of
 * a ready item is raised, controller-runtime moves the item to another gauge. In this package, the item stays in the
 * gauge of the priority with which it became ready.
 */
class GaugesReplay extends FollowedReplay {
  readonly #priorities = new Set<number>();

  constructor(trace: Trace, readonly metrics: LevelMetrics) {
    super(trace, { name: "gauged", metrics, priorityLevels: LEVELS });
  }

  override perform(operation: string): void | Promise<void> {
    return operation === "depths" ? this.#compareDepths() : super.perform(operation);
  }

  override added(item: number, priority: number, delay: number): void {
    super.added(item, priority, delay);
    this.#priorities.add(priority);
  }

  #compareDepths(): void {
    const common = this.trace.next();
    const recorded = new Map(
      Array.from({ length: this.trace.next() }, () => [this.trace.next(), this.trace.next()] as const),
    );
    this.trace.equal("depth", this.metrics.values.depth, this.queue.length);
    if (!isSame(this.metrics.depths, this.ours.depths())) {
      this.trace.fail("depths", [...this.metrics.depths], [...this.ours.depths()]);
    }
    const sum = [...recorded.values()].reduce((sum, depth) => sum + depth, common);
    this.trace.equal("sum of the gauges of controller-runtime", sum, this.queue.length);
    if (isSame(recorded, this.theirs.depths())) return;
    if (this.#priorities.size <= MOST_GAUGES) {
      this.trace.fail("gauges of controller-runtime", [...recorded], [...this.theirs.depths()]);
    }
    this.trace.except("gauges-past-25-priorities");
  }
}

function isSame(depths: ReadonlyMap<number, number>, others: ReadonlyMap<number, number>): boolean {
  return depths.size === others.size && [...depths].every(([priority, depth]) => others.get(priority) === depth);
}

/** Replays a trace with depths by priority. */
export function replayPriorityGauges(trace: Trace): Promise<void> {
  return new GaugesReplay(trace, new LevelMetrics()).run();
}
